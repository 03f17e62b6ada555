"""What charts are drawn from: the trials of a run cut into parts of latency and of score.

Counted in SQL, so that a chart holds as many numbers as it has parts, whatever the run's size.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from tui_eval.store.text import unpack_text

SCORE_PARTS = 11
"""0, 0.1, … 1: a score counts for the nearest."""
_TAGS = 200
"""Tags that are told apart, those with the most trials."""
_SCORE = f"CAST(round(max(min(t.score, 1), 0) * {SCORE_PARTS - 1}) AS INTEGER)"
_SCORED = "t.run = ? AND t.state = 'done' AND t.verdict != 'ungraded' AND t.score IS NOT NULL"
_DECADES = range(-4, 5)
_FINE = (
    "CASE "
    + "".join(
        f"WHEN latency_s < 1e{power + 1} "
        f"THEN {at * 10_000} + CAST(latency_s * 1e{3 - power} AS INTEGER) "
        for at, power in enumerate(_DECADES)
    )
    + f"ELSE {len(_DECADES) * 10_000} END"
)
"""Numbers steps of latency that are a thousandth wide at most."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """How long the calls of outputs took that are done with."""

    part_s: float
    """How wide a part is, in seconds; the first begins at 0."""
    counts: Sequence[int]
    """Outputs by part; the last part has all that took longer too."""
    columns: Sequence[tuple[str, int, float, float]]
    """Name, outputs, p50 and p95 in seconds of each column that has any."""
    p50_s: float
    p95_s: float
    longest_s: float


@dataclass(slots=True)
class Spread:
    """How scores are spread: of a column, or of a tag."""

    name: str
    """May be foreign."""
    counts: list[int] = field(default_factory=lambda: [0] * SCORE_PARTS)
    """Trials by score, see `SCORE_PARTS`."""
    _total: float = 0.0
    _weight: float = 0.0

    def add(self, total: float, weight: float) -> None:
        """Take scores, added up with what they weigh."""
        self._total += total
        self._weight += weight

    @property
    def between(self) -> int:
        """How many trials have a score that is neither 0 nor 1, as the parts tell."""
        return sum(self.counts[1:-1])

    @property
    def n(self) -> int:
        """How many trials have a score."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """The mean score; None where there is none."""
        return self._total / self._weight if self._weight else None


def latencies(db: sqlite3.Connection, run: int, parts: int) -> Latencies | None:
    """Cut the outputs of a run into parts by how long their calls took; None: there are none.

    Outputs from the cache count with the call that made them, as in reports. Quantiles are within
    a thousandth of what reports say: the outputs are counted in fine steps, and not sorted.
    """
    steps: dict[int, list[_Step]] = {}
    for col, n, least, most in db.execute(
        f"SELECT col, count(*), min(latency_s), max(latency_s) FROM trials WHERE run = ? "
        f"AND state = 'done' AND latency_s IS NOT NULL GROUP BY col, {_FINE}",
        (run,),
    ):
        steps.setdefault(col, []).append(_Step(least, most, n))
    if not steps:
        return None
    names = dict(db.execute("SELECT idx, name FROM columns WHERE run = ?", (run,)).fetchall())
    columns = [
        (unpack_text(names[col]), sum(one.n for one in of), _quantile(of, 0.5), _quantile(of, 0.95))
        for col, of in sorted(steps.items())
    ]
    every = [one for of in steps.values() for one in of]
    longest = max(one.most for one in every)
    usual = _quantile(every, 0.99)
    # a few that took very long shall not squeeze all others into the first part
    end = longest if longest <= 2 * usual else 1.25 * usual
    part_s = max(end / parts, 1e-4)
    counts = [0] * parts
    for one in every:
        counts[min(int(one.least / part_s), parts - 1)] += one.n
    return Latencies(
        part_s, counts, columns, _quantile(every, 0.5), _quantile(every, 0.95), longest
    )


class _Step(NamedTuple):
    """Outputs whose calls took nearly as long."""

    least: float
    most: float
    n: int


def _quantile(steps: Sequence[_Step], q: float) -> float:
    """Return a quantile by linear interpolation, as if each step's values were evenly apart."""
    ascending = sorted(steps)
    place = q * (sum(one.n for one in ascending) - 1)
    below = int(place)
    low, high = _ranked(ascending, below), _ranked(ascending, below + 1)
    return low + (place - below) * (high - low)


