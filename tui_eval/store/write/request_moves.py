"""What requests did to trials: one row for each trial that a request moved.

It is what an engine that takes a request over from a dead one need not do again, and what can be
taken back. A trial's moves are a stack: only the last one that stands can be taken back.
"""

import json
import sqlite3
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.model.states import TrialState
from tui_eval.store.text import unpack
from tui_eval.store.tx import Tx

_TOGETHER: Final = 10_000
"""Trials that are looked up with one query."""


@dataclass(frozen=True, slots=True)
class RequestMove:
    """A trial that a request moved, and where it stood before."""

    id: int
    request: int
    trial: int
    state: TrialState | None
    """None: an earlier version moved it, and wrote down no more."""
    since: float | None
    error_kind: str | None
    error_message: str | None
    last_score: int
    """The newest score that the trial had then; 0: none."""
    last_finding: int
    """Likewise."""


def record(tx: Tx, request: int | None, trial: int, *, scores: bool) -> None:
    """Write down where a trial stands before a request moves it.

    Args:
        tx: The transaction, in which the trial is moved next.
        request: The request; None: nobody asked, and nobody can take it back.
        trial: The trial.
        scores: Whether the request replaces scores.
    """
    if request is None:
        return
    newest = (
        "ifnull((SELECT max(id) FROM scores WHERE trial = ?2), 0), "
        "ifnull((SELECT max(id) FROM findings WHERE trial = ?2), 0)"
    )
    tx.db.execute(
        "INSERT INTO moves (request, trial, state, since, error_kind, error_message, at, "
        "last_score, last_finding) SELECT ?1, id, state, since, error_kind, error_message, ?3, "
        f"{newest if scores else 'NULL, NULL'} FROM trials WHERE id = ?2",
        (request, trial, tx.now),
    )


def record_open(tx: Tx, request: int, run: int) -> None:
    """Write down where all open trials of a run stand before a request cancels them."""
    tx.db.execute(
        "INSERT INTO moves (request, trial, state, since, at) SELECT ?, id, state, since, ? "
        "FROM trials WHERE run = ? AND state IN ('queued', 'running', 'scoring')",
        (request, tx.now, run),
    )


def moved_count(db: sqlite3.Connection, request: int) -> int:
    """Count the trials that a request has moved, or whose move it has taken back."""
    row = db.execute(
        "SELECT count(*) FROM (SELECT trial FROM moves WHERE request = ?1 "
        "UNION SELECT trial FROM moves WHERE undone_by = ?1)",
        (request,),
    ).fetchone()
    return int(row[0])


def not_moved_yet(db: sqlite3.Connection, request: int, trials: Sequence[int]) -> Sequence[int]:
    """Return those of some trials that a request has not dealt with (`moved_count`), in order."""
    left = array("q")
    for begin in range(0, len(trials), _TOGETHER):
        rows = db.execute(
            "SELECT j.value FROM json_each(?2) j WHERE NOT EXISTS (SELECT 1 FROM moves m "
            "WHERE m.trial = j.value AND (m.request = ?1 OR m.undone_by = ?1)) ORDER BY j.key",
            (request, json.dumps([*trials[begin : begin + _TOGETHER]])),
        )
        left.extend(row[0] for row in rows)
    return left


def not_taken_back(db: sqlite3.Connection, request: int) -> Sequence[int]:
    """Return the trials whose move by a request is not taken back, in dataset order."""
    rows = db.execute(
        "SELECT m.trial FROM moves m JOIN trials t ON t.id = m.trial "
        "WHERE m.request = ? AND m.undone_by IS NULL ORDER BY t.place",
        (request,),
    )
    return array("q", (row[0] for row in rows))  # all trials of a run are millions


def last(db: sqlite3.Connection, trial: int) -> RequestMove | None:
    """Return the last move of a trial that stands; None: no request has moved it."""
    row = db.execute(
        "SELECT id, request, trial, state, since, error_kind, error_message, last_score, "
        "last_finding FROM moves WHERE trial = ? AND undone_by IS NULL ORDER BY id DESC LIMIT 1",
        (trial,),
    ).fetchone()
    if row is None:
        return None
    number, request, _, state, since, kind, message, score, finding = row
    return RequestMove(
        id=number,
        request=request,
        trial=trial,
        state=None if state is None else TrialState(state),
        since=since,
        error_kind=unpack(kind),
        error_message=unpack(message),
        last_score=score or 0,
        last_finding=finding or 0,
    )


def take_back(tx: Tx, move: RequestMove, by: int) -> None:
    """Write down that a request has taken a move back: the one before it is the last then."""
    tx.db.execute("UPDATE moves SET undone_by = ? WHERE id = ?", (by, move.id))
