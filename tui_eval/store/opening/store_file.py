"""A connection that knows which file it was opened on, and whether its name still leads there."""

import os
import sqlite3
from pathlib import Path

from tui_eval.store.errors import StoreMovedError


class StoreFileConnection(sqlite3.Connection):
    """A connection to a store's file.

    SQLite goes on with a file that was moved, removed or replaced: what it writes then is in no
    file that anybody finds, and what it shows is not what others see.
    """

    path: Path
    _file: tuple[int, int]
    """Its device and number."""

    def opened_on(self, path: Path) -> None:
        """Remember what the name leads to now."""
        self.path = path
        self._file = _identity(path)

    def check_place(self) -> None:
        """Look whether the name still leads to the file that is open.

        Raises:
            StoreMovedError: it does not.
        """
        try:
            same = _identity(self.path) == self._file
        except FileNotFoundError:
            same = False
        except OSError:
            return  # a folder that may not be looked into now: nobody knows
        if not same:
            raise StoreMovedError(self.path)


def check_place(db: sqlite3.Connection) -> None:
    """Look whether a store's name still leads to the file that is open.

    Raises:
        StoreMovedError: it does not.
    """
    if isinstance(db, StoreFileConnection):
        db.check_place()


def place_of(db: sqlite3.Connection) -> Path:
    """Return the store's file that a connection is to."""
    if isinstance(db, StoreFileConnection):
        return db.path
    return Path(db.execute("PRAGMA database_list").fetchone()[2])


def _identity(path: Path) -> tuple[int, int]:
    found = os.stat(path)  # noqa: PTH116 - with every commit: the quicker one
    return found.st_dev, found.st_ino
