"""The memory that the programs of a run took together, over time."""

import json
import sqlite3
from collections.abc import Iterator, Sequence

from tui_eval.store.read.charts.working_time import WorkingTime


def memory_over_time(
    db: sqlite3.Connection, run: int, parts: int, worked: WorkingTime, part_s: float
) -> Sequence[float] | None:
    """Return the most bytes that all programs took together in each part; None: none told.

    A program counts with what it took when it was looked at last, until its attempt ended.

    Args:
        db: The connection.
        run: The run.
        parts: How many parts there are.
        worked: What they are parts of.
        part_s: How long each is, in seconds.
    """
    changes = sorted(_changes(db, run))
    if not changes:
        return None
    most, taken, at = [0] * parts, 0, 0
    for when, by in changes:
        place = worked.since_start(when) / part_s
        part = min(max(int(place), 0), parts - 1)
        for earlier in range(at + 1, part + (place > part)):  # nothing changed in them
            most[earlier] = max(most[earlier], taken)
        at, taken = part, taken + by
        most[part] = max(most[part], taken)
    return most


def _changes(db: sqlite3.Connection, run: int) -> Iterator[tuple[float, int]]:
    """Yield when programs were seen to take more or less, and how much."""
    for sent_at, call_s, samples in db.execute(
        "SELECT a.sent_at, ifnull(a.call_s, 0), r.samples FROM trials t "
        "JOIN attempts a ON a.trial = t.id JOIN attempt_records r ON r.attempt = a.id "
        "WHERE t.run = ? AND r.samples IS NOT NULL",
        (run,),
    ):
        taken, at_s = 0, 0.0
        for at_s, _, rss in json.loads(samples):
            yield sent_at + at_s, (rss or 0) - taken
            taken = rss or 0
        yield sent_at + max(at_s, call_s), -taken
