"""All that the store knows of one trial's way, whatever became of it since."""

import sqlite3
from dataclasses import dataclass

from tui_eval.model.states import TrialState
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.read.judges.judge_calls import JudgeCall, calls_about
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.rows import (
    AttemptRow,
    ColumnRow,
    LimitRow,
    RequestRow,
    RunRow,
    ScoreRow,
    TrialRow,
)
from tui_eval.store.text import unpack, unpack_text

_OF_THE_RUN = frozenset(
    {Verb.PAUSE, Verb.CONTINUE, Verb.STOP, Verb.CANCEL_RUN, Verb.RESUME, Verb.SET_LIMIT}
)
"""What is asked of a run as a whole."""


@dataclass(frozen=True, slots=True)
class ReusedOutput:
    """An output that the trial has, or had, without asking for it."""

    output: int
    made_at: float
    """When it came (Unix seconds)."""
    run_name: str | None
    """The run whose trial asked for it; None: it has been deleted since."""
    trial: int | None


@dataclass(frozen=True, slots=True)
class FindingRow:
    """What one judge said of an output of the trial, or failed to say."""

    id: int
    scorer: str
    judge: str
    purpose: str
    repeat: int
    problem: str | None
    """Why it is not whole; None: it is."""
    call: int | None
    """The last judge call about it; None: it was copied."""
    position: int | None
    """Its place in that call, from 0."""
    origin: int | None
    """The finding it was copied from."""
    origin_trial: int | None
    """The trial of that one."""
    superseded_at: float | None
    at: float


@dataclass(frozen=True, slots=True)
class NoteRow:
    """What a person wrote on a trial."""

    text: str
    """Empty: it was taken away."""
    at: float


@dataclass(frozen=True, slots=True)
class MoveRow:
    """What a request did to the trial."""

    request: int
    state: TrialState | None
    """The trial's before; None: an earlier version moved it."""
    undone_by: int | None
    """The request that took it back; None: it stands."""
    at: float | None


@dataclass(frozen=True, slots=True)
class TrialTrace:
    """One trial with every fact about it, each kind oldest first."""

    run: RunRow
    trial: TrialRow
    column: ColumnRow
    reused: tuple[ReusedOutput, ...]
    attempts: tuple[AttemptRow, ...]
    scores: tuple[ScoreRow, ...]
    findings: tuple[FindingRow, ...]
    calls: tuple[JudgeCall, ...]
    """The judge calls it stood in, and those whose findings it has copies of."""
    requests: tuple[RequestRow, ...]
    """What moved this trial, or named it, or was asked of the run as a whole."""
    moves: tuple[MoveRow, ...]
    notes: tuple[NoteRow, ...]
    limits: tuple[LimitRow, ...]
    """What became of its endpoint's limit from its first attempt to its last."""


def trial_trace(db: sqlite3.Connection, run: RunRow, trial: TrialRow) -> TrialTrace:
    """Return every fact about a trial.

    Args:
        db: The connection.
        run: The trial's run.
        trial: The trial.
    """
    moves = _moves(db, trial.id)
    moved_by = {number for move in moves for number in (move.request, move.undone_by)}
    column = next(one for one in run_queries.columns(db, run.id) if one.index == trial.col)
    attempts = tuple(trial_rows.attempts(db, trial.id))
    return TrialTrace(
        run=run,
        trial=trial,
        column=column,
        reused=_reused(db, trial.id),
        attempts=attempts,
        scores=tuple(trial_rows.scores(db, trial.id)),
        findings=_findings(db, trial.id),
        calls=tuple(reversed(calls_about(db, trial.id, most=-1))),
        requests=tuple(
            request
            for request in request_queries.requests(db, run.id, pending=False)
            if request.id in moved_by or _names(request, trial)
        ),
        moves=moves,
        notes=_notes(db, trial.id),
        limits=_limits(db, run.id, column.endpoint, attempts),
    )


def _reused(db: sqlite3.Connection, trial: int) -> tuple[ReusedOutput, ...]:
    rows = db.execute(
        "SELECT o.id, o.at, r.name, t.id FROM outputs o "
        "LEFT JOIN attempts a ON a.output = o.id LEFT JOIN trials t ON t.id = a.trial "
        "LEFT JOIN runs r ON r.id = t.run WHERE o.id IN ("
        "SELECT output FROM trials WHERE id = ?1 UNION SELECT output FROM scores WHERE trial = ?1) "
        "AND NOT EXISTS (SELECT 1 FROM attempts b WHERE b.output = o.id AND b.trial = ?1) "
        "ORDER BY o.id",
        (trial,),
    )
    return tuple(ReusedOutput(*row) for row in rows)


def _findings(db: sqlite3.Connection, trial: int) -> tuple[FindingRow, ...]:
    rows = db.execute(
        "SELECT f.id, f.scorer, f.judge, f.purpose, f.repeat, f.problem, f.call, f.position, "
        "f.origin, o.trial, (SELECT m.at FROM moves m WHERE m.request = f.superseded_by "
        "AND m.trial = f.trial), f.at FROM findings f "
        "LEFT JOIN findings o ON o.id = f.origin WHERE f.trial = ? ORDER BY f.id",
        (trial,),
    )
    values = ([*row[:5], unpack(row[5]), *row[6:]] for row in rows)
    return tuple(FindingRow(*value) for value in values)


def _notes(db: sqlite3.Connection, trial: int) -> tuple[NoteRow, ...]:
    rows = db.execute("SELECT text, at FROM notes WHERE trial = ? ORDER BY id", (trial,))
    return tuple(NoteRow(unpack_text(row[0]), row[1]) for row in rows)


def _limits(
    db: sqlite3.Connection, run: int, endpoint: str, attempts: tuple[AttemptRow, ...]
) -> tuple[LimitRow, ...]:
    if not attempts:
        return ()
    first, last = attempts[0], attempts[-1]
    rows = db.execute(
        f"SELECT {run_queries.LIMIT} FROM limits WHERE run = ? AND endpoint = ? "
        "AND at BETWEEN ? AND ? ORDER BY id",
        (run, endpoint, first.sent_at - (first.queue_s or 0.0), last.sent_at + (last.call_s or 0)),
    )
    return tuple(run_queries.limit_of(row) for row in rows)


def _moves(db: sqlite3.Connection, trial: int) -> tuple[MoveRow, ...]:
    rows = db.execute(
        "SELECT request, state, undone_by, at FROM moves WHERE trial = ? ORDER BY id", (trial,)
    )
    return tuple(
        MoveRow(row[0], None if row[1] is None else TrialState(row[1]), row[2], row[3])
        for row in rows
    )


def _names(request: RequestRow, trial: TrialRow) -> bool:
    """Whether a request is about the run as a whole, or names a trial or its case."""
    if Verb(request.verb) in _OF_THE_RUN:
        return True
    named = ((request.args.get("trials"), trial.id), (request.args.get("cases"), trial.case_id))
    return any(own in (of if isinstance(of, list) else [of]) for of, own in named)
