from collections.abc import Mapping
from typing import Any

from tests.engine.bulk.bulk_runs import SOON, run_bulk, working
from tests.engine.harness import Harness
from tests.engine.judging.bulk.judged_runs import (
    Grading,
    again,
    assert_graded,
    bulk_judged,
    figures,
    open_ones,
)
from tests.servers.fake_bulk import FakeBulk
from tests.servers.fake_judge import Item, by_number
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.store.requests import Verb


async def test_a_judge_is_asked_in_consignments_of_batches(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=2) as server:
        run = await run_bulk(harness, bulk_judged(server, 23))
        second = await run_bulk(harness, bulk_judged(server, 23))
    assert_graded(harness, run, 23)
    assert server.counts["live"] == 23, "the target alone is asked live"
    assert [len(one.requests) for one in server.ledger.consignments] == [5]
    assert sorted(map(len, grading.items)) == [3, 5, 5, 5, 5]
    kept = harness.sql("SELECT asked, target, number, state, requests FROM consignments")
    assert kept == [("judge", "j", 1, "ended", 5)]
    assert harness.counts(second).done == 23
    assert len(grading.items) == 5, "what is known is asked of nobody"


async def test_a_consignment_holds_so_many_requests(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        run = await run_bulk(harness, bulk_judged(server, 40, size=3))
    assert_graded(harness, run, 40)
    assert sum(len(one.requests) for one in server.ledger.consignments) == 8
    assert max(len(one.requests) for one in server.ledger.consignments) == 3
    assert len(grading.graded) == 40


async def test_it_is_sent_and_collected_later(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=0) as server:
        run = await run_bulk(harness, bulk_judged(server, 7), submit=True)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == ("paused", "bulk")
        assert {str(trial.state) for trial in harness.trials(run)} == {"scoring"}
        waiting = {str(trial.waiting) for trial in harness.trials(run)}
        assert [text[: len("judge bulk 1/1, 0 of 2")] for text in waiting] == [
            "judge bulk 1/1, 0 of 2"
        ]
        await again(harness, run, Verb.RESUME, collect=True)
        assert harness.row(run).state == "paused"
        server.finish()
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 7)
    assert len(server.ledger.consignments) == 1


async def test_equal_outputs_are_asked_about_once(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        cases = [{"id": f"c{i}", "q": f"q{i % 3}"} for i in range(30)]
        of = bulk_judged(server, 1, cases=cases, run={"cache": True})
        run = await run_bulk(harness, of)
    assert harness.counts(run).done == 30
    assert set(grading.graded) == {"q0", "q1", "q2"}
    assert not open_ones(harness)
    told = figures(harness, run)
    assert (told.findings, told.cached, told.grading.items) == (30, 27, 3)


async def test_scored_again_in_bulk(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        run = await run_bulk(harness, bulk_judged(server, 10))
        await again(harness, run, Verb.RESCORE, fresh=True)
    assert harness.counts(run).done == 10
    assert len(grading.graded) == 20
    assert [len(one.requests) for one in server.ledger.consignments] == [2, 2]


async def test_one_trial_scored_again_is_asked_live(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        run = await run_bulk(harness, bulk_judged(server, 5))
        live = server.counts["live"]
        trial = harness.trials(run)[0].id
        await again(harness, run, Verb.RESCORE, trials=[trial])
    assert server.counts["live"] == live + 1
    assert len(server.ledger.consignments) == 1


PRICED = {"prices": {"input": 10.0, "output": 10.0}, "params": {"max_tokens": 100}}


async def test_caps_hold_before_it_is_sent(harness: Harness) -> None:
    grading = Grading()
    free = {"prices": {"input": 0.0, "output": 0.0}}
    async with FakeBulk(grading) as server:
        target = {"kind": "model", "name": "t", "base_url": server.base_url, "model": "m", **free}
        of = bulk_judged(server, 10, judge=PRICED, targets=[target], run={"max_cost_usd": 0.001})
        run = await run_bulk(harness, of)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == ("paused", "max_cost_usd")
        assert "in bulk may cost" in str(row.reason)
        assert server.counts["create"] == 0
        await again(harness, run, Verb.RESUME, max_cost_usd=1.0)
    assert_graded(harness, run, 10)
    cost, tokens = harness.sql("SELECT sum(about_usd), sum(input_tokens) FROM judge_calls")[0]
    assert cost > 0
    assert tokens > 0


async def test_what_is_sent_holds_its_room_also_for_the_next_engine(harness: Harness) -> None:
    free = {"prices": {"input": 0.0, "output": 0.0}}
    async with FakeBulk(Grading(), looks=0) as server:
        target = {"kind": "model", "name": "t", "base_url": server.base_url, "model": "m", **free}
        judge = {**PRICED, "batch_size": 1}
        cap = {"max_cost_usd": 0.06}
        of = bulk_judged(server, 8, judge=judge, targets=[target], run=cap)
        run = await run_bulk(harness, of, submit=True)
        await again(harness, run, Verb.RESUME, collect=True)
        ((most, sent),) = harness.sql("SELECT most_usd, requests FROM consignments")
        assert 0 < sent < 8
        assert 0.03 < most <= 0.06
        server.finish()
        server.looks = 1
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 8)
    assert len(server.ledger.consignments) > 1


async def test_grades_that_come_while_a_run_is_paused_count(harness: Harness) -> None:
    """What they lack waits until it goes on: nothing further is sent."""

    def lacking_once(item: Item) -> Mapping[str, Any] | None:
        return None if len(grading.items) == 1 and item["output"] == "q3" else by_number(item)

    grading = Grading(lacking_once)
    async with (
        FakeBulk(grading, looks=0) as server,
        working(harness, bulk_judged(server, 8, judge={"batch_size": 8})) as (run, _),
    ):
        await server.happened("create")
        await harness.asked(run, Verb.PAUSE)
        server.finish()
        server.looks = 1
        await until(lambda: harness.counts(run).done == 7)
        assert harness.row(run).state == "paused"
        assert server.counts["create"] == 1
        await harness.asked(run, Verb.CONTINUE)
    assert_graded(harness, run, 8)
    assert [len(one.requests) for one in server.ledger.consignments] == [1, 1]
