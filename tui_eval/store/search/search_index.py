"""The texts of a large run, gathered in a file of their own so that they are searched quickly.

The file lies beside the store. It holds nothing that the store does not have, may be deleted at
any time, and is grown by whoever searches: neither engines nor readers of the store know of it.
Where it cannot be kept (a folder that is not to be written, a disk that is nearly full) texts are
read from the store each time.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_FORMAT = 2
_LEAST_FREE = 1 << 30
"""Bytes of the disk that are left to the store and its runs."""
_BUSY_S = 0.2
_SCHEMA = (
    "CREATE TABLE texts (place INTEGER PRIMARY KEY, folded BLOB NOT NULL)",
    "CREATE TABLE stand (created_at REAL, change INTEGER, trial INTEGER)",
)


class IndexPosition(NamedTuple):
    """Where in the order of changes a run's trials have been read up to."""

    change: int = -1
    trial: int = 0
    """The id of the last one of that change."""


class SearchIndex:
    """The file of one run; every method is for the thread that made it, or one at a time."""

    def __init__(self, file: Path, created_at: float) -> None:
        """Open it, or make it anew where it is not there, damaged, or of another run.

        Args:
            file: Where it lies.
            created_at: When the run was created; another run may have had its name.

        Raises:
            sqlite3.Error: it cannot be made.
            OSError: likewise.
        """
        self._file = file
        self._db = _opened(file, created_at)

    def mark(self) -> IndexPosition:
        """Return up to where it has the run's texts."""
        return IndexPosition(*self._db.execute("SELECT change, trial FROM stand").fetchone())

    def matches(self, needle: bytes, first: int, beyond: int) -> tuple[int, list[int]]:
        """Search the texts from one place up to another for a folded needle.

        Returns:
            How many texts there are, and the places of those that have it.
        """
        texts, listed = self._db.execute(
            "SELECT count(*), json_group_array(place) FILTER (WHERE instr(folded, ?)) FROM texts "
            "WHERE place >= ? AND place < ?",
            (needle, first, beyond),
        ).fetchone()
        return texts, json.loads(listed)

    def suit(self, change: int) -> None:
        """Clear the index where it is ahead of the store, which was restored from a copy."""
        if self.mark().change > change:
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM texts")
            self._db.execute("UPDATE stand SET change = ?, trial = ?", IndexPosition())
            self._db.execute("COMMIT")

    def add(
        self, texts: Sequence[tuple[int, bytes]], since: IndexPosition, mark: IndexPosition
    ) -> None:
        """Take texts by place in, and that all up to a mark are.

        Another process may gather at the same time: texts that do not follow on what is there
        are not taken.
        """
        if shutil.disk_usage(self._file.parent).free < _LEAST_FREE:
            raise OSError("the disk is nearly full")
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if self.mark() == since:
                self._db.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?)", texts)
                self._db.execute("UPDATE stand SET change = ?, trial = ?", mark)
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close it."""
        self._db.close()


def _opened(file: Path, created_at: float) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        return _recognised(file, created_at)
    except sqlite3.OperationalError:  # in use, or not to be opened: no reason to throw it away
        raise
    except sqlite3.DatabaseError:
        remove(file)
        return _recognised(file, created_at)


def _recognised(file: Path, created_at: float) -> sqlite3.Connection:
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA page_size = 16384")  # of a new file: long rows are read in fewer steps
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")  # what is lost is gathered again
        db.execute("BEGIN IMMEDIATE")
        if _version(db) == 0:
            for statement in _SCHEMA:
                db.execute(statement)
            db.execute("INSERT INTO stand VALUES (?, ?, ?)", (created_at, *IndexPosition()))
            db.execute(f"PRAGMA user_version = {_FORMAT}")
        db.execute("COMMIT")
        _refuse_foreign(db, created_at)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_foreign(db: sqlite3.Connection, created_at: float) -> None:
    if (
        _version(db) != _FORMAT
        or db.execute("SELECT created_at FROM stand").fetchone()[0] != created_at
    ):
        raise sqlite3.DatabaseError("it is of another run or version")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def remove(file: Path) -> None:
    """Remove the file with its log; nothing happens where it is not there.

    Raises:
        OSError: it cannot be removed.
    """
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
