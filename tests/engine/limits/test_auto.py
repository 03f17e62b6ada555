"""`auto` against servers of every kind, on a clock that moves when something happens."""

import heapq
import itertools
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tui_eval.engine.limits.gradient import Gradient, LatencyTrend
from tui_eval.engine.limits.limiter import FIRST, Limiter
from tui_eval.engine.limits.started_call import LimitChange, StartedCall
from tui_eval.model.output import Failure, Output

GOOD = Output("yes")
FULL = Failure("rate_limit", "slow down", retryable=True, status=429)
LATE = Failure("timeout", "no whole answer", retryable=True)
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
    timeout_s: float = 1e9
    breaks: float = 0.0
    """The share of calls that come back as broken."""
    requests: int = 0
    most: int = 0
    """Calls under way together at most, as the client counts them."""
    _busy: list[float] = field(default_factory=list)
    """When the slots are free again; what nobody waits for is worked on as well."""

    def ask(self, rng: random.Random, now: float, in_flight: int) -> tuple[float, Output | Failure]:
        """Give when the client hears of a call, and what."""
        self.requests += 1
        self.most = max(self.most, in_flight)
        if in_flight > self.refuses_above:
            return now + 0.05, FULL
        if rng.random() < self.breaks:
            return now + 0.05, BROKEN
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
    answered = 0
    while answered < cases:
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
                answered += 1
            else:
                heapq.heappush(waiting, now + rng.random())
    return Drive(now, changes, at, of.concurrency)


SEEDS = range(3)


@pytest.mark.parametrize("takes", [steady(0.02), steady(1.0), mixed], ids=["fast", "slow", "mixed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_it_finds_many_calls_where_they_are_served_together(takes: Takes, seed: int) -> None:
    of = drive(Server(takes), 3000, seed)
    longest = 3.3 if takes is mixed else takes(random.Random(), 0.0)
    assert of.reached(64) <= 12 * longest
    assert of.limit >= 128


LONG_TAILS = pytest.mark.parametrize(
    "takes", [exponential, log_normal], ids=["exponential", "log-normal"]
)


@LONG_TAILS
@pytest.mark.parametrize("cases", [300, 1000])
@pytest.mark.parametrize("seed", range(20))
def test_latencies_that_differ_by_chance_are_no_queue(
    takes: Takes, cases: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = drive(Server(takes), cases, seed)
    assert {change.event.words for change in of.changes} == {"a clean round"}
    monkeypatch.setattr(Gradient, "trend", lambda self, now: LatencyTrend.LEVEL)
    assert of.seconds <= 1.3 * drive(Server(takes), cases, seed).seconds


@LONG_TAILS
@pytest.mark.parametrize("slots", [1, 4, 10, 40])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_queue_shows_through_latencies_that_differ_by_chance(
    slots: int, takes: Takes, seed: int
) -> None:
    server = Server(takes, slots=lambda now: slots)
    of = drive(server, 1500, seed)
    assert server.most <= 8 * FIRST + 4 * slots
    assert of.seconds <= 1.5 * 1500 * 0.3 / slots + 12


@pytest.mark.parametrize("slots", [1, 3, 4, 10, 40])
@pytest.mark.parametrize("takes", [steady(0.5), mixed], ids=["steady", "mixed"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_server_that_queues_is_not_buried(slots: int, takes: Takes, seed: int) -> None:
    server = Server(takes, slots=lambda now: slots)
    of = drive(server, 1500, seed)
    assert server.requests == 1500
    assert server.most <= 2 * FIRST + (8 if takes is mixed else 2) * slots
    work = sum(takes(random.Random(n), 0.0) for n in range(1500)) / slots
    assert of.seconds <= 1.35 * work + 40


@pytest.mark.parametrize("seed", SEEDS)
def test_a_server_where_queued_calls_time_out_is_not_asked_again_and_again(seed: int) -> None:
    server = Server(steady(1.0), slots=lambda now: 4, timeout_s=2.5)
    of = drive(server, 200, seed)
    assert server.requests <= 230
    assert server.most <= 16
    assert of.seconds <= 1.5 * 200 / 4


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("concurrency", [None, 64], ids=["auto", "fixed"])
def test_calls_that_timed_out_are_not_asked_again_faster_than_others_are_answered(
    seed: int, concurrency: int | None
) -> None:
    server = Server(steady(1.0), slots=lambda now: 2 if 10 < now < 60 else 1000, timeout_s=4.0)
    drive(server, 1000, seed, concurrency)
    assert server.requests <= 1000 + 64 * 4


@pytest.mark.parametrize("seed", SEEDS)
def test_a_refusal_cuts_and_what_is_served_is_used(seed: int) -> None:
    server = Server(steady(0.5), refuses_above=20)
    of = drive(server, 2000, seed)
    assert server.requests <= 2000 * 1.1
    assert of.seconds <= 1.6 * 2000 * 0.5 / 20
    assert "rate limited (429)" in {change.event.words for change in of.changes}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_server_that_slows_down_for_all_is_no_reason_for_fewer_calls(seed: int) -> None:
    server = Server(lambda rng, now: 0.2 if now < 5 else 1.0)
    of = drive(server, 20_000, seed)
    assert of.limit >= 128
    assert any(change.event.words == "fewer calls are no faster" for change in of.changes)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_server_that_serves_fewer_from_now_on_is_asked_for_less(seed: int) -> None:
    server = Server(steady(0.5), slots=lambda now: 100 if now < 10 else 5)
    of = drive(server, 3000, seed)
    assert of.limit <= 20
    assert server.requests == 3000


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_that_get_longer_as_a_run_goes_on_do_not_end_it_slower(seed: int) -> None:
    server = Server(lambda rng, now: (0.2 + now / 20) * rng.uniform(0.9, 1.1))
    of = drive(server, 10_000, seed)
    assert of.limit >= 64


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_that_break_never_make_it_grow(seed: int) -> None:
    server = Server(steady(0.5), breaks=0.5)
    of = drive(server, 500, seed)
    assert of.limit <= 4 * FIRST


@pytest.mark.parametrize("seed", SEEDS)
def test_a_call_in_a_hundred_that_hangs_does_not_keep_it_small(seed: int) -> None:
    def takes(rng: random.Random, now: float) -> float:
        return 1e9 if rng.random() < 0.01 else 0.5

    of = drive(Server(takes, timeout_s=30.0), 3000, seed)
    assert of.reached(64) <= 20


def test_each_change_says_why() -> None:
    of = drive(Server(steady(0.5), slots=lambda now: 4), 200)
    assert [change.concurrency for change in of.changes[:2]] == [8, 4]
    grown, words = (change.event.words for change in of.changes[:2])
    assert grown == "a clean round"
    assert re.fullmatch(r"calls take [\d.]+ s, 0\.5 s when there were fewer", words)
