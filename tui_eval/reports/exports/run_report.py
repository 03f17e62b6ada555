"""What reports for people say of a run: its results, and how it differs from its base."""

import sqlite3
from collections.abc import Sequence, Set
from dataclasses import dataclass

from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.comparison.baseline.base import BaseComparison, base_comparison
from tui_eval.reports.comparison.comparison import (
    ComparedRows,
    ComparisonChoice,
    ComparisonRow,
    compare,
)
from tui_eval.reports.comparison.flips import Flip
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_columns
from tui_eval.reports.results import Results, results
from tui_eval.store.read import report_queries
from tui_eval.store.rows import RunRow


@dataclass(frozen=True, slots=True)
class RunReport:
    """A run as reports show it, read in one moment."""

    results: Results
    columns: Sequence[ColumnResults]
    """Those that are exported."""
    base: BaseComparison | None
    """None: it has not finished."""

    flips: Sequence[Flip] = ()
    """The cases of those columns that came to something else than in the base, worse first."""

    @property
    def comparison(self) -> ComparedRows | None:
        """The comparison of the run with its base; None: there is none."""
        return None if self.base is None else self.base.comparison

    @property
    def base_name(self) -> str:
        """The base's name; empty: there is none."""
        return "" if self.base is None else self.base.base.name or ""

    @property
    def compared(self) -> list[ComparisonRow]:
        """How those columns differ from the base's, where it has them."""
        rows = {} if self.base is None else self.base.rows
        return [rows[of.column.name] for of in self.columns if of.column.name in rows]

    def column_of(self, flip: Flip) -> str:
        """Return the run's column that a flip is in."""
        assert self.comparison is not None, "it has flips"
        return self.comparison.rows[flip.row].columns.b


def run_report(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> RunReport:
    """Read what a report says of a run."""
    found = results(db, run.id, compared=choice.base is None)
    names = {column.name for column in chosen_columns(db, run, choice)}
    base = found.base
    with report_queries.moment(db):
        if choice.base is not None:
            base = base_comparison(db, run, choice.base)
        flips = _flips(base, names)
    columns = [of for of in found.columns if of.column.name in names]
    return RunReport(found, columns, base, flips)


def _flips(base: BaseComparison | None, names: Set[str]) -> Sequence[Flip]:
    """Return the cases of these columns that came to something else than in the base."""
    if base is None or (rows := base.comparison) is None:
        return ()
    flips = compare(rows.a, rows.b, ComparisonChoice({})).flips
    if all(row.columns.b in names for row in rows.rows):
        return flips
    return [flip for flip in flips if rows.rows[flip.row].columns.b in names]
