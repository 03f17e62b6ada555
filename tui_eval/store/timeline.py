"""The calls of a run over time, cut into parts of equal length.

Counted in SQL, so that it holds as many numbers as it has parts, whatever the run's size.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tui_eval.store.text import unpack_text

_ENDED = "(a.sent_at + a.call_s)"
_OF_RUN = "FROM trials t JOIN attempts a ON a.trial = t.id WHERE t.run = :run"
_OF_JUDGES = "FROM judge_calls a WHERE a.run = :run"


@dataclass(frozen=True, slots=True)
class Lane:
    """The calls to one endpoint, or to one judge, by part."""

    names: Sequence[str]
    """The columns that are asked there, or the judge; may be foreign."""
    in_flight: Sequence[float]
    """Calls that were going on, on average over the part."""
    slots: Sequence[int | None]
    """Calls that its limit allowed at the end of the part; None: none was set yet."""
    limited: Sequence[int]
    """Calls that were refused for its rate limit (429)."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened when."""

    start: float
    """When the first call was sent, in seconds since the epoch."""
    part_s: float
    answered: Sequence[int]
    """Calls of targets that ended with an answer, by part."""
    failed: Sequence[int]
    """Those that ended otherwise."""
    lanes: Sequence[Lane]
    """Every endpoint that was asked, in the order of the columns; then the judges."""
    costs: Sequence[tuple[str, Sequence[float]]]
    """US dollars spent so far by the end of each part: by column, and the judges' last."""
    unpriced: int
    """Calls whose cost nobody knows; they are in no cost."""


def timeline(db: sqlite3.Connection, run: int, parts: int, now: float) -> Timeline | None:
    """Cut a run into parts of time.

    Args:
        db: The connection.
        run: The run.
        parts: How many, at least 1.
        now: Where calls are in flight, the last part ends now.

    Returns:
        None where nobody was called.
    """
    calls = f"a.sent_at AS begun, ifnull({_ENDED}, a.sent_at) AS ended, a.state = 'sent' AS open"
    start, end, open_calls = db.execute(
        "SELECT min(begun), max(ended), sum(open) FROM "
        f"(SELECT {calls} {_OF_RUN} UNION ALL SELECT {calls} {_OF_JUDGES})",
        {"run": run},
    ).fetchone()
    if start is None:
        return None
    end = max(end, now) if open_calls else end
    part_s = max((end - start) / parts, 1e-3)
    given = {"run": run, "start": start, "part": part_s, "last": parts - 1}
    names: dict[int, str] = {}
    endpoints: dict[int, str] = {}
    for col, name, endpoint in db.execute(
        "SELECT idx, name, endpoint FROM columns WHERE run = ? ORDER BY idx", (run,)
    ):
        names[col], endpoints[col] = unpack_text(name), unpack_text(endpoint)
    answered, failed = [0] * parts, [0] * parts
    spent: dict[int, list[float]] = {}
    flights: dict[str, _Flight] = {}
    unpriced = 0
    for col, state, cost, unknown, *moments in db.execute(
        f"SELECT t.col, a.state, ifnull(sum(a.cost_usd), 0), sum(a.cost_usd IS NULL), {_MOMENTS} "
        f"{_OF_RUN} GROUP BY 1, 2, 5, 6",
        given,
    ):
        flight = flights.setdefault(endpoints[col], _Flight(parts))
        part, n = flight.add(state, *moments)
        if part is None:
            continue
        (answered if state == "answered" else failed)[part] += n
        spent.setdefault(col, [0.0] * parts)[part] += cost
        unpriced += unknown if state == "answered" else 0
    costs: list[tuple[str, Sequence[float]]] = [
        (names[col], list(accumulate(spent[col]))) for col in sorted(spent)
    ]
    asked_by: dict[str, list[str]] = {}
    for col, endpoint in endpoints.items():
        asked_by.setdefault(endpoint, []).append(names[col])
    unpriced += _add_judges(db, given, parts, flights, costs)
    slots = _slots(db, given, parts)
    none: list[int | None] = [None] * parts
    return Timeline(
        start=start,
        part_s=part_s,
        answered=answered,
        failed=failed,
        lanes=[
            flights[lane].lane(asked_by.get(lane, [lane]), part_s, slots.get(lane, none))
            for lane in (*asked_by, *(lane for lane in flights if lane not in asked_by))
            if lane in flights
        ],
        costs=costs,
        unpriced=unpriced,
    )


