"""Questions to the store: plain functions of a connection, used by every front end and the engine.

They run as they are in a script, or in a connection's thread through `Connection.call`.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.case import Case
from tui_eval.model.endpoint_event import EndpointEvent, EndpointEventKind
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Output, Usage
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store import long_texts
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.lease import Lease
from tui_eval.store.read.bulk_waiting import WAITING
from tui_eval.store.rows import (
    AttemptRow,
    ColumnRow,
    LimitRow,
    RequestRow,
    RunRow,
    ScoreRow,
    TallyRow,
    TrialRow,
)
from tui_eval.store.text import load, pack, unpack, unpack_text

_BOUND = 500  # values of one statement
_RUN = (
    "SELECT id, name, suite, path, label, settings, partial, state, reason, stopped_by, staged, "
    "total, created_at, started_at, ended_at, wall_s, active_since, active_s, change, lease_host, "
    "lease_pid, lease_birth, lease_beat FROM runs "
)
_TRIAL = (
    "SELECT t.id, t.place, t.seq, t.col, t.epoch, c.id, k.name, t.state, t.verdict, t.score, "
    "t.generation_key, t.output, t.cached, t.attempts, t.error_kind, t.error_message, "
    f"{WAITING}, t.waiting_until, t.latency_s, t.input_tokens, t.output_tokens, t.cost_usd, "
    "t.about_usd, t.since, t.change, "
    "(SELECT n.text FROM notes n WHERE n.trial = t.id AND n.current = 1) "
    "FROM trials t JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "JOIN columns k ON k.run = t.run AND k.idx = t.col "
)


def data_version(db: sqlite3.Connection) -> int:
    """Return a number that differs whenever another connection has committed since."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def change(db: sqlite3.Connection) -> int:
    """Return the number of the newest change."""
    return int(db.execute("SELECT value FROM meta WHERE name = 'change'").fetchone()[0])


def runs(db: sqlite3.Connection, *, limit: int = -1) -> list[RunRow]:
    """Return runs, newest first; `limit` -1: all."""
    return [_run(row) for row in db.execute(f"{_RUN}ORDER BY id DESC LIMIT ?", (limit,))]


def full_runs(db: sqlite3.Connection, suite: str, limit: int) -> list[RunRow]:
    """Return the last runs of a suite that came to their end and leave nothing out, newest first.

    One that goes on, or was interrupted, has what ended early, which is no fair sample of all.
    """
    rows = db.execute(
        f"{_RUN}WHERE suite = ? AND staged = 1 AND partial = 0 AND state = 'done' "
        "ORDER BY id DESC LIMIT ?",
        (suite, limit),
    )
    return [_run(row) for row in rows]


def full_run_before(db: sqlite3.Connection, run: RunRow) -> RunRow | None:
    """Return the last run of a run's suite before it that leaves nothing out; None: none is."""
    row = db.execute(
        f"{_RUN}WHERE suite = ? AND id < ? AND staged = 1 AND partial = 0 "
        "AND stopped_by IS NOT 'deletion' ORDER BY id DESC LIMIT 1",
        (run.suite, run.id),
    ).fetchone()
    return None if row is None else _run(row)


