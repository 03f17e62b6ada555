"""How each column of a run differs: from the run's base, else from its first column."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from tui_eval.reports.comparison.baseline.base import base_comparison
from tui_eval.reports.comparison.comparison import ComparisonRow, columns_compared
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.read import run_counts, run_queries


@dataclass(frozen=True, slots=True)
class Versus:
    """What the columns of a run are compared with, and how they differ from it."""

    base: str | None
    """The name of the run or file that they are compared with; None: it is the first column."""
    rows: Mapping[int, ComparisonRow]
    """By the column's index; only those that are compared with anything."""
    settled: bool
    """Whether nothing more will happen by itself. Before that a row's word decides nothing: whoever
    looks again and again at a p sees one below 0.05 sooner or later."""


def versus(db: sqlite3.Connection, run_id: int) -> Versus | None:
    """Compare the columns of a run; None: there is nothing to compare them with.

    Raises:
        UnknownRunError: there is no such run.
    """
    run = run_queries.run(db, run_id)
    columns = run_queries.columns(db, run_id)
    total, _ = run_counts.board(db, run_id)
    settled = run.staged and total.settled == total.total
    against = base_comparison(db, run)
    rows = {one.index: against.rows[one.name] for one in columns if one.name in against.rows}
    if rows:
        return Versus(against.base.name, rows, settled)
    if len(columns) < 2:
        return None
    first, *others = columns
    try:
        side = RunSide(db, run)
    except ValidationError:  # of a version that knew more: its rules are not ours to guess
        return None
    compared = columns_compared(side, side, [(first.name, other.name) for other in others])
    by_index = (other.index for other in others)
    return Versus(None, dict(zip(by_index, compared, strict=True)), settled)
