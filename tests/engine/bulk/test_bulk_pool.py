import asyncio
import errno
import io
import os
from contextlib import closing
from types import SimpleNamespace

import pytest

from tests.engine.bulk.bulk_runs import (
    PRICED,
    SOON,
    bulk_suite,
    executed,
    run_bulk,
    states,
    working,
)
from tests.engine.harness import Harness, judged, suite
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import BulkCall, FakeBulk, Fault, Refuse
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel
from tui_eval.engine.bulk import request_file
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.store.requests import Verb


async def test_a_run_is_asked_in_consignments(harness: Harness) -> None:
    async with FakeBulk(looks=2) as server:
        run = await run_bulk(harness, bulk_suite(server, 25, size=10))
        again = await run_bulk(harness, bulk_suite(server, 25, size=10))
    assert harness.row(run).state == "done"
    assert states(harness, run) == {"done": 25}
    assert harness.counts(run).passed == 25
    assert [len(one.requests) for one in server.ledger.consignments] == [10, 10, 5]
    assert set(executed(server).values()) == {1}
    assert server.counts["live"] == 0
    assert harness.counts(again).cached == 25
    kept = harness.sql("SELECT state, requests, taken_at IS NOT NULL FROM consignments")
    assert kept == [("ended", 10, 1), ("ended", 10, 1), ("ended", 5, 1)]


async def test_under_a_cap_less_is_sent_at_once(harness: Harness) -> None:
    async with FakeBulk() as server:
        # a request may take about 200 tokens of $10 a million, and takes far fewer
        of = bulk_suite(server, 12, target=PRICED, run={"max_cost_usd": 0.02})
        run = await run_bulk(harness, of)
    assert harness.counts(run).passed == 12
    assert len(server.ledger.consignments) > 1
    assert set(executed(server).values()) == {1}


async def test_targets_that_are_asked_at_once_share_what_a_cap_leaves(harness: Harness) -> None:
    """What each puts together is held before anything is sent: answers take nearly as much."""
    async with FakeBulk(lambda prompt: prompt + 392 * "x") as server:
        one = {"kind": "model", "base_url": server.base_url, "bulk": True, **PRICED}
        targets = [{**one, "name": name, "model": name} for name in "abc"]
        of = suite(server.base_url, 100, targets=targets, run={"max_cost_usd": 0.15})
        run = await run_bulk(harness, of)
        paid = harness.sql("SELECT total(about_usd) FROM attempts")[0][0]
    assert harness.row(run).stopped_by == "max_cost_usd"
    assert 0.12 < paid <= 0.15


async def test_what_is_put_together_and_not_sent_is_not_where_a_cap_is_lowered(
    harness: Harness,
) -> None:
    shut = True

    def script(call: BulkCall) -> Fault | None:
        return Refuse(503) if shut and call.kind == "upload" else None

    async with FakeBulk(script=script) as server:
        of = bulk_suite(server, 20, target=PRICED, run={"max_cost_usd": 1.0})
        run = await run_bulk(harness, of)
        assert harness.row(run).state == "paused"
        shut = False
        for cap, left in ((0.0001, 20), (0.02, 0)):
            ask(harness.path, run, Verb.RESUME, {"max_cost_usd": cap})
            await Engine(harness.path, run, polling=SOON).run()
            assert harness.counts(run).queued == left
    assert states(harness, run) == {"done": 20}
    most = harness.sql("SELECT max(most_usd) FROM consignments WHERE provider_id NOT NULL")
    assert most[0][0] <= 0.02
    assert set(executed(server).values()) == {1}


async def test_moved_caps_let_more_be_sent_while_something_is_under_way(harness: Harness) -> None:
    """The first consignment takes all the room there is, and comes to no end."""
    async with FakeBulk(looks=0) as server:
        of = bulk_suite(server, 20, target=PRICED, run={"max_cost_usd": 0.02})
        async with working(harness, of) as (run, _):
            await server.happened("create")
            await asyncio.wait_for(harness.asked(run, Verb.RESUME, max_cost_usd=1.0), 10)
            await asyncio.wait_for(server.happened("create", 2), 10)
            server.finish()
            server.looks = 1
    assert harness.counts(run).passed == 20
    assert len(server.ledger.consignments) == 2


async def test_near_a_cap_not_one_request_after_the_other_is_sent(harness: Harness) -> None:
    """Each costs less than is held for it: what comes back makes room again and again."""
    target = {**PRICED, "params": {"max_tokens": 10}}
    async with FakeBulk(lambda prompt: prompt + 300 * "x") as server:
        of = bulk_suite(server, 100, target=target, run={"max_cost_usd": 0.06})
        run = await run_bulk(harness, of)
    row, sizes = harness.row(run), [len(one.requests) for one in server.ledger.consignments]
    assert (row.state, row.stopped_by) == ("paused", "max_cost_usd")
    assert "enough for only" in str(row.reason)
    assert len(sizes) > 3
    assert min(sizes) >= max(sizes) // 10 > 1
    assert harness.sql("SELECT sum(about_usd) BETWEEN 0.05 AND 0.06 FROM attempts") == [(1,)]
    assert set(executed(server).values()) == {1}


