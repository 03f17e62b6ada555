"""What reports ask of a run: everything streamed or counted, so that a run's size costs no memory.

Several of these belong together in one moment: see `moment`.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.attempt_record import NO_RECORD, AttemptRecord
from tui_eval.model.outputs.output import Usage
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.figures.call_spending import unanswered_attempt
from tui_eval.store.read.trials import attempt_queries, conversation_queries, output_queries
from tui_eval.store.search.views import STANDS, TrialOutcome
from tui_eval.store.text import dump, load, pack, unpack, unpack_text

_PAGE = 500
_HAS_TAG = (
    "EXISTS (SELECT 1 FROM cases c, json_each(c.data, '$.tags') "
    "WHERE c.run = t.run AND c.seq = t.seq AND value = json_extract(?3, '$'))"
)  # the tag as JSON: SQLite reads both alike, whatever is in them

_LINE = (
    "SELECT t.id, t.place, c.id, k.name, t.epoch, t.state, t.verdict, t.score, o.text, "
    "o.finish_reason, t.error_kind, t.error_message, t.attempts, t.latency_s, o.input_tokens, "
    "o.output_tokens, o.reasoning_tokens, o.cached_tokens, t.cost_usd, t.cached, "
    "(SELECT n.text FROM notes n WHERE n.trial = t.id AND n.current = 1), "
    "o.messages, o.fields, c.seq, c.data, o.id, "
    "iif(t.cost_usd IS NULL, t.about_usd, NULL), o.self_reported, t.change "
    "FROM trials t JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "JOIN columns k ON k.run = t.run AND k.idx = t.col LEFT JOIN outputs o ON o.id = t.output "
)


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """One distinct error and how many trials ended with it."""

    kind: str
    message: str
    by_column: Mapping[int, int]
    """How many trials of each column, by the column's index; columns without are not in it."""

    @property
    def n(self) -> int:
        """How many trials."""
        return sum(self.by_column.values())


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One scorer's current score, as exports show it."""

    scorer: str
    verdict: Verdict
    value: float | None
    raw: Json
    reason: str
    source: str
    required: bool = True
    """False: reported beside the verdict, never part of it."""


@dataclass(frozen=True, slots=True)
class TrialLine:
    """One trial with what came of it, as exports show it."""

    id: int
    place: int
    case_id: str
    column: str
    epoch: int
    state: TrialState
    verdict: Verdict | None
    score: float | None
    text: str | None
    finish_reason: str | None
    error_kind: str | None
    error_message: str | None
    attempts: int
    latency_s: float | None
    usage: Usage
    """Of the output, wherever it came from; not a sum over attempts."""
    cost_usd: float | None
    cached: bool
    note: str | None
    """What a person wrote on it; None: nothing."""
    messages: tuple[JsonObject, ...]
    """The output's, where it is more than one reply, or calls tools; without an output those of
    the last attempt, as far as it came."""
    fields: JsonObject
    """What the output has beside its text."""
    case: Case
    scores: tuple[ScoreLine, ...]
    about_usd: float | None
    """What it cost by its target's own word or by an estimate; None: it is known, or unknown."""
    self_reported: bool
    """Whether tokens and money are the target's own word."""
    record: AttemptRecord = NO_RECORD
    """What a program or agent left beside the output."""
    phase: str | None = None
    """What its attempt is at, while one runs that has phases."""

    @property
    def tags(self) -> tuple[str, ...]:
        """The case's tags."""
        return self.case.tags


