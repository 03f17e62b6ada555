"""Ceilings that find themselves, and endpoints that are left alone."""

from itertools import pairwise

import pytest

from tests.engine.harness import Bench, suite
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tui_eval.engine.limiter import COOL_DOWN_S, FIRST, LimitChange, Limiter
from tui_eval.model.output import Failure, Output
from tui_eval.model.states import RunState

GOOD = Output("yes")
FULL = Failure("rate_limit", "slow down", retryable=True, status=429)
BROKEN = Failure("server_error", "it broke", retryable=True, status=500)


def limiter(concurrency: int | None = None) -> tuple[Limiter, list[LimitChange]]:
    changes: list[LimitChange] = []
    return Limiter("e", concurrency, changes.append), changes


def paused_since(of: Limiter) -> float | None:
    return of.paused_since


def clean_round(of: Limiter, now: float) -> None:
    """Make as many calls at once as may be made; all succeed."""
    calls = of.concurrency
    of.in_flight = calls - 1
    with of.slot():
        pass
    of.in_flight = 0
    for _ in range(calls):
        of.heard(GOOD, now)


def test_auto_doubles_with_each_clean_round_until_the_first_refusal_then_creeps() -> None:
    of, changes = limiter()
    for _ in range(4):
        clean_round(of, 10.0)
    assert [change.concurrency for change in changes] == [8, 16, 32, 64]
    of.heard(FULL, 20.0)
    assert of.concurrency == 32
    of.heard(GOOD, 20.1)
    clean_round(of, 21.0)
    assert of.concurrency == 33
    assert FIRST == 4


def test_many_refusals_of_one_moment_cut_once() -> None:
    of, _ = limiter()
    for _ in range(4):
        clean_round(of, 1.0)
    for _ in range(50):
        of.heard(FULL, 5.0)
    assert of.concurrency == 32
    of.heard(GOOD, 5.1)
    of.heard(FULL, 5.1 + COOL_DOWN_S)
    assert of.concurrency == 16


def test_faults_that_are_no_refusals_neither_cut_nor_grow() -> None:
    of, changes = limiter()
    of.in_flight = of.concurrency
    for _ in range(100):
        of.heard(BROKEN, 2.0)
    assert changes == []


def test_it_grows_only_where_the_limit_was_the_bound() -> None:
    of, changes = limiter()
    for _ in range(100):
        with of.slot():
            pass
        of.heard(GOOD, 2.0)
    assert changes == []


def test_a_fixed_ceiling_stays() -> None:
    of, changes = limiter(16)
    clean_round(of, 1.0)
    of.heard(FULL, 2.0)
    assert of.concurrency == 16
    assert changes == []


def test_a_refusal_with_no_success_since_the_last_one_pauses_the_endpoint() -> None:
    of, _ = limiter(16)
    of.heard(FULL, 2.0)
    of.heard(GOOD, 2.5)
    of.heard(FULL, 3.0)
    assert paused_since(of) is None
    of.heard(FULL, 3.1)
    assert paused_since(of) == 3.1
    assert not of.may_start(3.2)
    assert of.may_start(3.7)
    of.in_flight = 1
    assert not of.may_start(9.0), "one probe at a time"
    of.heard(GOOD, 5.0)
    assert paused_since(of) is None
    of.in_flight = 2
    assert not of.may_start(6.0), "no herd after a pause"
    of.heard(GOOD, 6.1)
    assert of.may_start(6.2), "but more with each success"


@pytest.mark.parametrize("to", [0, -1, 16])
def test_a_limit_below_one_or_the_same_changes_nothing(to: int) -> None:
    of, changes = limiter(16)
    assert not of.set(to, "by hand")
    assert changes == []


async def test_while_everything_is_refused_two_requests_a_second_leave_and_no_herd_after(
    bench: Bench,
) -> None:
    def script(call: Call) -> Reply | None:
        first = server.first_at or call.at
        return refuse(429, "rate_limit_exceeded") if call.at < first + 3.0 else None

    async with FakeModel(script=script, latency=0.01) as server:
        run = await bench.run(suite(server.base_url, 60, run={"concurrency": 20, "retries": 1}))
    assert bench.counts(run).passed == 60
    assert bench.row(run).state is RunState.DONE
    began = server.calls[0].at
    recovers = began + 3.0
    probes = [call.at for call in server.calls if call.at < recovers][20:]  # after the first ones
    assert len(probes) >= 4
    assert all(later - sooner >= 0.45 for sooner, later in pairwise(probes))
    after = sorted(call.at for call in server.calls if call.at >= recovers)
    assert after[1] - after[0] >= 0.005, "one probe first"
    reasons = [row[0] for row in bench.sql("SELECT reason FROM limits ORDER BY id")]
    assert reasons[0] == "start"
    assert reasons[1].startswith("refuses everything")
    assert reasons[2].startswith("answers again")


async def test_patience_with_an_endpoint_that_refuses_everything_ends(bench: Bench) -> None:
    async with FakeModel(script=lambda call: refuse(429, "rate_limit_exceeded")) as server:
        run = await bench.run(suite(server.base_url, 10, run={"patience": 1.0, "retries": 2}))
    row = bench.row(run)
    assert (row.state, row.stopped_by) == (RunState.PAUSED, "rate_limit")
    assert server.requests < 20


async def test_auto_finds_a_limit_by_itself_and_writes_down_why(bench: Bench) -> None:
    def script(call: Call) -> Reply | None:
        return refuse(429, "rate_limit_exceeded") if server.in_flight > 12 else None

    async with FakeModel(script=script, latency=0.02) as server:
        run = await bench.run(suite(server.base_url, 400, run={"concurrency": "auto"}))
    assert bench.counts(run).passed == 400
    changes = bench.sql("SELECT concurrency, reason FROM limits ORDER BY id")
    assert changes[:2] == [(4, "start"), (8, "a clean round")]
    cuts = [n for n, (_, reason) in enumerate(changes) if reason == "rate limited (429)"]
    assert cuts, "it went on until it was refused"
    assert all(changes[n][0] == changes[n - 1][0] // 2 for n in cuts)
    assert all(
        reason != "a clean round" or limit - changes[n][0] in (1, changes[n][0])
        for n, (limit, reason) in enumerate(changes[1:])
    )
    assert server.in_flight_max < 100  # of 400 that it could have had


async def test_a_budget_of_requests_is_kept(bench: Bench) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, "model": "m", "rpm": 300}
        run = await bench.run(suite(server.base_url, 15, targets=[target]))
    assert bench.counts(run).passed == 15
    arrivals = [call.at for call in server.calls]
    assert arrivals[-1] - arrivals[0] >= 9 * 0.2  # 5 at once, then one each 0.2 s


async def test_a_budget_of_tokens_waits_for_the_first_call_to_know_what_one_takes(
    bench: Bench,
) -> None:
    async with FakeModel(latency=0.05) as server:
        target = {"base_url": server.base_url, "model": "m", "tpm": 100_000}
        await bench.run(suite(server.base_url, 20, targets=[target]))
    first, second = (call.at for call in server.calls[:2])
    assert second - first >= 0.05
    assert server.in_flight_max > 1
