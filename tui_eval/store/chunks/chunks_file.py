"""What the chunks of a large run came to, kept in a file beside the store.

It is written by whoever counts. Where it cannot be kept the chunks are counted each time.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from tui_eval.store.chunks.division import Division, HistoryMark
from tui_eval.store.run_file import RunFile, RunFileKind

FORMAT: Final = 4
"""Of all that is kept in it: another number, and everything is counted anew."""
_ANSWERS: Final = 32
"""Lists and groups that are kept; a list of a million trials takes 4 MB."""
_SCHEMA: Final = """
CREATE TABLE stands (
    figures TEXT PRIMARY KEY,
    change INTEGER NOT NULL,
    division TEXT NOT NULL,             -- JSON, as the next one
    mark TEXT NOT NULL
);
CREATE TABLE chunks (
    figures TEXT NOT NULL,
    chunk INTEGER NOT NULL,
    content TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (figures, chunk)
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
    mark: HistoryMark
    """By what the store's history up to that change is known again."""


class ChunksFile(RunFile):
    """The file of one run."""

    KIND: ClassVar[RunFileKind] = RunFileKind(FORMAT, _SCHEMA)

    def stand(self, figures: str) -> Stand | None:
        """Return what figures rest on; None: there are none of that name."""
        row = self.db.execute(
            "SELECT change, division, mark FROM stands WHERE figures = ?", (figures,)
        ).fetchone()
        if row is None:
            return None
        mark = tuple((trial, since) for trial, since in json.loads(row[2]))
        return Stand(row[0], Division(*json.loads(row[1])), mark)

    def contents(self, figures: str) -> Iterator[tuple[int, str]]:
        """Yield the chunks of figures with their numbers, as they were given: one at a time.

        Raises:
            sqlite3.DatabaseError: one is not what was written.
        """
        for chunk, content, checksum in self.db.execute(
            "SELECT chunk, content, checksum FROM chunks WHERE figures = ?", (figures,)
        ):
            if _checksum(content) != checksum:
                raise sqlite3.DatabaseError("what is kept of a chunk is damaged")
            yield chunk, content

    def keep(
        self, figures: str, stand: Stand, chunks: Iterable[tuple[int, str]], since: Stand | None
    ) -> bool:
        """Put chunks in, those that are there and not given stay.

        Args:
            figures: Whose chunks.
            stand: What all of them rest on now.
            chunks: Those that were counted anew.
            since: What the others rest on.

        Returns:
            False where another process has written since: nothing was taken.

        Raises:
            sqlite3.Error: they cannot be written.
            OSError: likewise, or the disk is nearly full.
        """
        with self.writing() as db:
            taken = self.stand(figures) == since
            if taken:
                divided = stand.division
                db.execute(
                    "INSERT OR REPLACE INTO stands VALUES (?, ?, ?, ?)",
                    (
                        figures,
                        stand.change,
                        json.dumps([divided.trials, divided.cases, divided.size]),
                        json.dumps(stand.mark),
                    ),
                )
                db.executemany(
                    "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?)",
                    ((figures, chunk, content, _checksum(content)) for chunk, content in chunks),
                )
        return taken

    def answer(self, name: str, rests_on: Sequence[object]) -> bytes | None:
        """Return an answer that rests on the same; None: there is none.

        Raises:
            sqlite3.DatabaseError: it is not what was written.
        """
        row = self.db.execute(
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
        with self.writing() as db:
            db.execute(
                "INSERT OR REPLACE INTO answers (name, rests_on, content, checksum) "
                "VALUES (?, ?, ?, ?)",
                (name, json.dumps(rests_on), content, zlib.crc32(content)),
            )
            db.execute(
                "DELETE FROM answers WHERE id NOT IN "
                "(SELECT id FROM answers ORDER BY id DESC LIMIT ?)",
                (_ANSWERS,),
            )


def _checksum(content: str) -> int:
    return zlib.crc32(content.encode())
