"""The texts of a large run, gathered in a file of their own so that they are searched quickly.

It is grown by whoever searches. Where it cannot be kept texts are read from the store each time.
"""

import json
from collections.abc import Sequence
from typing import ClassVar, Final, NamedTuple

from tui_eval.store.run_file import RunFile, RunFileKind

_KIND: Final = RunFileKind(
    3,
    """
    CREATE TABLE texts (place INTEGER PRIMARY KEY, folded BLOB NOT NULL);
    CREATE TABLE stand (change INTEGER NOT NULL, trial INTEGER NOT NULL);
    INSERT INTO stand VALUES (-1, 0);   -- as an IndexPosition begins
    """,
    page_size=16384,
)


class IndexPosition(NamedTuple):
    """Where in the order of changes a run's trials have been read up to."""

    change: int = -1
    trial: int = 0
    """The id of the last one of that change."""


class SearchIndex(RunFile):
    """The file of one run."""

    KIND: ClassVar[RunFileKind] = _KIND

    def mark(self) -> IndexPosition:
        """Return up to where it has the run's texts."""
        return IndexPosition(*self.db.execute("SELECT change, trial FROM stand").fetchone())

    def matches(self, needle: bytes, first: int, beyond: int) -> tuple[int, list[int]]:
        """Search the texts from one place up to another for a folded needle.

        Returns:
            How many texts there are, and the places of those that have it.
        """
        texts, listed = self.db.execute(
            "SELECT count(*), json_group_array(place) FILTER (WHERE instr(folded, ?)) FROM texts "
            "WHERE place >= ? AND place < ?",
            (needle, first, beyond),
        ).fetchone()
        return texts, json.loads(listed)

    def suit(self, change: int) -> None:
        """Clear the index where it is ahead of the store, which was restored from a copy."""
        if self.mark().change > change:
            with self.writing() as db:
                db.execute("DELETE FROM texts")
                db.execute("UPDATE stand SET change = ?, trial = ?", IndexPosition())

    def add(
        self, texts: Sequence[tuple[int, bytes]], since: IndexPosition, mark: IndexPosition
    ) -> None:
        """Take texts by place in, and that all up to a mark are.

        Another process may gather at the same time: texts that do not follow on what is there
        are not taken.

        Raises:
            sqlite3.Error: they cannot be written.
            OSError: the disk is nearly full.
        """
        with self.writing() as db:
            if self.mark() == since:
                db.executemany("INSERT OR REPLACE INTO texts VALUES (?, ?)", texts)
                db.execute("UPDATE stand SET change = ?, trial = ?", mark)
