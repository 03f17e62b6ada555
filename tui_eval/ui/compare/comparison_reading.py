"""Reading a comparison, all of it as of one moment; in a connection's thread."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from tui_eval.reports.comparison.baseline.baseline_file import BaselineFileError
from tui_eval.reports.comparison.comparison import By, ComparisonChoice, RunComparison, compare
from tui_eval.reports.comparison.pairing import NothingToPairError
from tui_eval.reports.comparison.side import Side
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read.report_queries import moment
from tui_eval.ui.compare.sources import SideSource


class CannotCompareError(Exception):
    """Two sides cannot be compared; the message says why."""


class NoCommonColumnsError(CannotCompareError):
    """A person must say which columns belong together."""

    def __init__(self, a: Sequence[str], b: Sequence[str]) -> None:
        super().__init__("no target of A has the name of one of B")
        self.a = a
        self.b = b


@dataclass(frozen=True, slots=True)
class ComparedSides:
    """What is compared: two sides, and which of their columns."""

    a: SideSource
    b: SideSource
    rows: Mapping[str, str] = field(default_factory=dict)
    """Columns of A with those of B; empty: those of one name."""

    def swapped(self) -> "ComparedSides":
        """Return the same with A and B in each other's place."""
        return ComparedSides(self.b, self.a, {b: a for a, b in self.rows.items()})


@dataclass(frozen=True, slots=True)
class ReadComparison:
    """A comparison, and when it was read."""

    sides: ComparedSides
    comparison: RunComparison
    at: float
    """Unix seconds."""
    stamps: tuple[int, int]
    """Of A and B, see `SideSource.stamp`."""
    live: tuple[bool, bool]
    """Whether an engine works on A, and on B: they may change any moment."""


def read_comparison(db: sqlite3.Connection, sides: ComparedSides, by: By | None) -> ReadComparison:
    """Read a comparison.

    Args:
        db: The connection.
        sides: What is compared.
        by: What it is grouped by; None: nothing.

    Raises:
        CannotCompareError: there is nothing to compare.
    """
    with moment(db):
        a, b = _opened(db, sides.a, "A"), _opened(db, sides.b, "B")
        try:
            found = compare(a, b, ComparisonChoice(sides.rows, by=by))
        except NothingToPairError as error:
            if sides.rows:  # a named column is not there any more
                raise CannotCompareError(str(error)) from None
            raise NoCommonColumnsError(a.columns, b.columns) from None
        return ReadComparison(sides, found, time.time(), stamps(db, sides), _live(db, sides))


def stamps(db: sqlite3.Connection, sides: ComparedSides) -> tuple[int, int]:
    """Return two numbers that are others where A or B may have changed."""
    return sides.a.stamp(db), sides.b.stamp(db)


def side_columns(
    db: sqlite3.Connection, sides: ComparedSides
) -> tuple[Sequence[str], Sequence[str]]:
    """Return the columns of A and of B; raises `CannotCompareError`."""
    return _opened(db, sides.a, "A").columns, _opened(db, sides.b, "B").columns


def _live(db: sqlite3.Connection, sides: ComparedSides) -> tuple[bool, bool]:
    return sides.a.live(db), sides.b.live(db)


def _opened(db: sqlite3.Connection, source: SideSource, letter: str) -> Side:
    try:
        return source.side(db)
    except UnknownRunError:
        raise CannotCompareError(f"{letter} was deleted") from None
    except ValidationError:
        raise CannotCompareError(f"{letter} was made by a later version") from None
    except BaselineFileError as error:
        raise CannotCompareError(str(error)) from None
    except OSError as error:
        raise CannotCompareError(f"{error.filename}: {error.strerror}") from None
