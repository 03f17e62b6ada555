"""Judges, and trials, that change while something of theirs is at the provider."""

import pytest

from tests.engine.bulk.bulk_runs import SOON, run_bulk, working
from tests.engine.harness import RUBRIC, Harness
from tests.engine.judging.bulk.judged_runs import (
    Grading,
    again,
    assert_graded,
    bulk_judged,
    open_ones,
)
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import FakeBulk
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.store.requests import Verb


async def test_a_live_run_scored_again_takes_up_what_is_under_way(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=0) as server:
        of = bulk_judged(server, 5)
        judges = [of.judges[0].model_copy(update={"instructions": "Be strict."}).model_dump()]
        async with working(harness, of) as (run, _):
            await until(lambda: server.counts["look"] > 1)
            answered = await harness.asked(
                run, Verb.RESCORE, which="all", scorer_specs=[RUBRIC], judge_specs=judges
            )
            assert answered.outcome in ("accepted", "already"), answered.detail
            server.looks = 1
            server.finish()
    assert harness.counts(run).done == 5
    assert harness.counts(run).ungraded == 0
    assert not open_ones(harness)
    assert len(grading.graded) == 10
    kept = harness.sql("SELECT superseded, count(*) FROM findings GROUP BY superseded")
    assert kept == [(0, 5), (1, 5)], "what the judge of before said is found by its keys"


@pytest.mark.parametrize("moment", ["look", "results"])
async def test_what_is_asked_as_before_is_not_asked_twice(harness: Harness, moment: str) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=0) as server:
        of = bulk_judged(server, 7)
        judges = [of.judges[0].model_copy(update={"linger": 1.0}).model_dump()]
        async with working(harness, of) as (run, _):
            await server.happened("look")
            server.hold(moment)
            server.finish()
            await server.happened(moment, 2 if moment == "look" else 1)
            specs = {"scorer_specs": [RUBRIC], "judge_specs": judges}
            answered = await harness.asked(run, Verb.RESCORE, which="all", **specs)
            assert answered.outcome in ("accepted", "already"), answered.detail
            server.release(moment)
    assert_graded(harness, run, 7)
    assert len(grading.graded) == 7
    assert len(server.ledger.consignments) == 1


async def test_a_cancelled_trial_takes_what_comes_once_it_is_taken_back(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=0) as server:
        run = await run_bulk(harness, bulk_judged(server, 5), submit=True)
        trial = harness.trials(run)[2].id
        await again(harness, run, Verb.CANCEL, trials=[trial])
        await again(harness, run, Verb.UNCANCEL, request=1)
        server.finish()
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 5)
    assert len(grading.graded) == 5


async def test_a_judge_that_is_asked_live_now_leaves_nothing_open(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=0) as server:
        of = bulk_judged(server, 5)
        run = await run_bulk(harness, of, submit=True)
        judges = [of.judges[0].model_copy(update={"bulk": False}).model_dump()]
        specs = {"scorer_specs": [RUBRIC], "judge_specs": judges}
        await again(harness, run, Verb.RESCORE, which="all", **specs)
        await Engine(harness.path, run, polling=SOON).run()
    assert harness.counts(run).done == 5
    assert harness.counts(run).ungraded == 0
    assert not open_ones(harness)
    assert harness.sql("SELECT state FROM consignments") == [("lost",)]


async def test_what_came_of_a_judge_that_is_asked_live_now_is_not_asked_again(
    harness: Harness,
) -> None:
    grading = Grading()
    faults = BulkFaults(drop=[0])
    async with FakeBulk(grading, faults=faults, looks=0) as server:
        of = bulk_judged(server, 20)
        judges = [of.judges[0].model_copy(update={"bulk": False}).model_dump()]
        specs = {"scorer_specs": [RUBRIC], "judge_specs": judges}
        async with working(harness, of) as (run, _):
            await until(lambda: server.ledger.consignments)
            server.finish()
            await server.happened("results")
            server.hold("results")  # one has no line, and the rest was taken
            await server.happened("results", 2)
            assert harness.sql("SELECT count(*) FROM judge_calls WHERE state = 'answered'") == [
                (3,)
            ]
            await harness.asked(run, Verb.RESCORE, which="all", **specs)
            server.release("results")
    assert harness.counts(run).done == 20
    assert not open_ones(harness)
    assert len(grading.graded) == 20, "the store knows what came before"