@contextmanager
def moment(db: sqlite3.Connection) -> Iterator[None]:
    """Read several things as of one moment; keep it short, it holds the WAL meanwhile."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("COMMIT")


def case_columns(db: sqlite3.Connection, run_id: int) -> frozenset[str]:
    """Return the top-level columns that any case of a run has."""
    rows = db.execute(
        "SELECT DISTINCT CAST(key AS BLOB) FROM cases, json_each(data, '$.fields') WHERE run = ?",
        (run_id,),
    )
    return frozenset(unpack_text(row[0]) for row in rows)


def scorer_names(db: sqlite3.Connection, run_id: int) -> list[str]:
    """Return the names of all scorers with a score that counts, in the order they first graded."""
    rows = db.execute(
        "SELECT s.scorer FROM trials t JOIN scores s ON s.trial = t.id WHERE t.run = ? "
        "AND s.current = 1 AND s.superseded = 0 GROUP BY s.scorer ORDER BY min(s.id)",
        (run_id,),
    )
    return [row[0] for row in rows]


def deciding_scorers(db: sqlite3.Connection, run_id: int, col: int) -> list[str]:
    """Return the scorers that are part of a verdict in a column, in the order they first graded."""
    rows = db.execute(
        "SELECT s.scorer FROM trials t JOIN scores s ON s.trial = t.id WHERE t.run = ? "
        "AND t.col = ? AND t.state = 'done' AND s.current = 1 AND s.required = 1 "
        "GROUP BY s.scorer ORDER BY min(s.id)",
        (run_id, col),
    )
    return [row[0] for row in rows]


def judged_scorers(db: sqlite3.Connection, run_id: int) -> frozenset[str]:
    """Return the names of the scorers that a judge gave a score that counts."""
    rows = db.execute(
        "SELECT DISTINCT s.scorer FROM trials t JOIN scores s ON s.trial = t.id WHERE t.run = ? "
        "AND s.current = 1 AND s.superseded = 0 AND s.source = 'judge'",
        (run_id,),
    )
    return frozenset(row[0] for row in rows)


def latencies(db: sqlite3.Connection, run_id: int, col: int, tag: str) -> list[float]:
    """Return the call times in seconds of a column's outputs for the cases with a tag, ascending.

    Also of outputs that came from the cache: it is the call that made them which is measured.

    Args:
        db: The connection.
        run_id: The run.
        col: The column's index.
        tag: The tag.
    """
    rows = db.execute(
        "SELECT latency_s FROM trials t WHERE run = ?1 AND col = ?2 AND state = 'done' "
        f"AND latency_s IS NOT NULL AND {_HAS_TAG} ORDER BY latency_s",
        (run_id, col, dump(tag)),
    )
    return [row[0] for row in rows]


def cost_of_tag(db: sqlite3.Connection, run_id: int, col: int, tag: str) -> float | None:
    """Return what a column's trials of the cases with a tag cost, known or about; None: unknown."""
    cost, unknown = db.execute(
        "SELECT total(coalesce(cost_usd, about_usd)), "
        "count(*) - count(coalesce(cost_usd, about_usd)) + sum(EXISTS ("
        f"SELECT 1 FROM attempts a WHERE a.trial = t.id AND {unanswered_attempt('a')})) "
        f"FROM trials t WHERE run = ?1 AND col = ?2 AND {_HAS_TAG}",
        (run_id, col, dump(tag)),
    ).fetchone()
    return None if unknown else cost


def errors(db: sqlite3.Connection, run_id: int) -> list[ErrorRow]:
    """Return the distinct errors of a run's trials, the most frequent first."""
    found: dict[tuple[str, str], dict[int, int]] = {}
    for kind, message, col, n in db.execute(
        "SELECT ifnull(error_kind, ''), ifnull(error_message, ''), col, count(*) FROM trials "
        "WHERE run = ? AND state = 'error' GROUP BY 1, 2, 3 ORDER BY min(place)",
        (run_id,),
    ):
        found.setdefault((kind, unpack_text(message)), {})[col] = n
    rows = [ErrorRow(kind, message, by_column) for (kind, message), by_column in found.items()]
    return sorted(rows, key=lambda row: -row.n)


def mean_output_tokens(db: sqlite3.Connection, suite: str, column: str) -> float | None:
    """Return the tokens an answer of a column had on average in the suite's last run that counted.

    None: no run did.
    """
    row = db.execute(
        "SELECT avg(o.output_tokens) FROM trials t JOIN outputs o ON o.id = t.output "
        "JOIN columns k ON k.run = t.run AND k.idx = t.col WHERE k.name = ?2 AND t.run = ("
        "SELECT max(r.id) FROM runs r JOIN tallies l ON l.run = r.id AND l.output_tokens > 0 "
        "WHERE r.suite = ?1)",
        (suite, column),
    ).fetchone()
    return None if row[0] is None else float(row[0])


def lines(
    db: sqlite3.Connection, run_id: int, which: Collection[TrialOutcome] = ()
) -> Iterator[TrialLine]:
    """Stream a run's trials in dataset order, whole; a page at a time, so no reader holds the WAL.

    Args:
        db: The connection.
        run_id: The run.
        which: Only those that stand so; empty: all.
    """
    stands = " OR ".join(f"({STANDS[one]})" for one in which) or "1"
    query = f"{_LINE}WHERE t.run = ? AND t.place > ? AND ({stands}) ORDER BY t.place LIMIT ?"
    after = -1
    while page := db.execute(query, (run_id, after, _PAGE)).fetchall():
        yield from _whole(db, page)
        after = page[-1][1]


