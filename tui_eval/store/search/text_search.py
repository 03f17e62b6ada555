"""Finding a text in the trials of a run, a step at a time.

Looked into are the case's id, what was asked about it, what the trial answered, its error, what
scorers said of it and its note; letters match whatever their case. A step takes a fraction of a
second, so that whoever asks can show what is found so far, and stop. What no step has come to yet
is not in the answer, and `searched` says so.

A large run's texts are gathered in a file as they are read (`gathered`): the next search finds
them there.
"""

import logging
import sqlite3
import time
from array import array
from collections.abc import Sequence
from itertools import compress
from pathlib import Path

from tui_eval.store.location import find_file
from tui_eval.store.read import run_queries
from tui_eval.store.search.asked_texts import AskedTexts
from tui_eval.store.search.folding import fold
from tui_eval.store.search.search_index import IndexPosition, SearchIndex
from tui_eval.store.search.views import Places
from tui_eval.store.text import unpack_text

log = logging.getLogger(__name__)

GATHERED_FROM = 20_000
"""Trials from which on a run's texts are gathered: fewer are read in a moment."""
_STEP_S = 0.05
_SLICE = 20_000
"""Places of which gathered texts are searched at once: some hundredths of a second."""
_MOST_BYTES = 8 << 20
"""Of texts that are read before they are put away."""
_LOOK = 64
"""Trials between two looks at the clock."""
_BETWEEN = "\0"
"""Stands between the texts of a trial, and in none of them."""
_TEXTS = (
    "SELECT t.change, t.id, t.place, c.id, o.text, t.error_message, "
    "(SELECT CAST(group_concat(s.reason, char(0)) AS BLOB) FROM scores s "
    "WHERE s.trial = t.id AND s.current = 1), "
    "(SELECT n.text FROM notes n WHERE n.trial = t.id AND n.current = 1), c.data "
    "FROM trials t JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "LEFT JOIN outputs o ON o.id = t.output "
    "WHERE t.run = ?1 AND t.change >= ?2 AND (t.change > ?2 OR t.id > ?3) "
    "ORDER BY t.change, t.id"
)


class SearchLibrary:
    """Where a run's texts are: in the store, those of a large run gathered beside it too.

    Everything is for one thread at a time.
    """

    def __init__(self, store: Path, run: int) -> None:
        """Say which run; nothing is opened.

        Args:
            store: The store's file.
            run: The run.
        """
        self._store = store
        self._run = run
        self._gathered: SearchIndex | None = None
        self._tried = False
        self._asked: AskedTexts | None = None

    def total(self, db: sqlite3.Connection) -> int:
        """Return how many trials the run has by now."""
        row = db.execute("SELECT max(place) + 1 FROM trials WHERE run = ?", (self._run,)).fetchone()
        return int(row[0] or 0)

    def gathered(self, db: sqlite3.Connection) -> SearchIndex | None:
        """Return what is gathered of a large run; None: it is small, or nothing can be kept."""
        if not self._tried and self.total(db) >= GATHERED_FROM:
            self._tried = True
            run = run_queries.run(db, self._run)
            try:
                self._gathered = SearchIndex(find_file(self._store, run.name), run.created_at)
                self._gathered.suit(run_queries.change(db))
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
        return self._gathered

    def matches(
        self, gathered: SearchIndex, needle: bytes, first: int, beyond: int
    ) -> tuple[int, list[int]] | None:
        """Search gathered texts, see `SearchIndex.matches`; None: they cannot be read."""
        try:
            return gathered.matches(needle, first, beyond)
        except sqlite3.Error as error:
            self._give_up(error)
            return None

    def read_on(
        self, db: sqlite3.Connection, since: IndexPosition, seconds: float
    ) -> tuple[list[tuple[int, bytes]], IndexPosition]:
        """Read the texts of trials that changed after a mark, as many as there is time for.

        Returns:
            Folded texts by place, and up to where they were read: `since` where no trial is left.
        """
        until = time.monotonic() + seconds
        found: list[tuple[int, bytes]] = []
        size, mark = 0, since
        if self._asked is None:
            self._asked = AskedTexts(db, self._run)
        rows = db.execute(_TEXTS, (self._run, *since))
        for n, (change, trial, place, *texts, case) in enumerate(rows, 1):
            folded = _folded([*texts, self._asked.of(case)])
            found.append((place, folded))
            size += len(folded)
            mark = IndexPosition(change, trial)
            if size > _MOST_BYTES or (n % _LOOK == 0 and time.monotonic() > until):
                break
        rows.close()  # so that no reader holds the store's log
        gathered = self.gathered(db)
        if found and gathered is not None:
            try:
                gathered.add(found, since, mark)
            except (sqlite3.Error, OSError) as error:
                self._give_up(error)
        return found, mark

    def close(self) -> None:
        """Close what was opened."""
        if self._gathered is not None:
            self._gathered.close()
            self._gathered = None

    def _give_up(self, error: Exception) -> None:
        log.info("texts are searched in the store alone: %s", error)
        self.close()


