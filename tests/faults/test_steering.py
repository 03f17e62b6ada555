"""Impatient people: cancels at every moment, keys pressed again and again, everything at once."""

import asyncio
import gc
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.engine.harness import Harness, suite
from tests.faults.guards import guarded, without
from tests.faults.processes import assert_whole, attempts, staged
from tests.servers.fake_model import Call, FakeModel, Mix, Reply, refuse
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.errors import StoreError
from tui_eval.store.lease import Lease
from tui_eval.store.requests import Verb


def cancelled(harness: Harness, trial: int) -> Callable[[], bool]:
    state = "SELECT state FROM trials WHERE id = ?"
    return lambda: harness.sql(state, trial) == [("cancelled",)]


def dropped(server: FakeModel, requests: int) -> Callable[[], bool]:
    return lambda: server.dropped == requests


@guarded("ending calls")
async def test_a_cancelled_call_is_closed_while_its_neighbours_wait_untouched(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel() as server:
        server.hold()
        run = harness.create(suite(server.base_url, 10))
        engine = Engine(harness.path, run)
        task = asyncio.create_task(engine.run())
        try:
            with without(guard):
                await until(lambda: server.requests == 10)
                for i in range(5):
                    trial = harness.trial(run, f"c{i}").id
                    await asyncio.to_thread(
                        ask, harness.path, run, Verb.CANCEL, {"trials": [trial]}
                    )
                    await until(cancelled(harness, trial))
                    await until(dropped(server, i + 1), 2 if guard else 60)
                server.let_go()
                await until(lambda: harness.counts(run).done == 5)
                assert server.dropped == 5
                assert set(server.counts.values()) == {1}
        finally:
            engine.abort()
            await asyncio.wait_for(task, 30)
    if guard is None:
        assert harness.counts(run).cancelled == 5


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.whole
@pytest.mark.timeout(400)
@guarded("slots given back")
async def test_a_cancel_at_any_await_leaks_no_task_descriptor_slot_or_lock(
    tmp_path: Path, seed: int, guard: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, limiters = random.Random(seed), []
    kept = Limiter.__init__

    def remembered(self: Limiter, *args: object, **more: object) -> None:
        kept(self, *args, **more)  # type: ignore[arg-type]
        limiters.append(self)

    monkeypatch.setattr(Limiter, "__init__", remembered)
    # a cancelled engine's lease goes with its process, and this process goes on
    monkeypatch.setattr(Lease, "alive", lambda self, now=None: False)
    async with FakeModel(latency=0.001) as server:
        with without(guard):
            for at in range(20):
                harness = Harness(tmp_path / f"store-{at}.sqlite3")
                run = harness.create(suite(server.base_url, 2000, run={"concurrency": 8}))
                stopped = Engine(harness.path, run)
                if at % 4:  # else cancels meet the staging too
                    task = asyncio.create_task(stopped.run())
                    await until(staged(harness, run))
                    stopped.abort()
                    await task
                gc.collect()
                before = descriptors()
                for _ in range(50):
                    task = asyncio.create_task(Engine(harness.path, run).run())
                    await asyncio.sleep(draw.random() * 0.06)
                    for _ in range(draw.randrange(20)):
                        await asyncio.sleep(0)
                    task.cancel()
                    await asyncio.wait([task], timeout=30)
                    assert task.done(), "it hangs"
                    if not task.cancelled() and (error := task.exception()) is not None:
                        assert isinstance(error, (StoreError, sqlite3.Error)), error
                    assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left"
                    assert [one.in_flight for one in limiters] == [0] * len(limiters), "a slot"
                    limiters.clear()
                gc.collect()
                await until(lambda: server.connections_open == 0)
                assert descriptors() <= before, "a descriptor"
                db = sqlite3.connect(harness.path, isolation_level=None, timeout=0)
                db.execute("BEGIN IMMEDIATE")  # nobody holds the lock
                db.execute("ROLLBACK")
                db.close()
            assert server.dropped, "no cancel met a call: this test tests nothing"


@pytest.mark.whole
async def test_a_thousand_trials_cancelled_at_random_moments_end_as_somebody_said(
    harness: Harness, seed: int
) -> None:
    draw, n = random.Random(seed), 1200
    async with FakeModel(script=Mix(seed, of=n), latency=0.005) as server:
        given = suite(server.base_url, n, run={"concurrency": 20, "timeout": 2})
        async with harness.working(given) as (run, _):
            await until(staged(harness, run))
            ids = [trial.id for trial in harness.trials(run)]
            draw.shuffle(ids)
            for begin in range(0, 1000, 20):
                portion: list[int] = ids[begin : begin + 20]
                ask(harness.path, run, Verb.CANCEL, {"trials": portion})  # type: ignore[dict-item]
                await asyncio.sleep(draw.random() * 0.03)
        assert server.in_flight == 0
    counts = harness.counts(run)
    assert counts.cancelled + counts.passed == n
    assert counts.cancelled > 0
    for case, ends in attempts(harness, run).items():
        assert server.counts[f"q{case[1:]}"] >= ends.get("answered", 0) + ends.get("failed", 0)
    assert_whole(harness, run)


@pytest.mark.whole
@guarded("one retry at a time")
async def test_retry_pressed_fifty_times_while_the_run_goes_on_asks_once(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel(latency=0.3) as server:
        with without(guard):
            given = suite(server.base_url, 40, run={"concurrency": 2})
            async with harness.working(given) as (run, _):
                await until(staged(harness, run, 2))
                trial = harness.trial(run, "c0").id
                pressed = [
                    ask(harness.path, run, Verb.RETRY, {"trials": [trial]}) for _ in range(50)
                ]
                await until(lambda: harness.request(pressed[-1]).outcome is not None)
                outcomes = [harness.request(one).outcome for one in pressed]
            assert outcomes == ["accepted"] + ["already"] * 49
            assert server.counts["q0"] == 2


@pytest.mark.whole
async def test_a_rescore_while_the_run_goes_on_and_after_asks_no_target(harness: Harness) -> None:
    async with FakeModel(latency=0.05) as server:
        given = suite(server.base_url, 60, run={"concurrency": 4})
        async with harness.working(given) as (run, _):
            await until(staged(harness, run, 10))
            trials = [t.id for t in harness.trials(run) if t.state is TrialState.DONE]
            live = await harness.asked(run, Verb.RESCORE, trials=trials)
            assert live.outcome == "accepted"
        after = await harness.again(run, Verb.RESCORE, which="all")
        assert (after.outcome, after.detail) == ("accepted", "60 trials")
        assert server.requests == 60
    assert harness.counts(run).passed == 60
    scores = "SELECT count(*), sum(current), sum(superseded) FROM scores"
    assert harness.sql(scores) == [(120 + len(trials), 60, 60 + len(trials))]
    assert_whole(harness, run)


@pytest.mark.whole
async def test_everything_cancelled_and_taken_up_again_at_once_ends_right(
    harness: Harness, seed: int
) -> None:
    draw = random.Random(seed)
    async with FakeModel(latency=0.05) as server:
        given = suite(server.base_url, 60, run={"concurrency": 6})
        async with harness.working(given) as (run, _):
            await until(lambda: server.requests >= 10)
            for _ in range(5):
                ask(harness.path, run, Verb.CANCEL, {"which": "open"})
                last = ask(harness.path, run, Verb.RETRY, {"which": "cancelled"})
                await asyncio.sleep(draw.random() * 0.1)
            await until(lambda: harness.request(last).outcome is not None)
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).passed == 60
    assert_whole(harness, run)


@pytest.mark.whole
async def test_a_run_cancelled_whole_and_retried_at_once_ends_right(harness: Harness) -> None:
    async with FakeModel(latency=0.2) as server:
        async with harness.working(suite(server.base_url, 20)) as (run, _):
            await until(lambda: server.requests == 10)
            ask(harness.path, run, Verb.CANCEL_RUN)
            ask(harness.path, run, Verb.RETRY, {"which": ["errors", "cancelled"]})
        if harness.row(run).state is not RunState.DONE:
            await harness.again(run, Verb.RETRY, which=["errors", "cancelled"])
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).passed == 20
    assert_whole(harness, run)


@pytest.mark.whole
async def test_pauses_limits_and_cancels_in_any_order_settle(harness: Harness, seed: int) -> None:
    draw = random.Random(seed)
    slow = refuse(429, "rate_limit_exceeded", retry_after="0.2")

    def script(call: Call) -> Reply | None:
        return slow if call.n % 11 == 0 else None

    async with FakeModel(script=script, latency=0.01) as server:
        given = suite(server.base_url, 300, run={"concurrency": 5})
        async with harness.working(given) as (run, _):
            await until(staged(harness, run))
            [(endpoint,)] = harness.sql("SELECT DISTINCT endpoint FROM columns")
            for _ in range(40):
                verb, args = draw.choice(
                    [
                        (Verb.PAUSE, {}),
                        (Verb.CONTINUE, {}),
                        (Verb.SET_LIMIT, {"endpoint": endpoint, "to": draw.randrange(1, 20)}),
                        (Verb.CANCEL, {"cases": [f"c{draw.randrange(300)}"]}),
                        (Verb.RETRY, {"cases": [f"c{draw.randrange(300)}"], "which": "all"}),
                        (Verb.RESCORE, {"cases": [f"c{draw.randrange(300)}"], "which": "all"}),
                    ]
                )
                request = ask(harness.path, run, verb, args)
                await asyncio.sleep(draw.random() * 0.02)
            ask(harness.path, run, Verb.CONTINUE)
            await until(lambda: harness.request(request).outcome is not None)
    counts = harness.counts(run)
    assert counts.passed + counts.cancelled == 300
    assert harness.row(run).state is RunState.DONE
    assert_whole(harness, run)
