"""kill -9 between the writing down of a consignment and its last result."""

import asyncio
import os
import random

import pytest

from tests.engine.bulk.bulk_runs import SOON, bulk_suite, executed, killed, states
from tests.engine.harness import Harness
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import Die, FakeBulk, Refuse, nth
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.store.requests import Verb


async def goes_on(harness: Harness, run: int) -> None:
    await Engine(harness.path, run, polling=SOON).run()


def assert_whole(harness: Harness, run: int, n: int) -> None:
    """See that each trial has one output, and that its attempts say where it came from."""
    assert states(harness, run) == {"done": n}
    assert harness.counts(run).passed == n
    assert harness.sql("SELECT count(*), count(DISTINCT generation_key) FROM outputs") == [(n, n)]
    answered = "SELECT count(*) FROM attempts WHERE state = 'answered'"
    assert harness.sql(answered) == [(n,)]
    assert harness.sql("SELECT count(*) FROM attempts WHERE state = 'sent'") == [(0,)]
    assert harness.sql("SELECT count(*) FROM consignments WHERE taken_at IS NULL") == [(0,)]


@pytest.mark.whole
async def test_killed_while_attempts_are_written(harness: Harness) -> None:
    async with FakeBulk() as server:
        run = harness.create(bulk_suite(server, 400))
        async with killed(harness, run):
            await until(lambda: harness.sql("SELECT count(*) FROM attempts")[0][0] >= 64)
        written = harness.sql("SELECT count(*) FROM attempts")[0][0]
        assert written < 400, "the kill came too late to mean anything"
        assert harness.counts(run).lost == 0, "nothing of it was sent, and nothing is given up"
        await goes_on(harness, run)
    assert_whole(harness, run, 400)
    assert [len(one.requests) for one in server.ledger.consignments] == [400]


@pytest.mark.whole
async def test_what_is_withdrawn_before_it_is_sent_is_not_counted(harness: Harness) -> None:
    """Message batches are known by how many requests they hold."""
    async with FakeBulk() as server:
        target = {
            "bulk": {"size": 10_000, "api": "anthropic"},
            "params": {"max_tokens": 9},
        }
        run = harness.create(bulk_suite(server, 800, target=target))
        server.hold("create")
        async with killed(harness, run):
            await until(lambda: harness.sql("SELECT count(*) FROM attempts")[0][0] >= 64)
        assert server.counts["create"] == 0, "the kill came too late to mean anything"
        ask(harness.path, run, Verb.CANCEL, {"trials": [harness.trial(run, "c0").id]})
        async with killed(harness, run):
            await server.happened("create")
        server.release("create")
        server.finish()
        await asyncio.wait_for(goes_on(harness, run), 60)
    assert states(harness, run) == {"done": 799, "cancelled": 1}
    assert set(executed(server).values()) == {1}


@pytest.mark.parametrize("moment", ["create", pytest.param("upload", marks=pytest.mark.whole)])
async def test_killed_before_the_provider_answers(harness: Harness, moment: str) -> None:
    async with FakeBulk() as server:
        run = harness.create(bulk_suite(server, 30))
        server.hold(moment)
        async with killed(harness, run):
            await server.happened(moment)
        server.release(moment)
        assert harness.sql("SELECT state, provider_id FROM consignments") == [("forming", None)]
        await goes_on(harness, run)
    assert_whole(harness, run, 30)
    assert set(executed(server).values()) == {1}
    assert len(server.ledger.consignments) == 1


@pytest.mark.whole
async def test_killed_while_it_waits(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server:
        run = harness.create(bulk_suite(server, 30, size=10))
        async with killed(harness, run):
            await until(lambda: server.counts["look"] >= 9)
        assert states(harness, run) == {"running": 30}
        server.finish()
        server.looks = 1
        await goes_on(harness, run)
    assert_whole(harness, run, 30)
    assert server.counts["create"] == 3


@pytest.mark.whole
async def test_killed_while_results_are_written(harness: Harness) -> None:
    async with FakeBulk() as server:
        run = harness.create(bulk_suite(server, 400))
        async with killed(harness, run):
            await until(lambda: harness.counts(run).done > 0)
        assert harness.counts(run).done < 400, "the kill came too late to mean anything"
        await goes_on(harness, run)
    assert_whole(harness, run, 400)
    assert set(executed(server).values()) == {1}


async def test_what_perhaps_was_sent_is_looked_for_before_it_is_sent_again(
    harness: Harness,
) -> None:
    async with FakeBulk(script=nth("create", Die(after=True), Die())) as server:
        run = harness.create(bulk_suite(server, 12, size=6))
        await goes_on(harness, run)
    assert_whole(harness, run, 12)
    assert set(executed(server).values()) == {1}
    assert len(server.ledger.consignments) == 2


@pytest.mark.whole
@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_several_thousand_with_faults_and_kills(harness: Harness, api: str) -> None:
    seed = int(os.environ.get("TUI_EVAL_SEED", random.randrange(10**6)))
    print(f"TUI_EVAL_SEED={seed}")
    draw, n, size, worst = random.Random(seed), 4000, 700, 4
    faults = BulkFaults(
        shuffle=seed,
        drop=draw.sample(range(200), 20),
        double=draw.sample(range(200, size), 50),
        expire=draw.sample(range(200, 300), 20),
        statuses=dict.fromkeys(draw.sample(range(300, 400), 20), 500),
        unknown=3,
        malformed=2,
        hide=True,
        miscount=-draw.randrange(size),
        only_first=worst,
    )
    script = nth("look", None, Refuse(500), Die(), None, Refuse(429))
    async with FakeBulk(faults=faults, script=script, looks=3) as server:
        target = {"bulk": {"size": size, "api": api}, "params": {"max_tokens": 100}}
        run = harness.create(bulk_suite(server, n, target=target))
        for _ in range(8):
            calls = len(server.calls) + draw.randrange(1, 12)
            async with killed(harness, run):
                await until(lambda: len(server.calls) >= calls or harness.counts(run).done == n)  # noqa: B023
                await asyncio.sleep(draw.random() * 0.3)
        await goes_on(harness, run)
    assert_whole(harness, run, n)
    twice = [prompt for prompt, times in executed(server).items() if times > 1]
    # what came to nothing at the provider's: its line was dropped, or had a status
    assert len(twice) <= worst * (20 + 20)
    lost = {
        prompt
        for (prompt,) in harness.sql(
            "SELECT 'q' || substr(c.id, 2) FROM attempts a JOIN trials t ON t.id = a.trial "
            "JOIN cases c ON c.run = t.run AND c.seq = t.seq "
            "WHERE a.state = 'failed' AND a.error_kind IN ('missing', 'server_error')"
        )
    }
    assert set(twice) <= lost, "nothing is executed twice whose result came"
    assert max(executed(server).values()) <= 3
