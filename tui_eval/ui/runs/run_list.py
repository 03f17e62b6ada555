"""The runs of a store as the list shows them."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tui_eval.store.read import run_counts, run_queries
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.read.consignment_queries import BulkProgress, bulk_progress
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import RunRow

MOST = 5000
"""Runs that are listed, the newest."""


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run with its counts."""

    run: RunRow
    stamp: int
    """The last change of the run or of any of its trials."""
    total: Counts
    columns: tuple[str, ...]
    """The names of its columns."""
    pinned: bool = False
    """Whether it is its suite's baseline."""
    bulk: tuple[BulkProgress, ...] = ()
    """How far is what providers are asked in bulk."""

    @property
    def unfinished(self) -> int:
        """How many trials a resume would run or judge again."""
        total = self.total
        return total.total - total.settled + total.error + total.ungraded

    def has(self, sought: str) -> bool:
        """Say whether the run is called so, or its suite, label or one of its targets."""
        words = (self.run.name, self.run.suite, self.run.label or "", *self.columns)
        return any(sought in word.casefold() for word in words)


def listed(db: sqlite3.Connection, known: Mapping[int, ListedRun]) -> list[ListedRun]:
    """Read the runs, live ones first, then the newest; counts only where something changed.

    Args:
        db: The connection.
        known: What was read before, by the run's id.
    """
    found = []
    pinned = baseline_queries.pinned(db)
    for run in run_queries.runs(db, limit=MOST):
        bulk = () if run.state.settled else bulk_progress(db, run.id)
        stamp = run_queries.last_change(db, run.id)
        before = known.get(run.id)
        if before is not None and before.stamp == stamp:
            found.append(replace(before, run=run, pinned=run.id in pinned, bulk=bulk))
            continue
        names = tuple(column.name for column in run_queries.columns(db, run.id))
        total = run_counts.board(db, run.id)[0]
        found.append(ListedRun(run, stamp, total, names, run.id in pinned, bulk))
    return sorted(found, key=lambda one: not one.run.live)
