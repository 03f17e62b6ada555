"""What a run is compared with: what its launch chose, else its suite's baseline; how it differs.

Document, summary, gate and screens all take it from here.
"""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from tui_eval.reports.comparison.baseline.baseline_file import BaselineFile, BaselineFileError
from tui_eval.reports.comparison.comparison import (
    ComparedRows,
    ComparisonRow,
    compare_rows,
)
from tui_eval.reports.comparison.pairing import NothingToPairError
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.rows import RunRow

NO_BASELINE = "there is no baseline"


@dataclass(frozen=True, slots=True)
class RunBase:
    """What a run is compared with."""

    name: str | None
    """The other run's name, or the baseline file's; None: there is none."""
    side: Side | None
    """None: see `why`."""
    why: str | None = None
    """Why it cannot be compared, for a person; None: it can."""
    run: RunRow | None = None
    """The other run; None: it is a file, or is not there."""
    path: Path | None = None
    """Where the file was; None: it is a run."""


@dataclass(frozen=True, slots=True)
class BaseComparison:
    """How a run differs from what it is compared with."""

    base: RunBase
    comparison: ComparedRows | None = None
    """A is the base and B the run; None: see `why`."""
    why: str | None = None
    """Why there is none, for a person."""
    rows: Mapping[str, ComparisonRow] = field(default_factory=dict)
    """By the run's column; only those that the base has too."""


def run_base(db: sqlite3.Connection, run: RunRow) -> RunBase:
    """Return what a run is compared with.

    That is fixed at its launch: the run or the file that was chosen, else the suite's baseline of
    then. A run that was launched without any is compared with its suite's baseline of now, where
    that is an earlier run.
    """
    kept = baseline_queries.run_base(db, run.id)
    if kept is None:
        return _pinned(db, run)
    if kept.file is not None:
        path = Path(kept.name)
        content = baseline_queries.baseline_file(db, kept.file)
        try:
            return RunBase(path.name, BaselineFile(path, content), path=path)
        except BaselineFileError as error:  # of a version that knew more
            return RunBase(path.name, None, str(error), path=path)
    try:
        return _of_run(db, run_queries.run(db, kept.run or 0))
    except UnknownRunError:
        return RunBase(kept.name, None, f"{kept.name} was deleted")


def base_of(side: Side) -> RunBase:
    """Return a side as what a run is compared with."""
    return RunBase(side.name, side, run=side.run if isinstance(side, RunSide) else None)


def base_comparison(
    db: sqlite3.Connection, run: RunRow, base: RunBase | None = None
) -> BaseComparison:
    """Compare a run with its base, as `tui-eval compare BASE RUN` does, but for what flipped.

    A few reads in a row: put them in a `report_queries.moment`.

    Args:
        db: The connection.
        run: The run.
        base: What it is compared with in place of its own.
    """
    base = base or run_base(db, run)
    if base.side is None:
        return BaseComparison(base, why=base.why)
    try:
        found = compare_rows(base.side, RunSide(db, run))
    except NothingToPairError:
        columns = [column.name for column in run_queries.columns(db, run.id)]
        return BaseComparison(base, why=no_common_target(base.side, columns))
    except ValidationError:
        return BaseComparison(base, why=_unreadable(run))
    return BaseComparison(base, found, rows={row.columns.b: row for row in found.rows})


def vs_baseline(db: sqlite3.Connection, run: RunRow) -> dict[str, ComparisonRow]:
    """Return how each column of a run differs from its base's, by the run's column."""
    return dict(base_comparison(db, run).rows)


def no_common_target(base: Side, columns: Iterable[str]) -> str:
    """Say that a run has no column that belongs to one of its base's."""
    there, here = ", ".join(base.columns), ", ".join(columns)
    return f"no target is one of {base.name}'s, which has {there}: there are {here}"


def _pinned(db: sqlite3.Connection, run: RunRow) -> RunBase:
    pinned = baseline_queries.baseline(db, run.suite)
    if pinned is None:
        return RunBase(None, None, f"{NO_BASELINE} of {run.suite}")
    if pinned.id == run.id:
        return RunBase(None, None, f"{run.name} is the baseline itself")
    if pinned.id > run.id:
        why = f"{NO_BASELINE} before it: {pinned.name}, the one of {run.suite}, is a later run"
        return RunBase(None, None, why)
    return _of_run(db, pinned)


def _of_run(db: sqlite3.Connection, base: RunRow) -> RunBase:
    if base.stopped_by == "deletion":
        return RunBase(base.name, None, f"{base.name} is half deleted")
    try:
        return RunBase(base.name, RunSide(db, base), run=base)
    except ValidationError:
        return RunBase(base.name, None, _unreadable(base))


def _unreadable(run: RunRow) -> str:
    return f"{run.name} was made by a later version"
