"""`auto` against servers of every kind, on a clock that moves when something happens."""

import random
import re

import pytest

from tests.engine.limits.simulated_endpoint import (
    BUSY,
    FULL,
    Server,
    Takes,
    drive,
    exponential,
    log_normal,
    mixed,
    steady,
)
from tests.sampling import one_in
from tui_eval.engine.limits.gradient import Gradient, LatencyTrend
from tui_eval.engine.limits.limiter import FIRST
from tui_eval.model.outputs.output import Failure

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
@pytest.mark.parametrize("seed", one_in(4, range(20)))
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
@pytest.mark.parametrize("slots", [3, 16, 40])
def test_a_server_that_is_full_and_says_503_is_asked_for_as_many_as_it_serves(
    slots: int, seed: int
) -> None:
    server = Server(steady(0.5), refuses_above=slots, refusal=BUSY)
    of = drive(server, 2000, seed)
    refusing = Server(steady(0.5), refuses_above=slots)
    drive(refusing, 2000, seed)
    assert server.requests <= 1.05 * refusing.requests + 2 * slots
    assert of.seconds <= 1.35 * 2000 * 0.5 / slots
    assert "overloaded (503)" in {change.event.words for change in of.changes}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.02, 0.3, 0.6])
def test_503_of_a_server_that_is_not_full_is_no_reason_for_fewer_calls(
    share: float, seed: int
) -> None:
    of = drive(Server(steady(0.5), breaks=share, breakage=BUSY), 1000, seed)
    without = drive(Server(steady(0.5), breaks=share), 1000, seed)
    assert of.seconds <= 1.7 * without.seconds  # whether it grew at first is chance
    assert of.limit >= FIRST
    cuts = [change for change in of.changes if change.event.words == "overloaded (503)"]
    back = [c for c in of.changes if c.event.words == "of fewer calls as many are turned away"]
    assert len(cuts) == len(back) <= 2


@pytest.mark.parametrize("seed", SEEDS)
def test_a_full_server_that_bears_less_from_now_on_is_followed(seed: int) -> None:
    server = Server(steady(0.5), refuses_when=lambda now: 32 if now < 20 else 8, refusal=BUSY)
    of = drive(server, 2000, seed)
    assert of.limit <= 10
    assert server.requests <= 2000 * 1.15


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("refusal", [FULL, BUSY], ids=["429", "503"])
def test_a_full_server_that_bears_more_from_now_on_is_asked_for_more(
    refusal: Failure, seed: int
) -> None:
    server = Server(steady(0.5), refuses_when=lambda now: 16 if now < 20 else 500, refusal=refusal)
    of = drive(server, 8000, seed)
    assert of.reached(100) <= 40
    assert server.requests <= 8000 * 1.01


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("share", [0.03, 0.2])
def test_a_server_that_was_full_and_breaks_in_another_way_now_is_not_held_for_full(
    share: float, seed: int
) -> None:
    server = Server(
        steady(0.5),
        refuses_when=lambda now: 16 if now < 20 else 10**6,
        refusal=BUSY,
        breaks_when=lambda now: 0.0 if now < 20 else share,
        breakage=BUSY,
    )
    of = drive(server, 5000, seed)
    assert of.seconds <= 120
    assert "of fewer calls as many are turned away" in {one.event.words for one in of.changes}


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
