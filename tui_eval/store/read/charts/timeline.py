"""The calls of a run over time, cut into parts of equal length.

Counted in SQL, so that it holds as many numbers as it has parts, whatever the run's size.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from tui_eval.model.runs.endpoint_event import HOLDS_BACK, EndpointEventKind
from tui_eval.store.read import run_queries
from tui_eval.store.read.charts.working_time import WorkingTime, working_time
from tui_eval.store.text import unpack_text

_ENDED = "(a.sent_at + a.call_s)"
_OF_RUN = "FROM trials t JOIN attempts a ON a.trial = t.id WHERE t.run = :run"
_OF_JUDGES = "FROM judge_calls a WHERE a.run = :run"
_TOLD = (
    "sum(a.error_kind IS 'rate_limit'), ifnull(sum(coalesce(a.cost_usd, a.about_usd)), 0), "
    "sum(a.cost_usd IS NULL AND a.about_usd IS NOT NULL), "
    "sum(coalesce(a.cost_usd, a.about_usd) IS NULL)"
)
"""The last fields of `_Calls`."""


@dataclass(frozen=True, slots=True)
class EndpointTimeline:
    """The calls to one endpoint, or to one judge, by part."""

    names: Sequence[str]
    """The columns that are asked there, or the judge; may be foreign."""
    in_flight: Sequence[float]
    """Calls that were going on, on average over the part."""
    slots: Sequence[int | None]
    """Calls that its limit allowed at the end of the part; None: none was set yet."""
    limited: Sequence[int]
    """Calls that were refused for its rate limit (429)."""
    held: Mapping[EndpointEventKind, Sequence[int]]
    """How often this machine had no room for more, by why."""
    columns: Sequence[int] = ()
    """The indices of the columns that are asked there; a judge has none."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened when."""

    time: WorkingTime
    """What the parts are of."""
    part_s: float
    answered: Sequence[int]
    """Calls of targets that ended with an answer, by part."""
    failed: Sequence[int]
    """Those that ended otherwise."""
    lanes: Sequence[EndpointTimeline]
    """Every endpoint that was asked, in the order of the columns; then the judges."""
    costs: Sequence[tuple[str, Sequence[float]]]
    """US dollars spent so far by the end of each part: by column, and the judges' last."""
    estimated: bool
    """Whether some of that are estimates, as endpoints did not tell."""
    unpriced: int
    """Calls whose cost nobody knows, nor can estimate; they are in no cost."""


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
    columns = f"a.sent_at AS begun, ifnull({_ENDED}, a.sent_at) AS ended, a.state = 'sent' AS open"
    calls = f"SELECT {columns} {_OF_RUN} UNION ALL SELECT {columns} {_OF_JUDGES}"
    start, end, open_calls = db.execute(
        f"SELECT min(begun), max(ended), sum(open) FROM ({calls})", {"run": run}
    ).fetchone()
    if start is None:
        return None
    end = max(end, now) if open_calls else end
    wall_s = run_queries.run(db, run).wall(now)
    worked = working_time(db, calls, run, (start, end), wall_s)
    part_s = max(worked.since_start(end) / parts, 1e-3)
    counted = _Counted(db, run, worked, part_s, parts)
    counted.count_targets()
    counted.count_judges()
    return counted.timeline()


class _Calls(NamedTuple):
    """Calls of one state that began in one part and ended in another."""

    state: str
    begun: int
    ended: int | None
    """None: they are in flight, or were lost, and how long those took nobody knows."""
    n: int
    begun_s: float
    """Seconds of work after which they began, together."""
    ended_s: float | None
    limited: int
    cost: float
    """As known or estimated."""
    estimated: int
    """How many of them have an estimate in place of their cost."""
    unknown: int
    """How many have neither."""


