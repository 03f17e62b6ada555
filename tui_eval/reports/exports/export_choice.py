"""What of a run is exported."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from tui_eval.reports.comparison.baseline.base import RunBase
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.store.rows import ColumnRow, RunRow
from tui_eval.store.search.views import TrialOutcome


@dataclass(frozen=True, slots=True)
class ExportChoice:
    """What of a run is exported, and how much of it where a format has room for some."""

    case: bool = True
    """Whether trials tell of their cases: question, expected and metadata."""
    failed: bool = False
    """Only trials whose verdict is `fail`."""
    target: str | None = None
    """Only this column, or the columns of this target; None: all."""
    base: RunBase | None = None
    """What the run is compared with; None: its own base."""
    rows: int = 2000
    """Trials that a page shows at most."""
    chars: int = 60_000
    """Characters of a comment at most."""


def chosen_lines(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[TrialLine]:
    """Stream the trials that are exported, in dataset order: a run's size costs no memory."""
    wanted = {column.name for column in chosen_columns(db, run, choice)}
    which = (TrialOutcome.FAILED,) if choice.failed else ()
    for line in report_queries.lines(db, run.id, which):
        if line.column in wanted:
            yield line


def chosen_columns(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> list[ColumnRow]:
    """Return the columns that are exported, in their order."""
    return [
        column
        for column in run_queries.columns(db, run.id)
        if choice.target in (None, column.name, column.target)
    ]
