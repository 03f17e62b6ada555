"""What the Run screen knows of its run: read when the store changed, no oftener than shown."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from tui_eval.model.states import RunState
from tui_eval.reports.passing import Passing, passing
from tui_eval.store import board, browse, figures, reader
from tui_eval.store.board import Counts
from tui_eval.store.rows import ColumnRow, LimitRow, RequestRow, RunRow, TrialRow
from tui_eval.ui.desk import Desk

_SNAPSHOT_S = 0.1
"""At least so long between two looks at what changed."""
_FIGURES_S = 1.0
_FIGURES_SHARE = 20
"""Figures that take a second to count are counted every twenty."""
MOST_CHANGES = 400
"""Changed rows that are read one by one; after more of them the table reads its rows again."""
_BUCKETS = 24


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run as it stands at one moment; cheap at any size."""

    run: RunRow
    columns: tuple[ColumnRow, ...]
    total: Counts
    by_column: dict[int, Counts]
    epochs: int
    """How often each case is asked; 0 while nobody knows."""
    limits: dict[str, LimitRow]
    """By endpoint."""
    pending: tuple[RequestRow, ...]
    """Requests that are not answered yet, whoever asked."""
    answered: tuple[RequestRow, ...]
    """Of the requests that were waited for, those that have been answered."""
    changed: tuple[TrialRow, ...]
    """Trials that changed since the last snapshot."""
    reasons: dict[int, str]
    """Of these, why those that did not pass did not, by trial id."""
    overflow: bool
    """More trials changed than are listed."""
    change: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What takes a pass over the trials to know."""

    cut: dict[int, int]
    """Outputs cut short, by column."""
    p50: dict[int, float]
    """Median call time in seconds, by column; columns without one are not in it."""
    failing: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]
    backing_off: int
    rates: dict[int, Passing]
    """By column, as reports have them."""
    history: tuple[int, ...]
    """Trials settled in each of equal parts of the run's time; empty while it is live."""


class Feed:
    """Reads a run for a screen, again and again, until the screen's worker is cancelled."""

    def __init__(self, desk: Desk, run_id: int) -> None:
        self._desk = desk
        self._run_id = run_id
        self._since = -1
        self._wake = asyncio.Event()
        self._wake_figures = asyncio.Event()
        self._wake.set()
        self._wake_figures.set()
        self.awaited: set[int] = set()
        """Requests whose answers the screen waits for."""

    def wake(self) -> None:
        """Say that the store may have changed."""
        self._wake.set()
        self._wake_figures.set()

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """Give a snapshot at once, then one whenever something changed.

        Raises:
            UnknownRunError: the run is not there (any more).
        """
        while True:
            await self._wake.wait()
            self._wake.clear()
            found = await self._desk.read(snapshot, self._run_id, self._since, sorted(self.awaited))
            self._since = found.change
            self.awaited -= {request.id for request in found.answered}
            yield found
            await asyncio.sleep(_SNAPSHOT_S)

    async def figures(self) -> AsyncGenerator[Figures, None]:
        """Give figures at once, then when something changed; the rarer the longer it takes."""
        while True:
            await self._wake_figures.wait()
            self._wake_figures.clear()
            began = time.monotonic()
            yield await self._desk.survey(count_figures, self._run_id)
            took = time.monotonic() - began
            await asyncio.sleep(max(_FIGURES_S, took * _FIGURES_SHARE))


def snapshot(db: sqlite3.Connection, run_id: int, since: int, awaited: Sequence[int]) -> Snapshot:
    """Read a run as it stands.

    Args:
        db: The connection.
        run_id: The run.
        since: The change number of the last snapshot; -1: this is the first, which lists none.
        awaited: Requests whose answers are waited for.
    """
    change = reader.change(db)  # before the rows: what comes in between is listed again
    run = reader.run(db, run_id)
    total, by_column = board.board(db, run_id)
    changed: list[TrialRow] = []
    if since >= 0 and change != since:
        changed = reader.trials_changed(db, run_id, since, MOST_CHANGES + 1)
    overflow = len(changed) > MOST_CHANGES
    if overflow:
        changed = []
    requests = (reader.request(db, number) for number in awaited)
    return Snapshot(
        run=run,
        columns=tuple(reader.columns(db, run_id)),
        total=total,
        by_column=by_column,
        epochs=browse.epochs(db, run_id),
        limits=reader.limits(db, run_id),
        pending=tuple(reader.requests(db, run_id)),
        answered=tuple(
            request for request in requests if request is not None and request.outcome is not None
        ),
        changed=tuple(changed),
        reasons=reader.reasons(db, [trial.id for trial in changed]),
        overflow=overflow,
        change=change,
    )


def count_figures(db: sqlite3.Connection, run_id: int) -> Figures:
    """Count what takes a pass over the trials."""
    run = reader.run(db, run_id)
    total, by_column = board.board(db, run_id)
    cut = {
        column: reasons["length"]
        for column, reasons in figures.finishes(db, run_id).items()
        if "length" in reasons
    }
    medians = {column: browse.median_latency(db, run_id, column) for column in by_column}
    return Figures(
        cut=cut,
        p50={column: median for column, median in medians.items() if median is not None},
        failing=tuple(browse.failing(db, run_id)),
        errors=tuple(browse.error_kinds(db, run_id)),
        backing_off=browse.backing_off(db, run_id) if total.running else 0,
        rates=passing(db, run_id),
        history=()
        if run.state is RunState.RUNNING
        else browse.settled_over_time(db, run_id, _BUCKETS),
    )
