"""What is written of runs: made, staged, moved from state to state, forgotten."""

import json
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.model.runs.endpoint_event import EndpointEvent
from tui_eval.model.runs.run_part import RunPart
from tui_eval.model.score import Score, tally
from tui_eval.model.states import RUN_MOVES, RunState
from tui_eval.store import lease, requests
from tui_eval.store.read import many_rows
from tui_eval.store.rows import ColumnRow
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx
from tui_eval.store.write import baseline_writes, consignment_writes, score_writes
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.store.write.judges import consigned_calls

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that are easily taken for others
_SLUG_LENGTH = 60  # a run's name is part of file names, and is typed


class NewTrial(NamedTuple):
    """A trial as staging found it."""

    place: int
    seq: int
    col: int
    epoch: int
    key: bytes | None
    """The generation key; None where the request could not be rendered."""
    output: int | None = None
    """An output that has this key already."""
    failure: Failure | None = None
    scores: Sequence[Score] | None = None
    """All scores of that output, where it needs no others; None: it is still to be scored."""
    latency_s: float | None = None
    """How long that output's call took."""


@dataclass(frozen=True, slots=True)
class NewRun:
    """What a run is made of."""

    suite: str
    """The suite's name."""
    spec: str
    """The frozen suite, JSON."""
    settings: dict[str, object]
    """What was chosen at launch."""
    path: str | None = None
    """The file the suite came from, for showing."""
    label: str | None = None
    partial: bool = False
    """Whether a filter or a limit was set."""
    data_files: Sequence[JsonObject] | None = None
    """What its data files are like; None: nobody looked."""
    base: BaseChoice | None = None
    """What it is compared with; None: its suite's baseline of now."""


def create(tx: Tx, new: NewRun) -> int:
    """Make a run in state `pending`, named after its suite and four letters; return its id."""
    while True:
        name = f"{_slug(new.suite)}-{''.join(secrets.choice(_LETTERS) for _ in range(4))}"
        if tx.db.execute("SELECT 1 FROM runs WHERE name = ?", (name,)).fetchone() is None:
            break
    cursor = tx.db.execute(
        "INSERT INTO runs (id, name, suite, path, label, spec, settings, partial, data_files, "
        "state, created_at, change) VALUES ((SELECT ifnull(max(id), 0) + 1 FROM "
        "(SELECT id FROM runs UNION ALL SELECT value FROM meta WHERE name = 'last run')), "
        "?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)",
        (
            name,
            new.suite,
            pack(new.path),
            pack(new.label),
            new.spec,
            json.dumps(new.settings),
            new.partial,
            None if new.data_files is None else dump([*new.data_files]),
            tx.now,
            tx.change,
        ),
    )
    assert cursor.lastrowid is not None
    baseline_writes.set_base(tx, cursor.lastrowid, new.suite, new.base)
    return cursor.lastrowid


def add_columns(tx: Tx, run: int, columns: Sequence[ColumnRow]) -> None:
    """Write down a run's columns, instead of any it had."""
    tx.db.execute("DELETE FROM columns WHERE run = ?", (run,))
    tx.db.executemany(
        "INSERT INTO columns (run, idx, name, target, prompt, kind, model, endpoint, source, "
        "version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                run,
                c.index,
                c.name,
                c.target,
                c.prompt,
                c.kind,
                c.model,
                c.endpoint,
                c.source,
                c.version,
            )
            for c in columns
        ],
    )


def add_cases(tx: Tx, run: int, cases: Iterable[Case]) -> None:
    """Freeze cases.

    Raises:
        sqlite3.IntegrityError: two cases of the run have one id.
    """
    many_rows.insert(
        tx.db,
        "cases",
        ("run", "seq", "id", "data", "number"),
        ((run, case.seq, pack(case.id), dump(case.as_json()), case.number) for case in cases),
    )


def add_trials(tx: Tx, run: int, trials: Sequence[NewTrial]) -> None:
    """Write down staged trials, each in the state that staging found it in."""
    first = tx.db.execute("SELECT ifnull(max(id), 0) + 1 FROM trials").fetchone()[0]
    numbered = [*enumerate(trials, first)]
    standings = [_standing(trial) for trial in trials]
    change = tx.change

    def row(trial_id: int, trial: NewTrial) -> tuple[object, ...]:
        return (
            trial_id,
            run,
            trial.place,
            trial.seq,
            trial.col,
            trial.epoch,
            *standings[trial_id - first],
            trial.key,
            trial.output,
            int(trial.output is not None),
            trial.latency_s,
            tx.now,
            change,
        )

    whole = (row(trial_id, trial) for trial_id, trial in numbered if trial.failure is None)
    broken = (
        (*row(trial_id, trial), trial.failure.kind, pack(trial.failure.message))
        for trial_id, trial in numbered
        if trial.failure is not None
    )
    many_rows.insert(tx.db, "trials", _TRIAL, whole)
    many_rows.insert(tx.db, "trials", (*_TRIAL, "error_kind", "error_message"), broken)
    score_writes.add_first_scores(
        tx,
        (
            (trial_id, trial.output, score)
            for trial_id, trial in numbered
            if trial.scores is not None and trial.output is not None
            for score in trial.scores
        ),
    )
    _count(tx, run, trials, standings)