class _Flight:
    """The calls to one endpoint, as they are counted."""

    def __init__(self, parts: int, names: Sequence[str] = ()) -> None:
        self.names = list(names)
        """Who is asked there."""
        self.columns: list[int] = []
        self.held: dict[EndpointEventKind, list[int]] = {}
        """How often this machine had no room for more, by why."""
        self.asked = False
        """Whether anybody was."""
        self._begun, self._begun_s = [0] * parts, [0.0] * parts
        self._ended, self._ended_s = [0] * parts, [0.0] * parts
        self._limited = [0] * parts

    def add(self, calls: _Calls) -> None:
        """Count calls."""
        self.asked = True
        if calls.ended is None and calls.state != "sent":
            return
        self._begun[calls.begun] += calls.n
        self._begun_s[calls.begun] += calls.begun_s
        if calls.ended is not None and calls.ended_s is not None:
            self._ended[calls.ended] += calls.n
            self._ended_s[calls.ended] += calls.ended_s
            self._limited[calls.ended] += calls.limited

    def lane(self, part_s: float, slots: Sequence[int | None]) -> EndpointTimeline:
        """Return what came of it."""
        return EndpointTimeline(
            self.names,
            list(self._in_flight(part_s)),
            slots,
            self._limited,
            self.held,
            self.columns,
        )

    def _in_flight(self, part_s: float) -> Iterable[float]:
        """Return the calls in flight on average over each part.

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


class _Counted:
    """The calls of a run, as they are counted."""

    def __init__(
        self, db: sqlite3.Connection, run: int, worked: WorkingTime, part_s: float, parts: int
    ) -> None:
        self._db = db
        self._time, self._part_s, self._parts = worked, part_s, parts
        self._given = {"run": run, "part": part_s, "last": parts - 1, **worked.parameters}
        self._answered, self._failed = [0] * parts, [0] * parts
        self._flights: dict[str, _Flight] = {}
        """By endpoint; judges have names of their own among them, as limits have."""
        self._columns: dict[int, tuple[str, str]] = {}
        """Name and endpoint."""
        self._spent: dict[int | None, list[float]] = {}
        """By column; None: the judges."""
        self._estimated = 0
        self._unpriced = 0

    def count_targets(self) -> None:
        """Count the calls to targets."""
        for col, *found in self._db.execute(
            "SELECT idx, name, endpoint FROM columns WHERE run = :run ORDER BY idx", self._given
        ):
            name, endpoint = map(unpack_text, found)
            self._columns[col] = name, endpoint
            flight = self._flights.setdefault(endpoint, _Flight(self._parts))
            flight.names.append(name)
            flight.columns.append(col)
        for col, calls in self._calls("t.col", _OF_RUN):
            self._count(self._columns[col][1], col, calls)
            if calls.ended is not None:
                of = self._answered if calls.state == "answered" else self._failed
                of[calls.ended] += calls.n

    def count_judges(self) -> None:
        """Count the calls to judges."""
        for judge, calls in self._calls("a.judge", _OF_JUDGES):
            lane = f"judge {unpack_text(judge)}"
            self._flights.setdefault(lane, _Flight(self._parts, [lane]))
            self._count(lane, None, calls)

    def _part(self, moment: str) -> str:
        return f"max(min(CAST({self._time.sql(moment)} / :part AS INTEGER), :last), 0)"

    def _calls(self, whose: str, table: str) -> Iterator[tuple[Any, _Calls]]:
        begun, ended = self._time.sql("a.sent_at"), self._time.sql(_ENDED)
        for one, *calls in self._db.execute(
            f"SELECT {whose}, a.state, {self._part('a.sent_at')}, {self._part(_ENDED)}, count(*), "
            f"sum(max({begun}, 0)), sum(max({ended}, 0)), {_TOLD} {table} "
            "GROUP BY 1, 2, 3, 4 ORDER BY 1",
            self._given,
        ):
            yield one, _Calls(*calls)

    def _count(self, lane: str, col: int | None, calls: _Calls) -> None:
        self._flights[lane].add(calls)
        if calls.ended is not None:
            self._spent.setdefault(col, [0.0] * self._parts)[calls.ended] += calls.cost
            self._estimated += calls.estimated
            self._unpriced += calls.unknown if calls.state == "answered" else 0

    def timeline(self) -> Timeline:
        """Return what came of it."""
        slots = self._slots()
        self._count_holds()
        none: list[int | None] = [None] * self._parts
        return Timeline(
            time=self._time,
            part_s=self._part_s,
            answered=self._answered,
            failed=self._failed,
            lanes=[
                flight.lane(self._part_s, slots.get(name, none))
                for name, flight in self._flights.items()
                if flight.asked
            ],
            costs=[
                ("judges" if col is None else self._columns[col][0], list(accumulate(spent)))
                for col, spent in self._spent.items()
            ],
            estimated=self._estimated > 0,
            unpriced=self._unpriced,
        )

    def _count_holds(self) -> None:
        """Count how often the machine had no room for more of what is asked at an endpoint."""
        for endpoint, kind, part, n in self._db.execute(
            f"SELECT endpoint, kind, {self._part('at')}, count(*) FROM limits WHERE run = :run "
            f"AND kind IN ({', '.join(repr(str(kind)) for kind in HOLDS_BACK)}) GROUP BY 1, 2, 3",
            self._given,
        ):
            if (flight := self._flights.get(unpack_text(endpoint))) is not None:
                of = flight.held.setdefault(EndpointEventKind(kind), [0] * self._parts)
                of[part] += n

    def _slots(self) -> dict[str, list[int | None]]:
        """Return the slots of each endpoint by part."""
        slots: dict[str, list[int | None]] = {}
        for endpoint, part, concurrency, _ in self._db.execute(
            f"SELECT endpoint, {self._part('at')}, concurrency, max(id) FROM limits "
            "WHERE run = :run GROUP BY 1, 2 ORDER BY 2",
            self._given,
        ):
            of = slots.setdefault(unpack_text(endpoint), [None] * self._parts)
            of[part:] = [concurrency] * (self._parts - part)
        return slots
