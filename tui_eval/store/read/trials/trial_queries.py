"""What a screen asks of a run beside its rows: one trial whole, and figures over all."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tui_eval.format import estimated_usd
from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Output
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of
from tui_eval.store.read import run_queries
from tui_eval.store.read.figures import chunk_queries
from tui_eval.store.read.judges.judge_calls import JudgeCall, calls_about
from tui_eval.store.read.run_counts import board
from tui_eval.store.read.trials import (
    attempt_queries,
    conversation_queries,
    output_queries,
    trial_rows,
)
from tui_eval.store.read.trials.attempt_queries import StoredRecord
from tui_eval.store.rows import (
    AttemptRow,
    LimitRow,
    ScoreRow,
    TrialRow,
)
from tui_eval.store.text import unpack_text


def epochs(db: sqlite3.Connection, run: int) -> int:
    """Return how often each case is asked, by the last trial there is; 0: there is none yet."""
    row = db.execute(
        "SELECT epoch + 1 FROM trials WHERE run = ? ORDER BY place DESC LIMIT 1", (run,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def weighted(db: sqlite3.Connection, run: int) -> bool:
    """Return whether any case of a run has a weight of its own; looked up once in a large run.

    Raises:
        UnknownRunError: there is no such run.
    """
    return figures_of(db, run, _WEIGHTED)


_WEIGHTED: Final[KeptFigures[bool, bool]] = KeptFigures("weighted", chunk_queries.weighted, any)


def left_alone(db: sqlite3.Connection, run: int) -> dict[str, LimitRow]:
    """Return the endpoints that are left alone, with since when and why."""
    return {name: limit for name, limit in pauses(db, run).items() if limit.event.leaves_alone}


def pauses(db: sqlite3.Connection, run: int) -> dict[str, LimitRow]:
    """Return, for each endpoint, the last event that says whether it is left alone."""
    rows = db.execute(
        f"SELECT {run_queries.LIMIT}, max(id) FROM limits WHERE run = ? AND kind IN ('start', "
        "'refuses-all', 'nothing-remains', 'answers-again', 'answered-others') GROUP BY endpoint",
        (run,),
    )
    return {row[0]: run_queries.limit_of(row) for row in rows}


def error_kinds(db: sqlite3.Connection, run: int) -> list[tuple[str, int]]:
    """Count a run's errored trials by kind, the most first."""
    rows = db.execute(
        "SELECT ifnull(error_kind, ''), count(*) FROM trials "
        "WHERE run = ? AND state = 'error' GROUP BY 1 ORDER BY 2 DESC, 1",
        (run,),
    )
    return [(row[0], row[1]) for row in rows]


@dataclass(frozen=True, slots=True)
class WholeTrial:
    """One trial with everything that is known of it."""

    trial: TrialRow
    case: Case
    output: Output | None
    scores: tuple[ScoreRow, ...]
    """Its whole history, oldest first."""
    attempts: tuple[AttemptRow, ...]
    judging: tuple[JudgeCall, ...] = ()
    """The judge calls in which it stood, newest first."""
    records: Mapping[int, StoredRecord] = field(default_factory=dict)
    """What its attempts left beside their outputs, by their ids, of those that left anything."""
    workspace: bytes | None = None
    """The digest of what was changed in its workspace; None: it has none, or none yet."""
    progress: AttemptProgress | None = None
    """How far its running attempt is; None: none runs, or its target does not tell."""
    broken_off: tuple[JsonObject, ...] = ()
    """The conversation of its last attempt, where that came to no output; as far as it is, where
    it goes on."""


def whole(db: sqlite3.Connection, run: int, trial_id: int) -> WholeTrial | None:
    """Return one trial with everything that is known of it; None: there is no such trial."""
    trial = trial_rows.trial(db, trial_id)
    if trial is None:
        return None
    attempts = tuple(trial_rows.attempts(db, trial_id))
    last = attempts[-1].output if attempts and trial.output is None else None
    return WholeTrial(
        trial=trial,
        case=trial_rows.case(db, run, trial.seq),
        output=None if trial.output is None else output_queries.output(db, trial.output),
        scores=tuple(trial_rows.scores(db, trial_id)),
        attempts=attempts,
        judging=calls_about(db, trial_id),
        records=attempt_queries.with_history(db, trial_id),
        workspace=attempt_queries.of_trial(db, trial_id).workspace,
        progress=attempt_queries.progress(db, [trial_id]).get(trial_id),
        broken_off=_without_output(db, trial, last),
    )


def _without_output(
    db: sqlite3.Connection, trial: TrialRow, last: int | None
) -> tuple[JsonObject, ...]:
    """Return what was said so far in a trial without output.

    Args:
        db: The connection.
        trial: The trial.
        last: What its last attempt kept of its conversation; None: nothing.
    """
    if last is not None:
        return output_queries.output(db, last).messages
    return () if trial.output is not None else conversation_queries.messages(db, trial.id)


def outputs_beside(db: sqlite3.Connection, run: int, trial: TrialRow) -> list[tuple[str, int]]:
    """Return the outputs of a trial's case in the run's other columns, each with the column's name.

    Of several epochs it is the trial's own.
    """
    rows = db.execute(
        "SELECT k.name, t.output FROM trials t JOIN columns k ON k.run = t.run AND k.idx = t.col "
        "WHERE t.run = ? AND t.seq = ? AND t.epoch = ? AND t.col <> ? AND t.output IS NOT NULL "
        "ORDER BY t.col",
        (run, trial.seq, trial.epoch, trial.col),
    )
    return [(unpack_text(name), output) for name, output in rows]


@dataclass(frozen=True, slots=True)
class RecentActivity:
    """What happened to a live run in its last seconds."""

    seconds: int
    """How many of them are looked at; fewer where its engine began later."""
    by_age: dict[int, tuple[int, float]]
    """Asked trials settled, and dollars they cost, known or estimated, by the whole seconds passed
    since; seconds in which nothing was settled are not in it."""
    settled: int
    """Trials settled by now."""
    cost_usd: float | None
    """What is spent by now, known or estimated; None: some of it is neither."""
    answered: int = 0
    """Trials answered in this run by now."""


def recent_activity(
    db: sqlite3.Connection, run_id: int, now: float, seconds: int
) -> RecentActivity:
    """Return what happened to a run in the last seconds that an engine worked on it.

    Args:
        db: The connection.
        run_id: The run.
        now: Unix seconds.
        seconds: How far to look back at most.
    """
    began = run_queries.run(db, run_id).active_since
    most = seconds if began is None else min(seconds, int(now - began))
    rows = db.execute(
        "SELECT cast(? - since AS INTEGER), count(*), total(coalesce(cost_usd, about_usd)) "
        "FROM trials WHERE run = ? AND state IN ('done', 'error', 'cancelled') AND cached = 0 "
        "AND since > ? GROUP BY 1",
        (now, run_id, now - most),
    ).fetchall()
    total = board(db, run_id)[0]
    by_age = {max(age, 0): (n, usd) for age, n, usd in rows}
    return RecentActivity(max(most, 0), by_age, total.settled, estimated_usd(total), total.answered)