def _count(
    tx: Tx,
    run: int,
    trials: Sequence[NewTrial],
    standings: Sequence[tuple[str, str | None, float | None]],
) -> None:
    """Add staged trials to the run's tallies: the trigger sees only what moves afterwards."""
    tallies: dict[tuple[int, str, str], list[float]] = {}
    for trial, (state, verdict, score) in zip(trials, standings, strict=True):
        sums = tallies.setdefault((trial.col, state, verdict or ""), [0, 0.0, 0])
        sums[0] += 1
        sums[1] += score or 0.0
        sums[2] += trial.output is not None
    tx.db.executemany(
        "INSERT INTO tallies (run, col, state, verdict, n, score, input_tokens, output_tokens, "
        "cost_usd, unpriced, attempts, retries, cached) "
        "VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, ?) ON CONFLICT DO UPDATE "
        "SET n = n + excluded.n, score = score + excluded.score, cached = cached + excluded.cached",
        [(run, *of, *sums) for of, sums in tallies.items()],
    )


_TRIAL = (
    "id",
    "run",
    "place",
    "seq",
    "col",
    "epoch",
    "state",
    "verdict",
    "score",
    "generation_key",
    "output",
    "cached",
    "latency_s",
    "since",
    "change",
)


def _standing(trial: NewTrial) -> tuple[str, str | None, float | None]:
    """Return the state, verdict and score a staged trial begins with."""
    if trial.failure is not None:
        return "error", None, None
    if trial.output is None:
        return "queued", None, None
    if trial.scores is None:
        return "scoring", None, None
    come_to = tally(trial.scores)
    return "done", come_to.verdict.value, come_to.score


def unstage(tx: Tx, run: int) -> None:
    """Take back all cases and trials of a run whose staging did not come to its end."""
    tx.db.execute("DELETE FROM scores WHERE trial IN (SELECT id FROM trials WHERE run = ?)", (run,))
    for table in ("cases", "trials", "tallies"):
        tx.db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))


def staged(tx: Tx, run: int, *, whole: bool = False, staged_as: bytes | None = None) -> None:
    """Write down that all trials of a run are there.

    Args:
        tx: The transaction.
        run: The run.
        whole: Whether they are all of the suite's, though its launch asked for fewer.
        staged_as: A digest of all that they follow from; None: of more than can be told.
    """
    tx.db.execute(
        "UPDATE runs SET staged = 1, total = (SELECT ifnull(sum(n), 0) FROM tallies "
        "WHERE run = ?1), change = ?2, partial = partial AND NOT ?3, staged_as = ?4 "
        "WHERE id = ?1",
        (run, tx.change, whole, staged_as),
    )


def set_part(tx: Tx, run: int, part: RunPart, whole: bytes, cases: int) -> None:
    """Write down that a run has a part of a whole.

    Args:
        tx: The transaction.
        run: The run.
        part: Which it is.
        whole: The digest of all that the whole run wants.
        cases: How many cases that has.
    """
    tx.db.execute(
        "INSERT OR REPLACE INTO run_parts VALUES (?, ?, ?, ?, ?)",
        (run, part.number, part.of, whole, cases),
    )


def count_anew(tx: Tx, run: int) -> None:
    """Count the tallies of a run whose trials came in other ways than by staging and moves."""
    tx.db.execute("DELETE FROM tallies WHERE run = ?", (run,))
    tx.db.execute(
        "INSERT INTO tallies (run, col, state, verdict, n, score, input_tokens, output_tokens, "
        "cost_usd, unpriced, attempts, retries, cached, about_usd, unestimated) "
        "SELECT run, col, state, ifnull(verdict, ''), count(*), sum(ifnull(score, 0)), "
        "sum(input_tokens), sum(output_tokens), sum(ifnull(cost_usd, 0)), sum(cost_usd IS NULL), "
        "sum(attempts), sum(max(attempts - 1, 0)), sum(cached), "
        "sum(coalesce(cost_usd, about_usd, 0)), sum(coalesce(cost_usd, about_usd) IS NULL) "
        "FROM trials WHERE run = ? GROUP BY 1, 2, 3, 4",
        (run,),
    )


def move(
    tx: Tx, run: int, to: RunState, *, reason: str | None = None, stopped_by: str | None = None
) -> bool:
    """Move a run to a state.

    Args:
        tx: The transaction.
        run: The run.
        to: The new state.
        reason: For a person: why it is paused or interrupted.
        stopped_by: A stable word for the same.

    Returns:
        False where the table of moves does not lead there from where it is, or there is no such
        run; nothing changed then.
    """
    row = tx.db.execute("SELECT state FROM runs WHERE id = ?", (run,)).fetchone()
    if row is None:
        return False
    state = RunState(row[0])
    if state is not to and to not in RUN_MOVES[state]:
        return False
    tx.db.execute(
        "UPDATE runs SET state = ?, reason = ?, stopped_by = ?, change = ? WHERE id = ?",
        (to, pack(reason), stopped_by, tx.change, run),
    )
    return True


