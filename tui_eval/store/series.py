"""What charts are drawn from: a run cut into parts of time, of latency and of score.

Counted in SQL, so that a chart holds as many numbers as it has parts, whatever the run's size.
"""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import NamedTuple

from tui_eval.store.text import unpack_text

SCORE_PARTS = 11
"""0, 0.1, … 1: a score counts for the nearest."""
_TAGS = 200
"""Tags that are told apart, those with the most trials."""
_ENDED = "(a.sent_at + a.call_s)"
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
_OF_RUN = "FROM trials t JOIN attempts a ON a.trial = t.id WHERE t.run = :run"


@dataclass(frozen=True, slots=True)
class Timeline:
    """The calls of a run over time, cut into parts of equal length."""

    start: float
    """When the first call was sent, in seconds since the epoch."""
    part_s: float
    answered: Sequence[int]
    """Calls that ended with an answer, by part."""
    failed: Sequence[int]
    """Calls that ended otherwise."""
    in_flight: Sequence[float]
    """Calls that were going on, on average over the part."""
    slots: Sequence[int | None]
    """Calls that the endpoints' limits allowed at the end of the part; None: none was set yet."""
    limited: Sequence[int]
    """Calls that an endpoint refused for its rate limit (429), by part."""
    costs: Sequence[tuple[str, Sequence[float]]]
    """US dollars spent so far by the end of each part: by column, and the judges' last."""
    unpriced: int
    """Calls whose cost nobody knows; they are in no cost."""


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
    sum: float = 0.0

    @property
    def n(self) -> int:
        """How many trials have a score."""
        return sum(self.counts)


def timeline(db: sqlite3.Connection, run: int, parts: int, now: float) -> Timeline | None:
    """Cut a run into parts of time.

    Args:
        db: The connection.
        run: The run.
        parts: How many, at least 1.
        now: Where calls are in flight, the last part ends now.

    Returns:
        None where no call was made.
    """
    start, end, sent = db.execute(
        f"SELECT min(a.sent_at), max(ifnull({_ENDED}, a.sent_at)), sum(a.state = 'sent') {_OF_RUN}",
        {"run": run},
    ).fetchone()
    if start is None:
        return None
    end = max(end, now) if sent else end
    part_s = max((end - start) / parts, 1e-3)
    given = {"run": run, "start": start, "part": part_s, "last": parts - 1}
    answered, failed = [0] * parts, [0] * parts
    ended, ended_s = [0] * parts, [0.0] * parts
    begun, begun_s = [0] * parts, [0.0] * parts
    spent: dict[int, list[float]] = {}
    unpriced = 0
    limited = [0] * parts
    for first, part, col, state, n, sent_s, ended_after_s, cost, unknown, refused in db.execute(
        f"SELECT {_part('a.sent_at')}, {_part(_ENDED)}, t.col, a.state, count(*), "
        f"sum(a.sent_at - :start), sum({_ENDED} - :start), ifnull(sum(a.cost_usd), 0), "
        f"sum(a.cost_usd IS NULL), sum(a.status IS 429) {_OF_RUN} "
        "AND (a.call_s IS NOT NULL OR a.state = 'sent') GROUP BY 1, 2, 3, 4",
        given,
    ):
        begun[first] += n
        begun_s[first] += sent_s
        if part is None:
            continue  # in flight
        (answered if state == "answered" else failed)[part] += n
        ended[part] += n
        ended_s[part] += ended_after_s
        spent.setdefault(col, [0.0] * parts)[part] += cost
        unpriced += unknown if state == "answered" else 0
        limited[part] += refused
    names = dict(db.execute("SELECT idx, name FROM columns WHERE run = ?", (run,)).fetchall())
    costs = [(unpack_text(names[col]), list(accumulate(spent[col]))) for col in sorted(spent)]
    judges, unknown = _judges_cost(db, given, parts)
    if judges is not None:
        costs.append(("judges", judges))
    return Timeline(
        start=start,
        part_s=part_s,
        answered=answered,
        failed=failed,
        in_flight=_in_flight(begun, begun_s, ended, ended_s, part_s),
        slots=_slots(db, given, parts),
        limited=limited,
        costs=costs,
        unpriced=unpriced + unknown,
    )


def _part(moment: str) -> str:
    return f"max(min(CAST(({moment} - :start) / :part AS INTEGER), :last), 0)"


