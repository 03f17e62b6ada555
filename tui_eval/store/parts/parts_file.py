"""What the parts of a large run came to, kept in a file beside the store.

It holds nothing that the store does not have, may be deleted at any time, and is written by whoever
counts: engines and readers of the store know nothing of it. Where it cannot be kept (a folder that
is not to be written, a disk that is nearly full) the parts are counted each time.
"""

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.store.migrations.script import run_script
from tui_eval.store.parts.division import Division

FORMAT: Final = 2
"""Of all that is kept in it: another number, and everything is counted anew."""
_LEAST_FREE: Final = 1 << 30
"""Bytes of the disk that are left to the store and its runs."""
_BUSY_S: Final = 0.2
_ANSWERS: Final = 32
"""Lists and groups that are kept; a list of a million trials takes 4 MB."""
_SCHEMA: Final = """
CREATE TABLE run (created_at REAL NOT NULL);
CREATE TABLE stands (
    figures TEXT PRIMARY KEY,
    change INTEGER NOT NULL,
    division TEXT NOT NULL,             -- JSON, as the next one
    newest TEXT NOT NULL
);
CREATE TABLE parts (
    figures TEXT NOT NULL,
    part INTEGER NOT NULL,
    content TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (figures, part)
);
CREATE TABLE answers (
    id INTEGER PRIMARY KEY,             -- the higher the later it was kept
    name TEXT NOT NULL UNIQUE,
    rests_on TEXT NOT NULL,             -- JSON: trials, newest change and what is known of it
    content BLOB NOT NULL,
    checksum INTEGER NOT NULL
);
"""


@dataclass(frozen=True, slots=True)
class Stand:
    """What figures in the file rest on."""

    change: int
    """The store's newest change when they were counted."""
    division: Division
    newest: tuple[int, float | None] | None
    """See `division.newest`: what the store says of that change now must be the same."""


class PartsFile:
    """The file of one run."""

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

    def stand(self, figures: str) -> Stand | None:
        """Return what figures rest on; None: there are none of that name."""
        row = self._db.execute(
            "SELECT change, division, newest FROM stands WHERE figures = ?", (figures,)
        ).fetchone()
        if row is None:
            return None
        newest = json.loads(row[2])
        return Stand(
            row[0], Division(*json.loads(row[1])), None if newest is None else tuple(newest)
        )

    def contents(self, figures: str) -> dict[int, str]:
        """Return the parts of figures, as they were given.

        Raises:
            sqlite3.DatabaseError: one is not what was written.
        """
        found: dict[int, str] = {}
        for part, content, checksum in self._db.execute(
            "SELECT part, content, checksum FROM parts WHERE figures = ?", (figures,)
        ):
            if _checksum(content) != checksum:
                raise sqlite3.DatabaseError("what is kept of a part is damaged")
            found[part] = content
        return found

    def keep(
        self, figures: str, stand: Stand, parts: Iterable[tuple[int, str]], since: Stand | None
    ) -> bool:
        """Put parts in, those that are there and not given stay.

        Args:
            figures: Whose parts.
            stand: What all of them rest on now.
            parts: Those that were counted anew.
            since: What the others rest on.

        Returns:
            False where another process has written since: nothing was taken.

        Raises:
            sqlite3.Error: they cannot be written.
            OSError: likewise, or the disk is nearly full.
        """
        self._see_that_there_is_room()
        self._db.execute("BEGIN IMMEDIATE")
        try:
            taken = self.stand(figures) == since
            if taken:
                divided = stand.division
                self._db.execute(
                    "INSERT OR REPLACE INTO stands VALUES (?, ?, ?, ?)",
                    (
                        figures,
                        stand.change,
                        json.dumps([divided.trials, divided.cases, divided.size]),
                        json.dumps(stand.newest),
                    ),
                )
                self._db.executemany(
                    "INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)",
                    ((figures, part, content, _checksum(content)) for part, content in parts),
                )
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise
        return taken

    def answer(self, name: str, rests_on: Sequence[object]) -> bytes | None:
        """Return an answer that rests on the same; None: there is none.

        Raises:
            sqlite3.DatabaseError: it is not what was written.
        """
        row = self._db.execute(
            "SELECT content, checksum FROM answers WHERE name = ? AND rests_on = ?",
            (name, json.dumps(rests_on)),
        ).fetchone()
        if row is None:
            return None
        if zlib.crc32(row[0]) != row[1]:
            raise sqlite3.DatabaseError("an answer that is kept is damaged")
        return bytes(row[0])

    def keep_answer(self, name: str, rests_on: Sequence[object], content: bytes) -> None:
        """Keep an answer instead of any of its name; of many the oldest goes.

        Raises:
            sqlite3.Error: it cannot be written.
            OSError: likewise, or the disk is nearly full.
        """
        self._see_that_there_is_room()
        self._db.execute(
            "INSERT OR REPLACE INTO answers (name, rests_on, content, checksum) "
            "VALUES (?, ?, ?, ?)",
            (name, json.dumps(rests_on), content, zlib.crc32(content)),
        )
        self._db.execute(
            "DELETE FROM answers WHERE id NOT IN (SELECT id FROM answers ORDER BY id DESC LIMIT ?)",
            (_ANSWERS,),
        )

    def _see_that_there_is_room(self) -> None:
        if shutil.disk_usage(self._file.parent).free < _LEAST_FREE:
            raise OSError("the disk is nearly full")

    def close(self) -> None:
        """Close it."""
        self._db.close()


def remove(file: Path) -> None:
    """Remove the file with its log; nothing happens where it is not there.

    Raises:
        OSError: it cannot be removed.
    """
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)


def _checksum(content: str) -> int:
    return zlib.crc32(content.encode())


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
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = OFF")  # what is lost is counted again
        db.execute("BEGIN IMMEDIATE")
        if _version(db) == 0:
            run_script(db, _SCHEMA)
            db.execute("INSERT INTO run VALUES (?)", (created_at,))
            db.execute(f"PRAGMA user_version = {FORMAT}")
        db.execute("COMMIT")
        _refuse_foreign(db, created_at)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_foreign(db: sqlite3.Connection, created_at: float) -> None:
    if (
        _version(db) != FORMAT
        or db.execute("SELECT created_at FROM run").fetchone()[0] != created_at
    ):
        raise sqlite3.DatabaseError("it is of another run or version")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