def lines_of_case(db: sqlite3.Connection, run_id: int, case_id: str) -> list[TrialLine]:
    """Return the trials of one case, whole; empty: the run has no such case."""
    page = db.execute(
        f"{_LINE}WHERE t.run = ? AND c.id = ? ORDER BY t.place", (run_id, pack(case_id))
    ).fetchall()
    return list(_whole(db, page))


def lines_settled(
    db: sqlite3.Connection, run_id: int, since: int, until: int
) -> Iterator[TrialLine]:
    """Stream the settled trials that changed after `since` and not after `until`, as they did.

    Args:
        db: The connection.
        run_id: The run.
        since: A change number; trials that changed with it or before are left out.
        until: The last change number to look at.
    """
    query = (
        f"{_LINE}WHERE t.run = ?1 AND t.change BETWEEN ?2 AND ?4 AND (t.change, t.place) > (?2, ?3)"
        " AND t.state IN ('done', 'error', 'cancelled') ORDER BY t.change, t.place LIMIT ?5"
    )
    change, place = since + 1, -1
    while page := db.execute(query, (run_id, change, place, until, _PAGE)).fetchall():
        yield from _whole(db, page)
        place, change = page[-1][1], page[-1][-1]


def _whole(db: sqlite3.Connection, page: Sequence[Sequence[Any]]) -> Iterator[TrialLine]:
    trials = [row[0] for row in page]
    scored = _scores(db, trials)
    left = attempt_queries.of_trials(db, trials) if attempt_queries.any_records(db) else {}
    running = attempt_queries.progress(db, [row[0] for row in page if row[5] == "running"])
    broken_off = _broken_off(db, [row[0] for row in page if row[25] is None])
    for row in page:
        output, messages_text = broken_off.get(row[0], (row[25], row[21]))
        if output is not None:
            messages = output_queries.messages_of(db, output, messages_text)
        else:
            messages = conversation_queries.messages(db, row[0]) if row[5] in _GOING_ON else ()
        record = left.get(row[0], attempt_queries.NOTHING).record
        phase = None if row[0] not in running else running[row[0]].phase
        yield _line(row, messages, tuple(scored.get(row[0], ())), record, phase)


_GOING_ON: Final = ("queued", "running")
"""The states of trials whose conversations are not over."""


def _broken_off(db: sqlite3.Connection, trials: Sequence[int]) -> dict[int, tuple[int, str | None]]:
    """Return the conversations that trials without output had in their last attempts."""
    rows = db.execute(
        "SELECT a.trial, o.id, o.messages FROM json_each(?) j JOIN trials t ON t.id = j.value "
        "JOIN attempts a ON a.trial = t.id AND a.number = t.attempts "
        "JOIN outputs o ON o.id = a.output",
        (json.dumps(list(trials)),),
    )
    return {trial: (output, messages) for trial, output, messages in rows}


def _line(
    row: Sequence[Any],
    messages: tuple[JsonObject, ...],
    scores: tuple[ScoreLine, ...],
    record: AttemptRecord,
    phase: str | None,
) -> TrialLine:
    values = list(row)
    values[2] = unpack_text(values[2])
    values[5] = TrialState(values[5])
    values[6] = None if values[6] is None else Verdict(values[6])
    values[8:10] = [unpack(value) for value in values[8:10]]
    values[11] = unpack(values[11])
    values[14:] = [
        Usage(*row[14:18]),
        row[18],
        bool(row[19]),
        unpack(row[20]),
        messages,
        json.loads(row[22]) if row[22] else {},
        Case.from_json(row[23], values[2], json.loads(row[24])),
        scores,
        row[26],
        bool(row[27]),
        record,
        phase,
    ]
    return TrialLine(*values)


def _scores(db: sqlite3.Connection, trials: Sequence[int]) -> dict[int, list[ScoreLine]]:
    found: dict[int, list[ScoreLine]] = {}
    for trial, scorer, verdict, value, raw, reason, source, required in db.execute(
        "SELECT trial, scorer, verdict, value, raw, reason, source, required FROM scores "
        "WHERE trial IN (SELECT value FROM json_each(?)) AND current = 1 AND superseded = 0 "
        "ORDER BY trial, id",
        (json.dumps(trials),),
    ):
        line = ScoreLine(
            scorer, Verdict(verdict), value, load(raw), unpack_text(reason), source, bool(required)
        )
        found.setdefault(trial, []).append(line)
    return found


def _tags(stored: str | None) -> tuple[str, ...]:
    return tuple(json.loads(stored)) if stored else ()