def _part(moment: str) -> str:
    return f"max(min(CAST(({moment} - :start) / :part AS INTEGER), :last), 0)"


_MOMENTS = (
    f"{_part('a.sent_at')}, {_part(_ENDED)}, count(*), sum(max(a.sent_at - :start, 0)), "
    f"sum(max({_ENDED} - :start, 0)), sum(a.error_kind IS 'rate_limit')"
)
"""What `_Flight.add` takes, after their state."""


class _Flight:
    """The calls to one endpoint, as they are counted."""

    def __init__(self, parts: int) -> None:
        self._begun, self._begun_s = [0] * parts, [0.0] * parts
        self._ended, self._ended_s = [0] * parts, [0.0] * parts
        self._limited = [0] * parts

    def add(
        self,
        state: str,
        begun: int,
        ended: int | None,
        n: int,
        begun_s: float,
        ended_s: float | None,
        limited: int,
    ) -> tuple[int | None, int]:
        """Count calls that began in one part and ended in another; give that, and how many.

        None in its place: they are in flight, or were lost, and how long those took nobody knows.
        """
        if ended is None and state != "sent":
            return None, n
        self._begun[begun] += n
        self._begun_s[begun] += begun_s
        if ended is not None and ended_s is not None:
            self._ended[ended] += n
            self._ended_s[ended] += ended_s
            self._limited[ended] += limited
        return ended, n

    def lane(self, names: Sequence[str], part_s: float, slots: Sequence[int | None]) -> Lane:
        """Give what came of it."""
        return Lane(names, list(self._in_flight(part_s)), slots, self._limited)

    def _in_flight(self, part_s: float) -> Iterable[float]:
        """Give the calls in flight on average over each part.

        The time spent in calls up to a moment is what has passed since each began, less what has
        passed since each ended: counts and sums of moments are all it takes.
        """
        spent = [0.0]
        n, moments = 0, 0.0
        for part in range(len(self._begun)):
            n += self._begun[part] - self._ended[part]
            moments += self._begun_s[part] - self._ended_s[part]
            spent.append(n * (part + 1) * part_s - moments)
        return (max(after - before, 0.0) / part_s for before, after in pairwise(spent))


def _add_judges(
    db: sqlite3.Connection,
    given: dict[str, float],
    parts: int,
    flights: dict[str, _Flight],
    costs: list[tuple[str, Sequence[float]]],
) -> int:
    """Add the judges' calls and what they cost; give how many nobody knows the price of."""
    spent, unpriced, asked = [0.0] * parts, 0, False
    for judge, state, cost, unknown, *moments in db.execute(
        f"SELECT a.judge, a.state, ifnull(sum(a.cost_usd), 0), sum(a.cost_usd IS NULL), {_MOMENTS} "
        f"{_OF_JUDGES} GROUP BY 1, 2, 5, 6",
        given,
    ):
        flight = flights.setdefault(f"judge {unpack_text(judge)}", _Flight(parts))
        part, _ = flight.add(state, *moments)
        if part is not None:
            spent[part] += cost
            unpriced += unknown if state == "answered" else 0
            asked = True
    if asked:
        costs.append(("judges", list(accumulate(spent))))
    return unpriced


def _slots(
    db: sqlite3.Connection, given: dict[str, float], parts: int
) -> dict[str, list[int | None]]:
    """Give the slots of each endpoint by part."""
    slots: dict[str, list[int | None]] = {}
    for endpoint, part, concurrency, _ in db.execute(
        f"SELECT endpoint, {_part('at')}, concurrency, max(id) FROM limits "
        "WHERE run = :run GROUP BY 1, 2 ORDER BY 2",
        given,
    ):
        of = slots.setdefault(unpack_text(endpoint), [None] * parts)
        of[part:] = [concurrency] * (parts - part)
    return slots
