"""Endpoints of every kind and a limiter that drives them, on a clock that moves with what happens.

Nothing waits: a simulated hour takes as long as its calls take to count.
"""

import heapq
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import LimitChange, StartedCall
from tui_eval.model.outputs.output import Failure, Output

GOOD = Output("yes")
FULL = Failure("rate_limit", "slow down", retryable=True, status=429)
LATE = Failure("timeout", "no whole answer", retryable=True)
BUSY = Failure("server_error", "overloaded", retryable=True, status=503)
BROKEN = Failure("server_error", "it broke", retryable=True, status=500)

Takes = Callable[[random.Random, float], float]
"""Gives the seconds a call is worked on: with what luck, and when it begins."""


def steady(seconds: float) -> Takes:
    return lambda rng, now: seconds


def exponential(rng: random.Random, now: float) -> float:
    """Give the seconds of answers whose ends are independent events."""
    return rng.expovariate(1 / 0.3)


def log_normal(rng: random.Random, now: float) -> float:
    """Give the seconds of answers of which a few take many times as long as most."""
    return rng.lognormvariate(-1.7, 1.0)


def mixed(rng: random.Random, now: float) -> float:
    """Give the seconds of short and long answers, as they come."""
    return rng.choice((0.2, 0.3, 2.0, 3.0)) * rng.uniform(0.9, 1.1)


@dataclass
class Server:
    """Serves so many calls at once and queues, or refuses, the rest."""

    takes: Takes
    slots: Callable[[float], int] = lambda now: 10**6
    refuses_above: int = 10**6
    refuses_when: Callable[[float], int] | None = None
    """The same, by the moment."""
    refusal: Failure = FULL
    """What it says above that."""
    timeout_s: float = 1e9
    breaks: float = 0.0
    """The share of calls that come back as broken, whatever their number."""
    breaks_when: Callable[[float], float] | None = None
    """The same, by the moment."""
    breakage: Failure = BROKEN
    """What is said of these."""
    requests: int = 0
    most: int = 0
    """Calls under way together at most, as the client counts them."""
    _busy: list[float] = field(default_factory=list)
    """When the slots are free again; what nobody waits for is worked on as well."""

    def ask(self, rng: random.Random, now: float, in_flight: int) -> tuple[float, Output | Failure]:
        """Give when the client hears of a call, and what."""
        self.requests += 1
        self.most = max(self.most, in_flight)
        above = self.refuses_above if self.refuses_when is None else self.refuses_when(now)
        if in_flight > above:
            return now + 0.05, self.refusal
        breaks = self.breaks if self.breaks_when is None else self.breaks_when(now)
        if rng.random() < breaks:
            return now + 0.05, self.breakage
        begins = now
        self._busy = [until for until in self._busy if until > now]
        heapq.heapify(self._busy)
        while len(self._busy) >= self.slots(now):
            begins = heapq.heappop(self._busy)
        done = begins + self.takes(rng, begins)
        heapq.heappush(self._busy, done)
        if done > now + self.timeout_s:
            return now + self.timeout_s, LATE
        return done, GOOD


@dataclass
class Drive:
    """What came of asking a server for so many answers."""

    seconds: float
    changes: list[LimitChange]
    at: list[float]
    """When each change was made."""
    limit: int
    took: list[float] = field(default_factory=list)
    """Seconds of each call that was answered."""

    def reached(self, limit: int) -> float:
        """Give when the ceiling was this high for the first time."""
        for change, at in zip(self.changes, self.at, strict=True):
            if change.concurrency >= limit:
                return at
        raise AssertionError(f"it was never {limit}: {self.changes}")


def drive(server: Server, cases: int, seed: int = 0, concurrency: int | None = None) -> Drive:
    """Ask for answers to so many cases as fast as `auto` has it."""
    rng = random.Random(seed)
    changes: list[LimitChange] = []
    at: list[float] = []
    now = 0.0

    def told(change: LimitChange) -> None:
        changes.append(change)
        at.append(now)

    of = Limiter("e", concurrency, told)
    order = itertools.count()
    calls: list[tuple[float, int, float, StartedCall, Output | Failure]] = []
    waiting = [0.0] * cases
    took: list[float] = []
    while len(took) < cases:
        while waiting and waiting[0] <= now and of.may_start(now):
            heapq.heappop(waiting)
            begun = of.begin(now)
            until, reply = server.ask(rng, now, of.in_flight)
            heapq.heappush(calls, (until, next(order), now, begun, reply))
        moments = [calls[0][0]] if calls else []
        if waiting and waiting[0] > now:
            moments.append(waiting[0])
        if (again := of.again_at(now)) is not None and again > now:
            moments.append(again)
        now = min(moments)
        while calls and calls[0][0] <= now:
            _, _, began, begun, reply = heapq.heappop(calls)
            of.heard(reply, now, begun=begun, call_s=now - began)
            of.end(begun)
            if reply is GOOD:
                took.append(now - began)
            else:
                heapq.heappush(waiting, now + rng.random())
    return Drive(now, changes, at, of.concurrency, took)
