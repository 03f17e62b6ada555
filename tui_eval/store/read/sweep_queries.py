"""What a sweep has measured: its levels, and the calls of each."""

import sqlite3
from typing import NamedTuple

from tui_eval.model.runs.sweep_plan import SweepCall

_BUSY = "(a.error_kind IS 'rate_limit' OR a.status IN (429, 503, 529))"
"""How an endpoint says that it has too much to do; 529: what some say in place of 503."""


class SweepLevel(NamedTuple):
    """One level of a sweep, whole or not."""

    number: int
    """From 0, in the order in which they were begun."""
    level: int
    """Calls in flight."""
    first: int
    """The place of its first trial."""
    warm_up: int
    """Its first trials, which are not counted."""
    calls: int
    """The trials that are counted."""
    ended: bool
    """Whether it went undisturbed to its end; else it is under way, or was broken off."""

    @property
    def after(self) -> int:
        """The place after its last trial."""
        return self.first + self.warm_up + self.calls


def sweep_levels(db: sqlite3.Connection, run: int) -> list[SweepLevel]:
    """Return all levels that were begun, in their order; none: the run is no sweep."""
    rows = db.execute(
        "SELECT number, level, first, warm_up, calls, ended_at IS NOT NULL FROM sweep_levels "
        "WHERE run = ? ORDER BY number",
        (run,),
    )
    return [
        SweepLevel(number, level, first, warm_up, calls, bool(ended))
        for number, level, first, warm_up, calls, ended in rows
    ]


def sweep_calls(db: sqlite3.Connection, run: int, of: SweepLevel) -> list[SweepCall]:
    """Return the calls of a level that have ended, in the order of its trials.

    A trial's first attempt is its call: whatever is asked of it later was not part of the level.
    """
    rows = db.execute(
        "SELECT a.sent_at, a.call_s, a.state = 'answered', "
        f"{_BUSY}, a.output_tokens, t.place FROM trials t "
        "JOIN attempts a ON a.trial = t.id AND a.number = 1 "
        "WHERE t.run = ? AND t.place >= ? AND t.place < ? AND a.call_s IS NOT NULL "
        "ORDER BY t.place",
        (run, of.first, of.after),
    )
    counted_from = of.first + of.warm_up
    return [
        SweepCall(begun, took, bool(answered), bool(refused), tokens, place >= counted_from)
        for begun, took, answered, refused, tokens, place in rows
    ]
