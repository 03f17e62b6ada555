"""Runs that are there, and two of them compared."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tui_eval.api.run import Run
from tui_eval.api.store import store_of, up_to_date
from tui_eval.reports.comparison.comparison import ComparisonChoice
from tui_eval.reports.comparison.comparison import compare as compared
from tui_eval.reports.comparison.comparison_document import comparison_document
from tui_eval.reports.comparison.side import RunSide
from tui_eval.reports.terminal.comparison_text import comparison_text
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.statistics.paired import MARGIN
from tui_eval.store.connection import open_readable
from tui_eval.store.read import report_queries, run_queries

_WIDTH = 100


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Two runs compared, B − A."""

    document: dict[str, Any]
    """What `compare --json` prints."""
    text: str
    """What `compare` prints."""

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each pair of columns: `diff`, `diff_ci95`, `p`, `word` and more."""
        rows: list[dict[str, Any]] = self.document["rows"]
        return rows

    @property
    def flips(self) -> list[dict[str, Any]]:
        """The cases that came to something else, those that got worse first."""
        flips: list[dict[str, Any]] = self.document["flips"]
        return flips


def open_run(name: str, *, store: str | os.PathLike[str] | None = None) -> Run:
    """Return a run by its name, an unambiguous beginning of that, its label, or `last`.

    Raises:
        StoreError: there is no store, or no such run.
    """
    place = up_to_date(store_of(store))
    db = open_readable(place)
    try:
        return Run(place, run_queries.run_named(db, name).id)
    finally:
        db.close()


def runs(*, suite: str | None = None, store: str | os.PathLike[str] | None = None) -> list[Run]:
    """Return the runs there are, the newest first.

    Args:
        suite: Only those of this suite, by its name; None: all.
        store: The store's file; None: the one that commands use.
    """
    place = up_to_date(store_of(store))
    if not place.exists():
        return []
    db = open_readable(place)
    try:
        rows = run_queries.runs(db)
    finally:
        db.close()
    return [Run(place, row.id) for row in rows if suite in (None, row.suite)]


def compare(
    a: "Run | str",
    b: "Run | str",
    *,
    rows: Mapping[str, str] | None = None,
    by: Literal["tag", "scorer"] | None = None,
    scorer: str | None = None,
    margin: float = MARGIN,
    store: str | os.PathLike[str] | None = None,
) -> ComparedRuns:
    """Compare two runs case by case: is B better than A?

    Args:
        a: A run, or its name; `RUN:TARGET` is one of its columns.
        b: Likewise.
        rows: Columns of A with those of B; None: those of one name.
        by: Groups of cases, or what each scorer says.
        scorer: By this scorer's verdicts; None: by the trials' own.
        margin: The difference of rates within which two are equivalent.
        store: The store's file; None: that of the first `Run` here, else the one that commands use.

    Raises:
        StoreError: there is no such run.
        NothingToPairError: nothing of them belongs together.
    """
    known = next((one.store for one in (a, b) if isinstance(one, Run)), None)
    db = open_readable(up_to_date(store_of(store or known)))
    choice = ComparisonChoice(rows or {}, scorer, by, margin)
    try:
        with report_queries.moment(db):
            sides = []
            for one in (a, b):
                name, _, column = (one if isinstance(one, str) else one.name).partition(":")
                sides.append(RunSide(db, run_queries.run_named(db, name), column or None))
            found = compared(sides[0], sides[1], choice)
            text = comparison_text(found, width=_WIDTH, ink=AnsiStyle())
            return ComparedRuns(comparison_document(found), text)
    finally:
        db.close()
