"""What reports for people say of a run: its results, and how it differs from its base."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.comparison.base import BaseComparison, base_comparison
from tui_eval.reports.comparison.comparison import ComparisonRow, RunComparison
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

    @property
    def comparison(self) -> RunComparison | None:
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

    @property
    def flips(self) -> Sequence[Flip]:
        """The cases of those columns that came to something else than in the base, worse first."""
        if self.comparison is None:
            return ()
        names = {of.column.name for of in self.columns}
        return [flip for flip in self.comparison.flips if self.column_of(flip) in names]

    def column_of(self, flip: Flip) -> str:
        """Return the run's column that a flip is in."""
        assert self.comparison is not None, "it has flips"
        return self.comparison.rows[flip.row].columns.b


def run_report(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> RunReport:
    """Read what a report says of a run."""
    found = results(db, run.id, compared=choice.base is None)
    names = {column.name for column in chosen_columns(db, run, choice)}
    base = found.base
    if choice.base is not None:
        with report_queries.moment(db):
            base = base_comparison(db, run, choice.base)
    return RunReport(found, [of for of in found.columns if of.column.name in names], base)