def _ranked(ascending: Sequence[_Step], rank: int) -> float:
    """Return the value at a rank, counted from 0; past the end, the last value."""
    for one in ascending:
        if rank < one.n:
            share = rank / (one.n - 1) if one.n > 1 else 0.0
            return one.least + share * (one.most - one.least)
        rank -= one.n
    return ascending[-1].most


class PerCase(StrEnum):
    """What the scores of a case's epochs are put together to, where a case is more than a trial."""

    MEAN = "avg"
    BEST = "max"


def scores_by_target(
    db: sqlite3.Connection, run: int, per_case: PerCase | None = None
) -> list[Spread]:
    """Return how the scores of each column are spread; ungraded trials have none.

    Args:
        db: The connection.
        run: The run.
        per_case: How the means are made of cases, which weigh what they say; None: a case is a
            trial, and all weigh the same.
    """
    found = {
        col: Spread(unpack_text(name))
        for col, name in db.execute(
            "SELECT idx, name FROM columns WHERE run = ? ORDER BY idx", (run,)
        )
    }
    for col, part, n in db.execute(
        f"SELECT t.col, {_SCORE}, count(*) FROM trials t WHERE {_SCORED} GROUP BY 1, 2", (run,)
    ):
        found[col].counts[part] += n
    for col, total, weight in db.execute(
        f"SELECT col, sum(weight * score), sum(weight) FROM {_weighed(per_case)} GROUP BY 1", (run,)
    ):
        found[col].add(total, weight)
    return list(found.values())


def scores_by_tag(
    db: sqlite3.Connection, run: int, per_case: PerCase | None = None
) -> list[Spread]:
    """Return how the scores of each tag's trials are spread, those with the most trials first.

    Args:
        db: The connection.
        run: The run.
        per_case: How the means are made of cases; None: a case is a trial.
    """
    found: dict[str, Spread] = {}
    # as lists of tags: SQLite cannot tell of a tag what is no UTF-8
    for listed, part, n in db.execute(
        f"SELECT json_extract(c.data, '$.tags'), {_SCORE}, count(*) FROM trials t "
        f"JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE {_SCORED} GROUP BY 1, 2",
        (run,),
    ):
        for tag in _tags(listed):
            found.setdefault(tag, Spread(tag)).counts[part] += n
    for listed, total, weight in db.execute(
        "SELECT json_extract(c.data, '$.tags'), sum(weight * score), sum(weight) "
        f"FROM {_weighed(per_case)} t JOIN cases c ON c.run = t.run AND c.seq = t.seq GROUP BY 1",
        (run,),
    ):
        for tag in _tags(listed):
            found[tag].add(total, weight)
    return sorted(found.values(), key=lambda one: (-one.n, one.name))[:_TAGS]


def _tags(listed: str | None) -> list[str]:
    return [] if listed is None else [*dict.fromkeys(json.loads(listed))]


def _weighed(per_case: PerCase | None) -> str:
    """Return a table of what each case's score is in each column, and what it weighs."""
    if per_case is None:
        return f"(SELECT t.run, t.seq, t.col, 1 AS weight, t.score FROM trials t WHERE {_SCORED})"
    return (
        "(SELECT t.run, t.seq, t.col, ifnull(json_extract(c.data, '$.weight'), 1) AS weight, "
        f"{per_case}(t.score) AS score FROM trials t JOIN cases c ON c.run = t.run "
        f"AND c.seq = t.seq WHERE {_SCORED} GROUP BY t.seq, t.col)"
    )
