"""What multiple-choice scorers expected and what was chosen, counted over listed trials."""

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence

from tui_eval.store.search.views import Condition, FilterKind, Places
from tui_eval.store.text import pack, unpack_text
from tui_eval.texts.choice_reasons import ChosenOption, choice_of

_STEP_S = 0.08
_SLICE = 4_000
"""Places that are read at once."""
_KINDS = ("choice", "likelihood")
_ROWS = (
    "SELECT t.place, s.scorer, s.reason, s.raw FROM trials t JOIN scores s ON s.trial = t.id "
    "WHERE t.run = ? AND t.place >= ? AND t.place < ? AND t.state = 'done' AND s.current = 1 "
    "AND s.scorer IN ({})"
)


def choice_scorers(db: sqlite3.Connection, run: int) -> list[str]:
    """Return the names of a run's multiple-choice scorers."""
    rows = db.execute(
        "SELECT coalesce(json_extract(s.value, '$.name'), json_extract(s.value, '$.kind')) "
        "FROM runs r, json_each(r.spec, '$.scorers') s WHERE r.id = ? "
        f"AND json_extract(s.value, '$.kind') IN {_KINDS}",
        (run,),
    )
    return [row[0] for row in rows]


def cell(scorer: str, choice: ChosenOption) -> Condition:
    """Return the condition that lists the trials of one cell."""
    return Condition(FilterKind.CHOICE, choice.words, scorer)


class Confusion:
    """How often each option was chosen where each was expected, by scorer."""

    def __init__(self, run: int, scorers: Sequence[str], listed: Places | None, total: int) -> None:
        """Begin; nothing is counted yet.

        Args:
            run: The run.
            scorers: The multiple-choice scorers.
            listed: The places of the trials that are listed; None: all.
            total: How many trials the run has.
        """
        self._run = run
        self._scorers = [pack(name) for name in scorers]
        self._listed = bytearray(b"\1" * total)
        if listed is not None:
            self._listed = bytearray(total)
            for place in listed:
                self._listed[place] = 1
        self._total = total
        self._next = 0
        self.counts: dict[str, Counter[ChosenOption]] = {name: Counter() for name in scorers}
        """By scorer."""
        self.looked = 0
        """Listed trials that have been looked at."""

    def step(self, db: sqlite3.Connection) -> bool:
        """Count on for a moment; say whether anything is left."""
        until = time.monotonic() + _STEP_S
        rows = _ROWS.format(", ".join("?" * len(self._scorers)))
        while self._next < self._total:
            first, self._next = self._next, min(self._next + _SLICE, self._total)
            bounds = (self._run, first, self._next)
            for place, scorer, reason, raw in db.execute(rows, (*bounds, *self._scorers)):
                found = choice_of(unpack_text(reason), raw) if self._listed[place] else None
                if found is not None:
                    self.counts[unpack_text(scorer)][found] += 1
            self.looked += sum(self._listed[first : self._next])
            if time.monotonic() > until:
                break
        return self._next < self._total
