"""kill -9 at random moments: nothing committed is lost, nothing finished is asked for twice."""

import asyncio
import random
import sys
from functools import partial

from tests.engine.harness import Bench, suite, until
from tests.servers.fake_model import FakeModel
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.store.requests import Verb

KILLS = 5
IN_FLIGHT = 16


async def start(bench: Bench, run: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.engine.worker", str(bench.path), str(run)
    )


def at_least(server: FakeModel, requests: int) -> bool:
    return server.requests >= requests


def finished(bench: Bench, run: int) -> dict[str, int | None]:
    return {trial.case_id: trial.output for trial in bench.trials(run) if trial.state == "done"}


async def test_five_kills_lose_nothing_and_ask_for_nothing_finished_again(bench: Bench) -> None:
    seed = random.randrange(1_000_000)
    print(f"seed {seed}")
    rng = random.Random(seed)
    n = 600
    async with FakeModel(latency=0.01) as server:
        run = bench.create(suite(server.base_url, n, run={"concurrency": IN_FLIGHT}))
        kept: dict[str, int | None] = {}
        killed_in_flight = 0
        for _ in range(KILLS):
            before = server.requests
            process = await start(bench, run)
            goal = before + rng.randrange(20, 80)
            await until(partial(at_least, server, goal))
            process.kill()
            await process.wait()
            killed_in_flight += IN_FLIGHT
            now = finished(bench, run)
            assert now.items() >= kept.items(), "a committed result was lost"
            kept = now
        await until(lambda: server.in_flight == 0)
        asked = dict(server.counts)
        await Engine(bench.path, run).run()
        again = [prompt for prompt, count in server.counts.items() if count > asked.get(prompt, 0)]
        assert not {f"q{case[1:]}" for case in kept} & set(again), (
            "a finished trial was asked again"
        )
        assert server.requests <= n + killed_in_flight
    counts = bench.counts(run)
    assert (counts.total, counts.passed) == (n, n)
    # written before it is sent: a kill in between leaves a record without a request
    assert server.requests <= counts.attempts <= server.requests + killed_in_flight
    assert bench.row(run).state is RunState.DONE
    assert bench.sql("PRAGMA integrity_check") == [("ok",)]


async def test_an_attempt_is_on_record_before_its_request_leaves(bench: Bench) -> None:
    async with FakeModel(latency=30) as server:
        run = bench.create(suite(server.base_url, 40, run={"concurrency": IN_FLIGHT}))
        process = await start(bench, run)
        await until(lambda: server.requests == IN_FLIGHT)
        process.kill()
        await process.wait()
        assert bench.sql("SELECT count(*) FROM attempts WHERE state = 'sent'") == [(IN_FLIGHT,)]
        server.latency = 0
        await Engine(bench.path, run).run()
    assert bench.sql("SELECT state, count(*) FROM attempts GROUP BY 1 ORDER BY 1") == [
        ("answered", 40),
        ("lost", IN_FLIGHT),
    ]
    assert bench.counts(run).attempts == 40 + IN_FLIGHT


async def test_a_dead_engines_run_is_not_live_and_can_be_asked(bench: Bench) -> None:
    async with FakeModel(latency=0.05) as server:
        run = bench.create(suite(server.base_url, 100, run={"concurrency": 4}))
        process = await start(bench, run)
        await until(lambda: server.requests >= 8)
        assert bench.row(run).live
        process.kill()
        await process.wait()
        assert not bench.row(run).live
        assert bench.row(run).state is RunState.RUNNING
        answer = await bench.again(run, Verb.RESUME)
        assert answer.outcome == "accepted"
    assert bench.counts(run).passed == 100