def _folded(texts: Sequence[str | bytes | None]) -> bytes:
    """Put the texts of a trial together: nothing is found across them."""
    return fold(_BETWEEN.join([_apart(unpack_text(text)) for text in texts if text]))


def _apart(text: str) -> str:
    return text.replace(_BETWEEN, "\ufffd") if _BETWEEN in text else text


class TextSearch:
    """One search; goes on where trials change."""

    def __init__(self, library: SearchLibrary, text: str) -> None:
        """Begin nothing yet.

        Args:
            library: The run's texts.
            text: What is sought, to the letter but for its case.
        """
        self._library = library
        self._needle = fold(_apart(text))
        self._mark: IndexPosition | None = None
        """Up to where it has read the store; None: it has not begun."""
        self._slice = self._slices = 0
        """Places of gathered texts: from where on they are not searched yet, and beyond them."""
        self.hits = bytearray()
        """By place, whether a trial has it; shorter than the run where nobody has looked."""
        self.searched = 0
        """How many trials have been looked at."""
        self.total = 0
        """How many there are."""
        self.complete = False
        """Whether all have been looked at once; what changed since is looked at by `step`."""

    def step(self, db: sqlite3.Connection) -> bool:
        """Search on for a moment.

        Returns:
            Whether anything is left; where not, calling it again looks at what changed since.
        """
        self.total = self._library.total(db)
        if self._mark is None:
            self._begin(db)
        assert self._mark is not None
        if self._slice < self._slices:
            self._search_gathered(db)
            return True
        texts, mark = self._library.read_on(db, self._mark, _STEP_S)
        for place, folded in texts:
            self._set(place, self._needle in folded)
        self.searched = min(self.searched + len(texts), self.total)
        left, self._mark = mark != self._mark, mark
        if not left:
            self.complete, self.searched = True, self.total
        return left

    def _begin(self, db: sqlite3.Connection) -> None:
        gathered = self._library.gathered(db)
        self.hits = bytearray(self.total)
        try:
            self._mark = IndexPosition() if gathered is None else gathered.mark()
        except sqlite3.Error:
            self._mark = IndexPosition()
        self._slices = 0 if self._mark == IndexPosition() else self.total

    def _search_gathered(self, db: sqlite3.Connection) -> None:
        until = time.monotonic() + _STEP_S
        while True:
            gathered = self._library.gathered(db)
            beyond = self._slice + _SLICE
            found = None
            if gathered is not None:
                found = self._library.matches(gathered, self._needle, self._slice, beyond)
            if found is None:  # the file has gone bad: everything is read from the store
                self._mark, self._slices, self.searched = IndexPosition(), 0, 0
                return
            self.searched = min(self.searched + found[0], self.total)
            for place in found[1]:
                self._set(place, True)
            self._slice = beyond
            if self._slice >= self._slices or time.monotonic() > until:
                return

    def _set(self, place: int, hit: bool) -> None:
        if place >= len(self.hits):
            self.hits.extend(bytes(place + 1 - len(self.hits)))
        self.hits[place] = hit


def places_with_hits(places: Places | None, hits: bytearray) -> Places:
    """Return the places that have a hit, in the order given.

    Args:
        places: The places; None: all, in dataset order.
        hits: See `TextSearch.hits`.
    """
    if places is None:
        return array("I", compress(range(len(hits)), hits))
    known = len(hits)
    return array("I", (place for place in places if place < known and hits[place]))
