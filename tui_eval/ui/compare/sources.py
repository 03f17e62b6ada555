"""What a comparison's sides are read from, as long as its screen is open."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tui_eval.reports.comparison.baseline.base import run_base
from tui_eval.reports.comparison.baseline.baseline_file import BaselineFile, BaselineFileError
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import TrialRow

_NO_TEXTS = "A baseline file has verdicts and no texts."


class SideSource(Protocol):
    """A run, a column of one, or a baseline file."""

    @property
    def run(self) -> int | None:
        """The run that has the texts; None: nobody has them."""

    @property
    def no_texts(self) -> str:
        """Why there is no output of a case; empty: there may be one."""

    def side(self, db: sqlite3.Connection) -> Side:
        """Read which columns it has.

        Raises:
            UnknownRunError: the run was deleted.
            ValidationError: a version that knew more has made the run.
            BaselineFileError: a file is no baseline.
            OSError: it cannot be read.
        """

    def stamp(self, db: sqlite3.Connection) -> int:
        """Return a number that is another one where what it says may have changed."""

    def live(self, db: sqlite3.Connection) -> bool:
        """Return whether an engine works on it; raises `UnknownRunError`."""

    def trials(self, db: sqlite3.Connection, column: str, case_id: str) -> Sequence[TrialRow]:
        """Return the trials of a case in a column, by their epochs; none: they are not there."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """A run, or one column of it."""

    run: int
    column: str | None = None
    """The only one that is looked at; None: all."""
    no_texts: str = ""

    def side(self, db: sqlite3.Connection) -> Side:
        """Read which columns it has (see `SideSource.side`)."""
        return RunSide(db, run_queries.run(db, self.run), self.column)

    def stamp(self, db: sqlite3.Connection) -> int:
        """Return the run's last change."""
        return run_queries.last_change(db, self.run)

    def live(self, db: sqlite3.Connection) -> bool:
        """Return whether an engine works on the run."""
        return run_queries.run(db, self.run).live

    def trials(self, db: sqlite3.Connection, column: str, case_id: str) -> Sequence[TrialRow]:
        """Return the trials of a case in a column, by their epochs."""
        ids = comparison_queries.trial_ids(db, self.run, column, case_id)
        return [row for one in ids if (row := trial_rows.trial(db, one)) is not None]


@dataclass(frozen=True, slots=True)
class FileSource:
    """A baseline file, read again each time."""

    path: Path
    run: int | None = None
    no_texts: str = _NO_TEXTS

    def side(self, db: sqlite3.Connection) -> Side:
        """Read the file (see `SideSource.side`)."""
        return BaselineFile(self.path)

    def stamp(self, db: sqlite3.Connection) -> int:
        """Return when the file was written; 0: it is not there."""
        try:
            return self.path.stat().st_mtime_ns
        except OSError:
            return 0

    def live(self, db: sqlite3.Connection) -> bool:
        """Return that nobody works on it."""
        return False

    def trials(self, db: sqlite3.Connection, column: str, case_id: str) -> Sequence[TrialRow]:
        """Return none."""
        return ()


@dataclass(frozen=True, slots=True)
class KeptFileSource:
    """The baseline file that a run was launched to be compared with, as it was then."""

    of_run: int
    """That run."""
    run: int | None = None
    no_texts: str = _NO_TEXTS

    def side(self, db: sqlite3.Connection) -> Side:
        """Read what was kept (see `SideSource.side`)."""
        base = run_base(db, run_queries.run(db, self.of_run))
        if base.side is None:
            raise BaselineFileError(base.why or "")
        return base.side

    def stamp(self, db: sqlite3.Connection) -> int:
        """Return that it never changes."""
        return 0

    def live(self, db: sqlite3.Connection) -> bool:
        """Return that nobody works on it."""
        return False

    def trials(self, db: sqlite3.Connection, column: str, case_id: str) -> Sequence[TrialRow]:
        """Return none."""
        return ()