def begin(tx: Tx, run: int) -> None:
    """Write down that an engine begins to work on a run."""
    tx.db.execute(
        "UPDATE runs SET started_at = ifnull(started_at, ?1), active_since = ?1, active_from = ?4, "
        "active_s = 0, ended_at = NULL, change = ?2 WHERE id = ?3",
        (tx.now, tx.change, run, tx.elapsed),
    )


def end(tx: Tx, run: int) -> None:
    """Write down that an engine ends its work on a run."""
    tx.db.execute(
        "UPDATE runs SET ended_at = ?1, wall_s = wall_s + max(ifnull(?4 - active_from, 0), 0), "
        "active_since = NULL, active_from = NULL, active_s = 0, change = ?2 WHERE id = ?3",
        (tx.now, tx.change, run, tx.elapsed),
    )
    _lose_judge_calls(tx, run)


def _lose_judge_calls(tx: Tx, run: int) -> None:
    """Say of calls to judges that are still in flight that nobody waits for them any more.

    What was consigned is not lost.
    """
    tx.db.execute(
        "UPDATE judge_calls INDEXED BY judge_calls_sent SET state = 'lost' "
        f"WHERE run = ? AND state = 'sent' AND NOT EXISTS ({consigned_calls.CONSIGNED})",
        (run,),
    )


def recover(tx: Tx, run: int) -> int:
    """Take up a run whose engine has gone: what was in flight is lost and waits again.

    What was consigned is not lost: its provider goes on with it, whoever asked.

    Returns:
        How many trials were in flight.
    """
    lease.count_dead(tx, run)
    tx.db.execute(
        "UPDATE attempts SET state = 'lost' WHERE state = 'sent' "
        "AND (SELECT run FROM trials WHERE id = trial) = ? "
        "AND NOT EXISTS (SELECT 1 FROM consigned WHERE attempt = attempts.id)",
        (run,),
    )
    tx.db.execute(
        "DELETE FROM trial_progress WHERE (SELECT run FROM trials WHERE id = trial) = ?", (run,)
    )
    _lose_judge_calls(tx, run)
    if not _any_running(tx, run):
        return 0  # finding that out trial by trial takes long
    return tx.db.execute(
        "UPDATE trials SET state = 'queued', since = ?, change = ?, waiting = NULL, "
        "waiting_until = NULL WHERE run = ? AND state = 'running' "
        f"AND NOT EXISTS ({consignment_writes.UNDER_WAY})",
        (tx.now, tx.change, run),
    ).rowcount


def _any_running(tx: Tx, run: int) -> bool:
    row = tx.db.execute(
        "SELECT 1 FROM tallies WHERE run = ? AND state = 'running' AND n > 0 LIMIT 1", (run,)
    ).fetchone()
    return row is not None


def add_limit(tx: Tx, run: int, endpoint: str, concurrency: int, event: EndpointEvent) -> None:
    """Write down a limit that is in force from now on, and why."""
    tx.db.execute(
        "INSERT INTO limits (run, endpoint, concurrency, kind, seconds, before_s, what, at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run,
            endpoint,
            concurrency,
            event.kind,
            event.seconds,
            event.before_s,
            pack(event.what),
            tx.now,
        ),
    )
    tx.db.execute("UPDATE runs SET change = ? WHERE id = ?", (tx.change, run))


def forget(tx: Tx, run: int) -> None:
    """Delete a run none of whose trials was ever begun, with all that was staged of it.

    Its id is never given to another run: screens and caches know runs by it.
    """
    unstage(tx, run)
    requests.forget(tx, run)
    baseline_writes.forget(tx, run)
    consignment_writes.forget(tx, run)
    for table in ("columns", "limits", "former_specs", "trust", "run_parts", "merged_runs"):
        tx.db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
    tx.db.execute("DELETE FROM runs WHERE id = ?", (run,))
    tx.db.execute(
        "INSERT INTO meta VALUES ('last run', ?) "
        "ON CONFLICT DO UPDATE SET value = max(value, excluded.value)",
        (run,),
    )


def set_settings(tx: Tx, run: int, settings: dict[str, object]) -> None:
    """Take other launch settings for a run: a raised cap."""
    tx.db.execute(
        "UPDATE runs SET settings = ?, change = ? WHERE id = ?",
        (json.dumps(settings), tx.change, run),
    )


def set_spec(tx: Tx, run: int, spec: str) -> None:
    """Take another frozen suite for a run: its scorers were changed, its cases never are."""
    tx.db.execute(
        "UPDATE runs SET spec = ?1, spec_change = ?2, change = ?2 WHERE id = ?3",
        (spec, tx.change, run),
    )


def _slug(name: str) -> str:
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
    return kept[:_SLUG_LENGTH].strip("-.") or "run"
