"""What listed trials have in common, counted a slice at a time."""

import heapq
import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import TypeAlias

from tui_eval.store.chunks.kept_answers import (
    AnswerPlace,
    keep_answer,
    known_answer,
    place_of_answer,
)
from tui_eval.store.search.folding import FOLDED_BY, fold_reason
from tui_eval.store.search.views import FAILS, STANDS, Condition, FilterKind, Places, TrialOutcome
from tui_eval.store.text import dump, unpack_text

MOST = 500
"""Groups that are told of: nobody looks through more."""
_MOST_KEPT = 20_000
"""Groups that are kept until a trial changes; more of them are counted again."""
_STEP_S = 0.08
_SLICE = 8_000
"""Places that are read at once."""


class Grouping(StrEnum):
    """What trials are grouped by.

    What scorers say that are not required stands apart: nothing has failed for it.
    """

    REASON = "reason"
    """Why a scorer does not say pass, numbers and quotes left out; or the kind of error."""
    SCORER = "scorer"
    """Who says fail of those that failed."""
    REQUIREMENT = "requirement"
    """What a judge found unmet."""
    ERROR = "error"
    TAG = "tag"
    TARGET = "target"


_OF_RUN = "t.run = ?1 AND t.place >= ?2 AND t.place < ?3"
_UNMET = (  # by the scores that do not say pass: a run that was merged has its ids in any order
    f"FROM (SELECT id FROM trials t WHERE {_OF_RUN}) slice "
    "CROSS JOIN scores s INDEXED BY scores_unmet ON s.trial = slice.id "
    "CROSS JOIN trials t ON t.id = slice.id "
    "WHERE t.state = 'done' AND s.current = 1 AND s.verdict <> 'pass'"
)
_ERRORS = (
    f"SELECT t.place, '', t.error_kind, 'error', 1 FROM trials t WHERE {_OF_RUN} "
    f"AND {STANDS[TrialOutcome.ERRORS]} AND t.error_kind IS NOT NULL"
)
_ROWS: dict[Grouping, str] = {
    # place, scorer, value as stored, kind, whether it decides; in the order of places
    Grouping.REASON: (
        f"SELECT t.place, s.scorer, s.reason, 'reason', s.required {_UNMET} "
        f"UNION ALL {_ERRORS} ORDER BY 1"
    ),
    Grouping.SCORER: (
        f"SELECT t.place, '', s.scorer, 'scorer', s.required {_UNMET} "
        f"AND s.verdict = 'fail' AND {FAILS} ORDER BY 1"
    ),
    Grouping.REQUIREMENT: (
        f"SELECT t.place, s.scorer, s.raw, 'requirement', s.required {_UNMET} "
        "AND json_extract(s.raw, '$.form') = 'requirements' ORDER BY 1"
    ),
    Grouping.ERROR: f"{_ERRORS} ORDER BY 1",
    Grouping.TAG: (
        "SELECT t.place, '', json_extract(c.data, '$.tags'), 'tag', 1 FROM trials t "
        f"JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE {_OF_RUN} ORDER BY 1"
    ),
    Grouping.TARGET: (
        "SELECT t.place, '', k.name, 'target', 1 FROM trials t "
        f"JOIN columns k ON k.run = t.run AND k.idx = t.col WHERE {_OF_RUN} ORDER BY 1"
    ),
}


_COUNTED: dict[Grouping, str] = {
    # value as stored, kind, trials: where each trial has one row, and all are listed
    Grouping.TAG: (
        "SELECT json_extract(c.data, '$.tags'), 'tag', count(*) FROM trials t "
        f"JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE {_OF_RUN} GROUP BY 1"
    ),
    Grouping.TARGET: (
        "SELECT k.name, 'target', n FROM (SELECT t.run, t.col, count(*) AS n FROM trials t "
        f"WHERE {_OF_RUN} GROUP BY t.col) t JOIN columns k ON k.run = t.run AND k.idx = t.col"
    ),
}


