"""A file of a run that lies beside the store, and holds nothing that the store does not have.

It may be deleted at any time, and is written by whoever gains by it: engines and readers of the
store know nothing of it. What cannot be kept there (a folder that is not to be written, a disk that
is nearly full) is found in the store each time.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

from tui_eval.store.migrations.script import run_script

LEAST_FREE: Final = 1 << 30
"""Bytes of the disk that are left to the store and its runs."""
_BUSY_S: Final = 0.2
_RUN: Final = "CREATE TABLE run (created_at REAL NOT NULL);\n"


@dataclass(frozen=True, slots=True)
class RunFileKind:
    """What a file holds."""

    format: int
    """Of all that is in it, above 0: a file with another number is made anew."""
    schema: str
    """The statements that make its tables; the table `run` is there already."""
    page_size: int = 4096
    """Bytes; larger ones let long rows be read in fewer steps."""


class RunFile:
    """One such file, open; every method is for one thread at a time."""

    KIND: ClassVar[RunFileKind]
    """What it holds."""

    def __init__(self, file: Path, created_at: float) -> None:
        """Open it, or make it anew where it is not there, damaged, or of another run.

        Args:
            file: Where it lies.
            created_at: When the run was created; another run may have had its name.

        Raises:
            sqlite3.Error: it cannot be made.
            OSError: likewise.
        """
        self._folder = file.parent
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self.db = _recognised(file, created_at, self.KIND)
        except sqlite3.OperationalError:  # in use, or not to be opened: no reason to remove it
            raise
        except sqlite3.DatabaseError:
            remove(file)
            self.db = _recognised(file, created_at, self.KIND)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Write all that is written inside, or nothing of it.

        Raises:
            sqlite3.Error: it cannot be written.
            OSError: the disk is nearly full.
        """
        if shutil.disk_usage(self._folder).free < LEAST_FREE:
            raise OSError("the disk is nearly full")
        with _transaction(self.db):
            yield self.db

    def close(self) -> None:
        """Close it."""
        self.db.close()


def remove(file: Path) -> None:
    """Remove a file with its log; nothing happens where it is not there.

    Raises:
        OSError: it cannot be removed.
    """
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _recognised(file: Path, created_at: float, kind: RunFileKind) -> sqlite3.Connection:
    os.close(os.open(file, os.O_CREAT | os.O_RDWR, 0o600))
    db = sqlite3.connect(file, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute(f"PRAGMA page_size = {kind.page_size}")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")  # what is lost is found again
        with _transaction(db):
            if _format(db) == 0:
                run_script(db, _RUN + kind.schema)
                db.execute("INSERT INTO run VALUES (?)", (created_at,))
                db.execute(f"PRAGMA user_version = {kind.format}")
        _refuse_foreign(db, created_at, kind)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_foreign(db: sqlite3.Connection, created_at: float, kind: RunFileKind) -> None:
    if _format(db) != kind.format:
        raise sqlite3.DatabaseError("it is of another version")
    if db.execute("SELECT created_at FROM run").fetchone() != (created_at,):
        raise sqlite3.DatabaseError("it is of another run")


def _format(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
