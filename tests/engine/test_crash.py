"""kill -9 amid calls: what the next engine finds, and knows of those that were on their way."""

import asyncio
import sys

from tests.engine.harness import Bench, suite, until
from tests.servers.fake_model import FakeModel
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.store.requests import Verb

IN_FLIGHT = 16


async def start(bench: Bench, run: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.engine.worker", str(bench.path), str(run)
    )


async def test_an_attempt_is_on_record_before_its_request_leaves(bench: Bench) -> None:
    async with FakeModel(latency=30) as server:
        run = bench.create(suite(server.base_url, 40, run={"concurrency": IN_FLIGHT}))
        process = await start(bench, run)
        await until(lambda: server.requests == IN_FLIGHT)
        process.kill()
        await process.wait()
        assert bench.sql("SELECT count(*) FROM attempts WHERE state = 'sent'") == [(IN_FLIGHT,)]
        assert (bench.counts(run).attempts, bench.counts(run).lost) == (0, IN_FLIGHT)
        server.latency = 0
        await Engine(bench.path, run).run()
    assert bench.sql("SELECT state, count(*) FROM attempts GROUP BY 1 ORDER BY 1") == [
        ("answered", 40),
        ("lost", IN_FLIGHT),
    ]
    counts = bench.counts(run)
    assert (counts.attempts, counts.lost, counts.retries) == (40, IN_FLIGHT, 0)


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