class Groups:
    """The groups of a list; a trial may be in several, or in none."""

    def __init__(self, run: int, by: Grouping, listed: Places | None, total: int) -> None:
        """Begin; nothing is counted yet.

        Args:
            run: The run.
            by: What its trials are grouped by.
            listed: The places of those that are listed; None: all.
            total: How many trials the run has.
        """
        self._run = run
        self._by = by
        self._total = total
        self._listed = None if listed is None else _mask(listed, total)
        self._kept: AnswerPlace | None = None
        """Where its counts are kept once they are all there; None: nowhere."""
        self._next = 0
        """From which place on nothing is counted yet."""
        self.counts: Counter[Condition] = Counter()
        """Trials by what they have in common: each part lists just these."""
        self.largest: list[tuple[Condition, int]] = []
        """At most `MOST` groups, the largest first; after them those of what decides nothing."""
        self.grouped = 0
        """Trials that are in any group but those of what decides nothing."""
        self.looked = 0
        """Listed trials that have been looked at."""

    def step(self, db: sqlite3.Connection) -> bool:
        """Count on for a moment; say whether anything is left."""
        if self._next == 0 and self._listed is None:
            self._recall(db)
        until = time.monotonic() + _STEP_S
        left = self._next < self._total
        while left:
            first, self._next = self._next, min(self._next + _SLICE, self._total)
            bounds = (self._run, first, self._next)
            if self._listed is None and self._by in _COUNTED:
                self._add(db.execute(_COUNTED[self._by], bounds))
            else:
                self._count(db.execute(_ROWS[self._by], bounds))
            listed = self._listed
            n = self._next - first
            self.looked += n if listed is None else sum(listed[first : self._next])
            left = self._next < self._total
            if time.monotonic() > until:
                break
        self.largest = heapq.nsmallest(MOST, self.counts.items(), key=_rank)
        if not left:
            self._remember(db)
        return left

    def _recall(self, db: sqlite3.Connection) -> None:
        """Take what was counted before, where no trial has changed since."""
        self._kept = place_of_answer(db, self._run, f"groups {self._by} {FOLDED_BY}")
        known = None if self._kept is None else known_answer(db, self._kept)
        if known is None:
            return
        self._kept = None
        self.grouped, counts = json.loads(known)
        for kind, value, scorer, reported, n in counts:
            self.counts[Condition(FilterKind(kind), value, scorer, reported)] = n
        self.looked = self._next = self._total

    def _remember(self, db: sqlite3.Connection) -> None:
        """Keep what was counted, unless a trial has changed meanwhile."""
        kept, self._kept = self._kept, None
        if kept is None or len(self.counts) > _MOST_KEPT:
            return
        if kept == place_of_answer(db, self._run, kept.name):
            counts = [
                [part.kind, part.value, part.scorer, part.reported, n]
                for part, n in self.counts.items()
            ]
            keep_answer(db, kept, dump([self.grouped, counts]).encode())

    def _add(self, rows: Iterable[tuple[str | bytes | None, str, int]]) -> None:
        for value, kind, n in rows:
            shared = frozenset(_shared(kind, "", value, 1))
            self.grouped += n if shared else 0
            for key in shared:
                self.counts[_condition(key)] += n

    def _count(self, rows: Iterable[tuple[int, str | bytes, str | bytes | None, str, int]]) -> None:
        listed, last, last_grouped = self._listed, -1, -1
        counts: Counter[_Shared] = Counter()
        seen: set[_Shared] = set()
        for place, scorer, value, kind, decides in rows:
            if listed is not None and not listed[place]:
                continue
            if place != last:
                last = place
                seen.clear()
            for key in _shared(kind, scorer, value, decides):
                if decides and place != last_grouped:
                    last_grouped = place
                    self.grouped += 1
                if key not in seen:
                    seen.add(key)
                    counts[key] += 1
        for key, n in counts.items():
            self.counts[_condition(key)] += n


def _rank(group: tuple[Condition, int]) -> tuple[bool, int, str, str]:
    part, n = group
    return part.reported, -n, part.value, part.scorer


def _mask(listed: Places, total: int) -> bytearray:
    mask = bytearray(total)
    for place in listed:
        if place < total:
            mask[place] = 1
    return mask


_Shared: TypeAlias = tuple[str, str, str | bytes, int]
"""Kind, value, scorer and whether it decides: a `Condition` that takes no time to make."""


def _condition(shared: _Shared) -> Condition:
    kind, value, scorer, decides = shared
    return Condition(FilterKind(kind), value, unpack_text(scorer), not decides)


def _shared(
    kind: str, scorer: str | bytes, value: str | bytes | None, decides: int
) -> Sequence[_Shared]:
    """Return what a row has in common with others."""
    if value is None:
        return ()
    if kind == FilterKind.REASON:
        return ((kind, fold_reason(value), scorer, decides),)
    return [(kind, each, scorer, decides) for each in _values(kind, value)]


@lru_cache(maxsize=4096)
def _values(kind: str, value: str | bytes) -> tuple[str, ...]:
    if kind == FilterKind.TAG:
        return tuple(str(tag) for tag in json.loads(value))
    if kind == FilterKind.REQUIREMENT:
        return tuple(_unmet(value))
    return (unpack_text(value),)


def _unmet(raw: str | bytes) -> Iterator[str]:
    for part in json.loads(raw).get("parts", []):
        if part.get("value") == 0 and isinstance(part.get("text"), str):
            yield part["text"]