async def test_two_answers_to_a_request_were_paid_as_far_as_caps_are_about_it(
    harness: Harness,
) -> None:
    faults = BulkFaults(contradict=[0])
    async with FakeBulk(lambda _: 400 * "x", faults=faults) as server:
        of = bulk_suite(server, 12, size=1, target=PRICED, run={"max_cost_usd": 0.006})
        run = await run_bulk(harness, of)
    assert harness.row(run).stopped_by == "max_cost_usd"
    assert 0 < states(harness, run)["error"] < 6


@pytest.mark.parametrize(
    ("answer", "faults", "kind"),
    [
        ("", BulkFaults(), "empty_output"),
        ("yes", BulkFaults(contradict=[0]), "bad_answer"),
    ],
    ids=["empty", "two answers"],
)
async def test_a_failure_that_is_paid_costs_at_most_what_a_single_call_does(
    harness: Harness, answer: str, faults: BulkFaults, kind: str
) -> None:
    async with FakeBulk(lambda _: answer, faults=faults) as server:
        run = await run_bulk(harness, bulk_suite(server, 1, target=PRICED))
    paid = harness.sql(
        "SELECT min(error_kind), min(about_usd = (input_tokens + output_tokens) * 1e-5) "
        "FROM attempts WHERE state = 'failed'"
    )
    assert paid == [(kind, 1)]
    ((known, about),) = harness.sql("SELECT cost_usd, about_usd FROM trials WHERE run = ?", run)
    assert known is None
    assert about == harness.sql("SELECT sum(about_usd) FROM attempts")[0][0]


async def test_where_nothing_fits_under_a_cap_the_run_asks(harness: Harness) -> None:
    async with FakeBulk() as server:
        of = bulk_suite(server, 3, target=PRICED, run={"max_cost_usd": 0.0005})
        run = await run_bulk(harness, of)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == ("paused", "max_cost_usd")
        assert "in bulk may cost" in str(row.reason)
        assert server.counts["create"] == 0
        request = ask(harness.path, run, Verb.RESUME, {"max_cost_usd": 1.0})
        await Engine(harness.path, run, polling=SOON).run()
    assert harness.request(request).outcome == "accepted"
    assert harness.counts(run).passed == 3


@pytest.mark.parametrize("room", [0, 64], ids=["at once", "after a portion"])
async def test_without_room_for_the_requests_here_the_run_pauses_and_goes_on(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    class Full(io.StringIO):
        """Takes so many requests; a later one is formed again, and finds no room at all."""

        def write(self, text: str) -> int:
            nonlocal room
            if not room:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            room -= 1
            return super().write(text)

    full = SimpleNamespace(TemporaryFile=lambda *_, **__: Full())
    async with FakeBulk() as server:
        run = harness.create(bulk_suite(server, 70))
        with monkeypatch.context() as patch:
            patch.setattr(request_file, "tempfile", full)
            for _ in range(2):
                await Engine(harness.path, run, polling=SOON).run()
                row = harness.row(run)
                assert row.state == "paused"
                assert "No space left on device; make room there" in str(row.reason)
                ask(harness.path, run, Verb.RESUME)
        await Engine(harness.path, run, polling=SOON).run()
    assert harness.counts(run).passed == 70
    assert set(executed(server).values()) == {1}


async def test_a_cap_needs_to_know_how_long_answers_are(harness: Harness) -> None:
    async with FakeBulk() as server:
        target = {"prices": {"input": 10.0, "output": 10.0}}
        of = bulk_suite(server, 3, target=target, run={"max_cost_usd": 1.0})
        with closing(Session(of, Settings())) as session:
            (problem,) = session.problems()
    assert "max_tokens" in problem
    assert "'fake'" in problem


async def test_what_judges_decide_is_graded_as_it_comes(harness: Harness) -> None:
    async with FakeBulk(lambda prompt: "x7") as server, FakeModel(answers(by_number)) as judge:
        of = judged(server.base_url, judge.base_url, 6)
        of = of.model_copy(update={"targets": bulk_suite(server, 1).targets})
        run = await run_bulk(harness, of)
    assert states(harness, run) == {"done": 6}
    assert server.counts["live"] == 0


async def test_how_far_it_is_stands_with_the_trial(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server:
        run = await run_bulk(harness, bulk_suite(server, 3, size=2), submit=True)
    waiting = [str(trial.waiting) for trial in harness.trials(run)]
    assert [text[: len("bulk 1/2, 0 of 2")] for text in waiting] == [
        "bulk 1/2, 0 of 2",
        "bulk 1/2, 0 of 2",
        "bulk 2/2, 0 of 1",
    ]