def run(db: sqlite3.Connection, run_id: int) -> RunRow:
    """Return one run by its id; raises `UnknownRunError`."""
    row = db.execute(f"{_RUN}WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UnknownRunError(f"run {run_id} is not in this store")
    return _run(row)


def run_named(db: sqlite3.Connection, name: str, *, evaluated: bool = False) -> RunRow:
    """Find a run by its name, its label, an unambiguous prefix of its name, or `last`.

    A label, what `--name` said, counts where one run alone has it.

    Args:
        db: The connection.
        name: What is asked for.
        evaluated: Whether `last` is the last one that evaluates anything, which sweeps do not;
            else the one created last.

    Raises:
        UnknownRunError: none or several answer to it; the message names what there is.
    """
    packed = pack(name)
    if name == "last":
        which = "WHERE json_extract(settings, '$.sweep') IS NULL " if evaluated else ""
        rows = db.execute(f"{_RUN}{which}ORDER BY id DESC LIMIT 1").fetchall()
    else:
        rows = (
            db.execute(f"{_RUN}WHERE name = ?", (packed,)).fetchall()
            or db.execute(
                f"{_RUN}WHERE label = ? AND label <> '' ORDER BY id DESC LIMIT 6", (packed,)
            ).fetchall()
            or db.execute(
                f"{_RUN}WHERE ?1 <> '' AND substr(name, 1, length(?1)) = ?1 "
                "ORDER BY id DESC LIMIT 6",
                (packed,),
            ).fetchall()
        )
    if len(rows) == 1:
        return _run(rows[0])
    if rows:
        raise UnknownRunError(
            f"{name!r} may be any of {', '.join(row[1] for row in rows)}: give more letters of one"
        )
    known = [row[0] for row in db.execute("SELECT name FROM runs ORDER BY id DESC LIMIT 5")]
    there = f"the newest are {', '.join(known)}" if known else "there are no runs in this store yet"
    raise UnknownRunError(f"no run is called {name!r}; {there}")


def spec(db: sqlite3.Connection, run_id: int) -> str:
    """Return a run's frozen suite, JSON; raises `UnknownRunError`."""
    row = db.execute("SELECT spec FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UnknownRunError(f"run {run_id} is not in this store")
    return str(row[0])


def spec_change(db: sqlite3.Connection, run_id: int) -> int:
    """Return the change that brought a run its present scorers; 0: it was launched with them."""
    row = db.execute("SELECT spec_change FROM runs WHERE id = ?", (run_id,)).fetchone()
    return 0 if row is None else int(row[0])


def data_files(db: sqlite3.Connection, run_id: int) -> list[JsonObject] | None:
    """Return what a run's data files were like at launch; None: nobody wrote it down."""
    row = db.execute("SELECT data_files FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None or row[0] is None:
        return None
    kept: list[JsonObject] = json.loads(row[0])
    return kept


def run_table(db: sqlite3.Connection, run_id: int) -> JsonObject:
    """Return the `[run]` table of a run's frozen suite, and read no more of it.

    Raises:
        UnknownRunError: there is no such run.
    """
    return _table(db, run_id, "run")


def gate(db: sqlite3.Connection, run_id: int) -> JsonObject:
    """Return the `[gate]` of a run's frozen suite, and read no more of it; empty: there is none.

    Raises:
        UnknownRunError: there is no such run.
    """
    return _table(db, run_id, "gate")


def cluster_column(db: sqlite3.Connection, run_id: int) -> str | None:
    """Return the column of a run's dataset that says which cases belong together; None: none does.

    Raises:
        UnknownRunError: there is no such run.
    """
    column = _table(db, run_id, "dataset").get("cluster")
    return None if column is None else str(column)


def frozen_scorers(db: sqlite3.Connection, run_id: int) -> str | None:
    """Return the scorers of a run's frozen suite as they stand there (JSON); None: it has none."""
    row = db.execute("SELECT json_extract(spec, '$.scorers') FROM runs WHERE id = ?", (run_id,))
    found: str | None = row.fetchone()[0]
    return found


def _table(db: sqlite3.Connection, run_id: int, name: str) -> JsonObject:
    found = db.execute(
        "SELECT json_extract(spec, '$.' || ?) FROM runs WHERE id = ?", (name, run_id)
    ).fetchone()
    if found is None:
        raise UnknownRunError(f"run {run_id} is not in this store")
    kept: JsonObject = json.loads(found[0]) if found[0] else {}
    return kept


def last_change(db: sqlite3.Connection, run_id: int) -> int:
    """Return the number of the last change of a run or of any of its trials; 0: there is none."""
    row = db.execute(
        "SELECT max(ifnull((SELECT change FROM runs WHERE id = ?1), 0), "
        "ifnull((SELECT max(change) FROM trials WHERE run = ?1), 0))",
        (run_id,),
    ).fetchone()
    return int(row[0])


def columns(db: sqlite3.Connection, run_id: int) -> list[ColumnRow]:
    """Return a run's columns in order."""
    return [
        ColumnRow(*(*row[:7], AnswerSource(row[7]), row[8]))
        for row in db.execute(
            "SELECT idx, name, target, prompt, kind, model, endpoint, source, version "
            "FROM columns WHERE run = ? ORDER BY idx",
            (run_id,),
        )
    ]


def tallies(db: sqlite3.Connection, run_id: int) -> list[TallyRow]:
    """Return how many trials stand where; cheap at any size."""
    return [
        TallyRow(col, TrialState(state), Verdict(verdict) if verdict else None, *rest)
        for col, state, verdict, *rest in db.execute(
            "SELECT col, state, verdict, n, score, input_tokens, output_tokens, cost_usd, "
            "unpriced, attempts, retries, cached, about_usd, unestimated "
            "FROM tallies WHERE run = ? AND n > 0",
            (run_id,),
        )
    ]


def trial(db: sqlite3.Connection, trial_id: int) -> TrialRow | None:
    """Return one trial by its id."""
    row = db.execute(f"{_TRIAL}WHERE t.id = ?", (trial_id,)).fetchone()
    return None if row is None else _trial(row)


def trials_from(db: sqlite3.Connection, run_id: int, place: int, limit: int) -> list[TrialRow]:
    """Return the trials at `place` and after, in dataset order."""
    rows = db.execute(
        f"{_TRIAL}WHERE t.run = ? AND t.place >= ? ORDER BY t.place LIMIT ?", (run_id, place, limit)
    )
    return [_trial(row) for row in rows]


def trials_at(db: sqlite3.Connection, run_id: int, places: Sequence[int]) -> list[TrialRow]:
    """Return the trials at these places, in the order asked; those not there are left out."""
    rows = db.execute(
        f"{_TRIAL}JOIN json_each(?2) j ON j.value = t.place WHERE t.run = ?1 ORDER BY j.key",
        (run_id, json.dumps(list(places))),
    )
    return [_trial(row) for row in rows]


def trials_changed(
    db: sqlite3.Connection, run_id: int, since: int, limit: int = -1
) -> list[TrialRow]:
    """Return the trials whose change number is above `since`, oldest change first."""
    rows = db.execute(
        f"{_TRIAL}WHERE t.run = ? AND t.change > ? ORDER BY t.change, t.place LIMIT ?",
        (run_id, since, limit),
    )
    return [_trial(row) for row in rows]


def trials_of_cases(db: sqlite3.Connection, run_id: int, case_ids: Sequence[str]) -> list[TrialRow]:
    """Return all trials of the cases named, in dataset order."""
    wanted = [pack(case_id) for case_id in dict.fromkeys(case_ids)]
    rows: list[Sequence[Any]] = []
    for start in range(0, len(wanted), _BOUND):
        part = wanted[start : start + _BOUND]
        # bound, not as JSON: SQLite's JSON knows neither NUL nor lone surrogates
        rows += db.execute(
            f"{_TRIAL}WHERE t.run = ? AND c.id IN ({','.join('?' * len(part))})", (run_id, *part)
        )
    return sorted((_trial(row) for row in rows), key=lambda trial: trial.place)


def case(db: sqlite3.Connection, run_id: int, seq: int) -> Case:
    """Return a case out of the run's frozen copy."""
    case_id, data = db.execute(
        "SELECT id, data FROM cases WHERE run = ? AND seq = ?", (run_id, seq)
    ).fetchone()
    return Case.from_json(seq, unpack_text(case_id), json.loads(data))


OUTPUT = (
    "id, text, reasoning, messages, fields, finish_reason, model, input_tokens, output_tokens, "
    "reasoning_tokens, cached_tokens, cost_usd, latency_s, workspace, self_reported"
)
"""The columns `output_of` makes an output of."""


def output(db: sqlite3.Connection, output_id: int) -> Output:
    """Return an output by its id."""
    row = db.execute(f"SELECT {OUTPUT} FROM outputs WHERE id = ?", (output_id,)).fetchone()
    return output_of(db, row)


def output_of(db: sqlite3.Connection, row: Sequence[Any]) -> Output:
    """Make an output of its row, with the long texts of its messages."""
    return Output(
        text=unpack(row[1]),
        reasoning=unpack(row[2]),
        messages=messages_of(db, row[0], row[3]),
        fields=json.loads(row[4]) if row[4] else {},
        finish_reason=unpack(row[5]),
        model=unpack(row[6]),
        usage=Usage(*row[7:11]),
        cost_usd=row[11],
        latency_s=row[12],
        workspace=row[13],
        self_reported=bool(row[14]),
    )


def messages_of(
    db: sqlite3.Connection, output_id: int, stored: str | None
) -> tuple[JsonObject, ...]:
    """Return an output's messages from their column, with their long texts."""
    if not stored:
        return ()
    messages = json.loads(stored)
    long_texts.whole(db, output_id, messages)
    return tuple(messages)


def attempts(db: sqlite3.Connection, trial_id: int) -> list[AttemptRow]:
    """Return a trial's attempts, oldest first."""
    return [
        _attempt(row)
        for row in db.execute(
            "SELECT a.id, a.number, a.state, a.sent_at, a.queue_s, a.wait_s, a.call_s, "
            "a.error_kind, a.error_message, a.status, a.retry_after_s, a.partial, a.printed, "
            "a.output, a.input_tokens, a.output_tokens, a.cost_usd, a.about_usd, k.number, "
            "k.provider_id FROM attempts a LEFT JOIN consigned c ON c.attempt = a.id "
            "LEFT JOIN consignments k ON k.id = c.consignment "
            "WHERE a.trial = ? ORDER BY a.number",
            (trial_id,),
        )
    ]


def scores(db: sqlite3.Connection, trial_id: int) -> list[ScoreRow]:
    """Return a trial's whole score history, oldest first."""
    return [
        _score(row)
        for row in db.execute(
            "SELECT id, output, scorer, verdict, value, raw, reason, source, weight, required, "
            "current, superseded, withdrawn_at, superseded_by, (SELECT m.at FROM moves m "
            "WHERE m.request = scores.superseded_by AND m.trial = scores.trial), at FROM scores "
            "WHERE trial = ? ORDER BY id",
            (trial_id,),
        )
    ]


def reasons(db: sqlite3.Connection, trial_ids: Sequence[int]) -> dict[int, str]:
    """Give, for each trial that failed or is ungraded, what its first unmet scorer says."""
    found: dict[int, str] = {}
    for trial_id, scorer, reason in db.execute(
        "SELECT trial, scorer, reason FROM scores WHERE trial IN (SELECT value FROM json_each(?)) "
        "AND current = 1 AND required = 1 AND verdict <> 'pass' ORDER BY trial, id",
        (json.dumps(list(trial_ids)),),
    ):
        found.setdefault(trial_id, f"{scorer}: {unpack_text(reason)}")
    return found


def sole_scorer(db: sqlite3.Connection, run_id: int) -> str | None:
    """Return the name of a run's one scorer that decides; None: several do, or none."""
    names = db.execute(
        "SELECT json_extract(scorer.value, '$.name') "
        "FROM runs, json_each(runs.spec, '$.scorers') AS scorer WHERE runs.id = ? "
        "AND coalesce(json_extract(scorer.value, '$.required'), 1) = 1 LIMIT 2",
        (run_id,),
    ).fetchall()
    return names[0][0] if len(names) == 1 else None


def requests(db: sqlite3.Connection, run_id: int, *, pending: bool = True) -> list[RequestRow]:
    """Return what was asked of a run, oldest first; only what is not answered yet, or all."""
    where = "AND outcome IS NULL" if pending else ""
    return [
        _request(row)
        for row in db.execute(
            "SELECT id, verb, args, asked_by, asked_at, outcome, detail, answered_at "
            f"FROM requests WHERE run = ? {where} ORDER BY id",
            (run_id,),
        )
    ]


def stopping(db: sqlite3.Connection, run: RunRow) -> bool:
    """Return whether the engine that works on a run is about to leave it, as it was asked to."""
    if not run.live:
        return False
    (found,) = db.execute(
        "SELECT EXISTS (SELECT 1 FROM requests WHERE run = ? AND verb = 'stop' "
        "AND outcome = 'accepted' AND answered_at >= ?)",
        (run.id, run.active_since or 0.0),
    ).fetchone()
    return bool(found)


def request(db: sqlite3.Connection, request_id: int) -> RequestRow | None:
    """Return one request by its id."""
    row = db.execute(
        "SELECT id, verb, args, asked_by, asked_at, outcome, detail, answered_at FROM requests "
        "WHERE id = ?",
        (request_id,),
    ).fetchone()
    return None if row is None else _request(row)


def limits(db: sqlite3.Connection, run_id: int) -> dict[str, LimitRow]:
    """Return the limit now in force for each endpoint of a run."""
    rows = db.execute(f"SELECT {LIMIT} FROM limits WHERE run = ? ORDER BY id", (run_id,))
    return {row[0]: limit_of(row) for row in rows}


LIMIT = "endpoint, concurrency, kind, seconds, before_s, what, at"
"""The columns `limit_of` makes a limit of."""


def limit_of(row: Sequence[Any]) -> LimitRow:
    """Make a limit of its row."""
    kind, seconds, before_s, what = row[2:6]
    event = EndpointEvent(EndpointEventKind(kind), seconds, before_s, unpack(what))
    return LimitRow(row[0], row[1], event, row[6])


def _run(row: Sequence[Any]) -> RunRow:
    values = [*row[:19], Lease(*row[19:])]
    values[3:5] = [unpack(value) for value in row[3:5]]
    values[5] = json.loads(row[5])
    values[6] = bool(row[6])
    values[7] = RunState(row[7])
    values[8] = unpack(row[8])
    values[10] = bool(row[10])
    return RunRow(*values)


def _trial(row: Sequence[Any]) -> TrialRow:
    values = list(row)
    values[5] = unpack_text(row[5])
    values[7] = TrialState(row[7])
    values[8] = None if row[8] is None else Verdict(row[8])
    values[12] = bool(row[12])
    values[15] = unpack(row[15])
    values[16] = unpack(row[16])
    values[25] = unpack(row[25])
    return TrialRow(*values)


def _attempt(row: Sequence[Any]) -> AttemptRow:
    values = list(row)
    values[8] = unpack(row[8])
    values[11:13] = [unpack(value) for value in row[11:13]]
    values[19] = unpack(row[19])
    return AttemptRow(*values)


def _score(row: Sequence[Any]) -> ScoreRow:
    values = list(row)
    values[3] = Verdict(row[3])
    values[5] = load(row[5])
    values[6] = unpack_text(row[6])
    values[9:12] = [bool(value) for value in row[9:12]]
    return ScoreRow(*values)


def _request(row: Sequence[Any]) -> RequestRow:
    values = list(row)
    values[2] = json.loads(row[2])
    values[6] = unpack(row[6])
    return RequestRow(*values)
