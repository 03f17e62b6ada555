"""What an engine's pools take from the store: open trials with all they need, in dataset order."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Score
from tui_eval.model.states import TrialState
from tui_eval.store.read.bulk_waiting import AWAITED
from tui_eval.store.read.trials import output_queries, trial_rows
from tui_eval.store.text import unpack_text


@dataclass(frozen=True, slots=True)
class OpenTrial:
    """An open trial, its case, and its output where it has one to be scored."""

    trial: int
    place: int
    col: int
    epoch: int
    key: bytes
    since: float
    """When it began to wait (Unix seconds)."""
    case: Case
    output: Output | None
    opening: int
    """How often it had been opened anew when it was read, see `trial_moves.stands`."""
    kept: tuple[Score, ...] | None
    """Scores of that output that still count, a person's among them; None: it never had any."""


OPEN_TRIAL: Final = (
    "t.id, t.place, t.seq, t.col, t.epoch, t.generation_key, t.since, t.state, "
    "t.output, s.id, s.data, t.attempts, "
    "EXISTS (SELECT 1 FROM scores x WHERE x.trial = t.id), t.opening"
)
"""The columns `open_trial` makes a trial of, `t`, with its case, `s`."""
_RETRIED: Final = (
    "EXISTS (SELECT 1 FROM moves m JOIN requests q ON q.id = m.request "
    "WHERE m.trial = t.id AND q.verb = 'retry' AND m.undone_by IS NULL)"
)


@dataclass(frozen=True, slots=True)
class ByRetried:
    """Which trials of some columns are wanted: those that a person had asked again, or the rest."""

    columns: frozenset[int]
    retried: bool


def open_work(
    db: sqlite3.Connection,
    run: int,
    cols: Sequence[int],
    state: TrialState,
    after: int,
    limit: int,
    by_retried: ByRetried | None = None,
) -> list[OpenTrial]:
    """Return the trials of these columns in a state and after a place, in dataset order.

    Those that a judge is asked about in bulk wait for it, and are left out.

    Args:
        db: The connection.
        run: The run.
        cols: The columns.
        state: `queued` or `scoring`.
        after: A place; -1: from the first on.
        limit: How many at most.
        by_retried: Which trials of some of the columns are wanted; None: all.
    """
    narrowed = ""
    if by_retried is not None and by_retried.columns:
        listed = ",".join(map(str, sorted(by_retried.columns)))
        asked = _RETRIED if by_retried.retried else f"NOT {_RETRIED}"
        narrowed = f"AND (t.col NOT IN ({listed}) OR {asked}) "
    if state is TrialState.SCORING:
        narrowed += f"AND NOT EXISTS ({AWAITED}) "
    rows = db.execute(
        # by name: SQLite would rather go through all trials after the place
        f"SELECT {OPEN_TRIAL} FROM trials t INDEXED BY trials_open "
        "JOIN cases s ON s.run = t.run AND s.seq = t.seq WHERE t.run = ? AND t.place > ? "
        f"AND t.state = '{state}' AND t.state IN ('queued', 'scoring') "
        f"AND t.col IN ({','.join('?' * len(cols))}) {narrowed}"
        "ORDER BY t.place LIMIT ?",
        (run, after, *cols, limit),
    ).fetchall()
    return [open_trial(db, row) for row in rows]


def open_trial(
    db: sqlite3.Connection, row: Sequence[Any], *, opening: int | None = None
) -> OpenTrial:
    """Make a trial of its `OPEN_TRIAL`.

    Args:
        db: The connection.
        row: The columns.
        opening: The opening that work on it was begun on; None: the present one.
    """
    return OpenTrial(
        trial=row[0],
        place=row[1],
        col=row[3],
        epoch=row[4],
        key=row[5],
        since=row[6],
        case=Case.from_json(row[2], unpack_text(row[9]), json.loads(row[10])),
        output=output_queries.output(db, row[8]) if row[7] == "scoring" else None,
        kept=_kept(db, row[0]) if row[11] or row[12] else None,
        opening=row[13] if opening is None else opening,
    )


def _kept(db: sqlite3.Connection, trial: int) -> tuple[Score, ...]:
    return tuple(
        row.as_score()
        for row in trial_rows.scores(db, trial)
        if row.current and not row.superseded and row.withdrawn_at is None
    )


def open_count(db: sqlite3.Connection, run: int) -> int:
    """Return how many trials of a run are not settled."""
    return int(
        db.execute(
            "SELECT ifnull(sum(n), 0) FROM tallies WHERE run = ? "
            "AND state IN ('queued', 'running', 'scoring')",
            (run,),
        ).fetchone()[0]
    )