def _in_flight(
    begun: Sequence[int],
    begun_s: Sequence[float],
    ended: Sequence[int],
    ended_s: Sequence[float],
    part_s: float,
) -> list[float]:
    """Give the calls in flight on average over each part.

    The time spent in calls up to a moment is what has passed since each began, less what has passed
    since each ended: counts and sums of moments are all it takes.
    """
    spent = [0.0]
    n, moments = 0, 0.0
    for part in range(len(begun)):
        n += begun[part] - ended[part]
        moments += begun_s[part] - ended_s[part]
        spent.append(n * (part + 1) * part_s - moments)
    return [max(after - before, 0.0) / part_s for before, after in pairwise(spent)]


def _slots(db: sqlite3.Connection, given: dict[str, float], parts: int) -> list[int | None]:
    """Give the slots of all endpoints by part, judges' aside."""
    changes: dict[str, dict[int, int]] = {}
    for endpoint, part, concurrency, _ in db.execute(
        f"SELECT endpoint, {_part('at')}, concurrency, max(id) FROM limits "
        "WHERE run = :run GROUP BY 1, 2",
        given,
    ):
        if not unpack_text(endpoint).startswith("judge "):
            changes.setdefault(endpoint, {})[part] = concurrency
    slots: list[int | None] = []
    now: dict[str, int] = {}
    for part in range(parts):
        now.update({name: at[part] for name, at in changes.items() if part in at})
        slots.append(sum(now.values()) if now else None)
    return slots


def _judges_cost(
    db: sqlite3.Connection, given: dict[str, float], parts: int
) -> tuple[list[float] | None, int]:
    """Give what judges cost by the end of each part, and how many calls nobody knows the price of.

    None: no judge was asked.
    """
    spent, unknown, asked = [0.0] * parts, 0, False
    for part, cost, unpriced in db.execute(
        f"SELECT {_part('sent_at + call_s')}, ifnull(sum(cost_usd), 0), "
        "sum(cost_usd IS NULL AND state = 'answered') FROM judge_calls "
        "WHERE run = :run AND call_s IS NOT NULL GROUP BY 1",
        given,
    ):
        spent[part], asked = cost, True
        unknown += unpriced
    return (list(accumulate(spent)) if asked else None), unknown


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
    """Give a quantile by linear interpolation, as if each step's values were evenly apart."""
    ascending = sorted(steps)
    place = q * (sum(one.n for one in ascending) - 1)
    below = int(place)
    low, high = _ranked(ascending, below), _ranked(ascending, below + 1)
    return low + (place - below) * (high - low)


def _ranked(ascending: Sequence[_Step], rank: int) -> float:
    """Give the value of a rank, from 0; beyond the last that of the last."""
    for one in ascending:
        if rank < one.n:
            share = rank / (one.n - 1) if one.n > 1 else 0.0
            return one.least + share * (one.most - one.least)
        rank -= one.n
    return ascending[-1].most


def scores_by_target(db: sqlite3.Connection, run: int) -> list[Spread]:
    """Give how the scores of each column are spread; ungraded trials have none."""
    found = {
        col: Spread(unpack_text(name))
        for col, name in db.execute(
            "SELECT idx, name FROM columns WHERE run = ? ORDER BY idx", (run,)
        )
    }
    for col, part, n, total in db.execute(
        f"SELECT t.col, {_SCORE}, count(*), sum(t.score) FROM trials t WHERE {_SCORED} "
        "GROUP BY 1, 2",
        (run,),
    ):
        found[col].counts[part] += n
        found[col].sum += total
    return list(found.values())


def scores_by_tag(db: sqlite3.Connection, run: int) -> list[Spread]:
    """Give how the scores of each tag's trials are spread, those with the most trials first."""
    found: dict[str, Spread] = {}
    # as lists of tags: SQLite cannot tell of a tag what is no UTF-8
    for listed, part, n, total in db.execute(
        f"SELECT json_extract(c.data, '$.tags'), {_SCORE}, count(*), sum(t.score) FROM trials t "
        f"JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE {_SCORED} GROUP BY 1, 2",
        (run,),
    ):
        for tag in dict.fromkeys(json.loads(listed)) if listed is not None else ():
            spread = found.setdefault(tag, Spread(tag))
            spread.counts[part] += n
            spread.sum += total
    return sorted(found.values(), key=lambda one: (-one.n, one.name))[:_TAGS]
