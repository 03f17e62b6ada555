from contextlib import closing

import pytest

from tests.engine.bulk.bulk_runs import SOON, bulk_suite, executed, run_bulk, states, working
from tests.engine.harness import Harness
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import BulkCall, Die, FakeBulk, Fault, Refuse, nth
from tests.waiting import until
from tui_eval.engine.control.submit import ask, needs_engine
from tui_eval.engine.engine import Engine
from tui_eval.store.connection import open_readable
from tui_eval.store.read import consignment_queries
from tui_eval.store.requests import Verb


async def test_a_cancelled_run_is_ended_at_the_provider_and_what_is_done_is_kept(
    harness: Harness,
) -> None:
    async with FakeBulk(looks=0) as server:
        of = bulk_suite(server, 10)
        async with working(harness, of) as (run, _):
            await until(lambda: server.counts["look"] > 1)
            await harness.asked(run, Verb.CANCEL_RUN)
        assert (harness.row(run).state, states(harness, run)) == ("cancelled", {"cancelled": 10})
        assert server.counts["cancel"] == 1
        # the simulated provider does half of it
        assert harness.sql("SELECT count(*) FROM outputs") == [(5,)]
        assert harness.sql("SELECT state, taken_at > 0 FROM consignments") == [("cancelled", 1)]
        server.looks = 1
        again = await run_bulk(harness, of)
    assert harness.counts(again).cached == 5
    assert set(executed(server).values()) == {1}


async def test_a_run_that_nobody_works_on_is_ended_there_too(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server:
        run = await run_bulk(harness, bulk_suite(server, 4), submit=True)
        request = ask(harness.path, run, Verb.CANCEL_RUN)
        db = open_readable(harness.path)
        assert needs_engine(db, run, request), "somebody has to tell the provider"
        db.close()
        await Engine(harness.path, run, polling=SOON).run()
        assert harness.request(request).outcome == "accepted"
    assert server.counts["cancel"] == 1
    assert states(harness, run) == {"cancelled": 4}


async def cancelled_while_under_way(harness: Harness, server: FakeBulk) -> int:
    """Run four questions, and cancel the run while they are at the provider."""
    async with working(harness, bulk_suite(server, 4)) as (run, _):
        await until(lambda: server.counts["look"] > 1)
        await harness.asked(run, Verb.CANCEL_RUN)
    return run


def deaf(call: BulkCall) -> Fault | None:
    """Hear of nothing that is to end."""
    return Refuse(500) if call.kind == "cancel" else None


async def test_a_provider_is_told_to_end_until_it_has_heard(harness: Harness) -> None:
    async with FakeBulk(looks=0, script=nth("cancel", Refuse(500), Die())) as server:
        run = await cancelled_while_under_way(harness, server)
    assert states(harness, run) == {"cancelled": 4}
    assert harness.sql("SELECT state, taken_at > 0 FROM consignments") == [("cancelled", 1)]
    assert server.counts["cancel"] == 3


async def test_one_that_its_provider_has_not_got_is_lost_and_over(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server:
        run = await run_bulk(harness, bulk_suite(server, 4), submit=True)
        server.script = lambda call: Refuse(404, message="no such batch")
        ask(harness.path, run, Verb.CANCEL_RUN)
        await Engine(harness.path, run, polling=SOON).run()
    assert states(harness, run) == {"cancelled": 4}
    ((state, over),) = harness.sql("SELECT state, taken_at > 0 FROM consignments")
    assert (state, over) == ("lost", 1)
    with closing(open_readable(harness.path)) as db:
        (row,) = consignment_queries.consignments(db, run)
        assert "no such batch" in str(row.problem)
        assert consignment_queries.awaited_requests(db, [run]) == ()
    assert harness.sql("SELECT DISTINCT state FROM attempts") == [("lost",)]


@pytest.mark.parametrize("times", [1, 3])
async def test_one_that_is_there_again_is_not_lost(harness: Harness, times: int) -> None:
    script = nth("look", None, *[Refuse(404)] * times)
    async with FakeBulk(looks=0, script=script) as server:
        run = await run_bulk(harness, bulk_suite(server, 4), submit=True)
        assert server.counts["look"] == 1
        ask(harness.path, run, Verb.CANCEL_RUN)
        await Engine(harness.path, run, polling=SOON).run()
    assert harness.sql("SELECT state, taken_at > 0 FROM consignments") == [("cancelled", 1)]
    assert harness.sql("SELECT count(*) FROM outputs") == [(2,)]


async def test_results_that_come_late_are_taken_of_a_cancelled_run_too(harness: Harness) -> None:
    """They are paid for."""
    script = nth("results", Refuse(404), Refuse(404))
    async with FakeBulk(looks=0, script=script) as server:
        await cancelled_while_under_way(harness, server)
    assert harness.sql("SELECT count(*) FROM outputs") == [(2,)]
    assert harness.sql("SELECT state, taken_at > 0 FROM consignments") == [("cancelled", 1)]


async def test_results_that_never_come_end_it_too(harness: Harness) -> None:
    faults = BulkFaults(drop=[0])
    async with FakeBulk(looks=0, faults=faults) as server:
        await cancelled_while_under_way(harness, server)
    assert harness.sql("SELECT count(*) FROM outputs") == [(1,)]
    assert harness.sql("SELECT state, taken_at > 0 FROM consignments") == [("cancelled", 1)]


async def test_a_provider_that_cannot_be_told_holds_nobody_up(harness: Harness) -> None:
    async with FakeBulk(looks=0, script=deaf) as server:
        async with working(harness, bulk_suite(server, 4)) as (run, _):
            await until(lambda: server.counts["look"] > 1)
            await harness.asked(run, Verb.CANCEL_RUN)
        assert states(harness, run) == {"cancelled": 4}
        assert harness.sql("SELECT state, taken_at FROM consignments") == [("sent", None)]
        server.finish()
        # taken up where it was left: what the provider has done is not asked again
        await harness.again(run, Verb.UNCANCEL, request=1)
    assert states(harness, run) == {"done": 4}
    assert set(executed(server).values()) == {1}


async def test_a_cancelled_trial_does_not_take_its_answer(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server:
        async with working(harness, bulk_suite(server, 5)) as (run, _):
            await until(lambda: server.counts["look"] > 1)
            chosen = harness.trial(run, "c2").id
            await harness.asked(run, Verb.CANCEL, trials=[chosen])
            server.finish()
        assert states(harness, run) == {"done": 4, "cancelled": 1}
        kept = harness.sql("SELECT state, output > 0 FROM attempts WHERE trial = ?", chosen)
        assert kept == [("answered", 1)]
        assert harness.trial(run, "c2").output is None


async def test_one_that_is_cancelled_and_taken_up_again_takes_it(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server, working(harness, bulk_suite(server, 5)) as (run, _):
        await until(lambda: server.counts["look"] > 1)
        chosen = harness.trial(run, "c2").id
        done = await harness.asked(run, Verb.CANCEL, trials=[chosen])
        await harness.asked(run, Verb.UNCANCEL, request=done.id)
        server.finish()
    assert states(harness, run) == {"done": 5}
    assert set(executed(server).values()) == {1}
    assert len(server.ledger.consignments) == 1


async def test_a_paused_run_sends_nothing_and_takes_what_is_done(harness: Harness) -> None:
    async with FakeBulk(looks=0) as server, working(harness, bulk_suite(server, 6)) as (run, _):
        await until(lambda: server.counts["look"] > 1)
        await harness.asked(run, Verb.PAUSE)
        server.ledger.faults.drop = [1]
        server.finish()
        await until(lambda: states(harness, run) == {"done": 5, "queued": 1})
        assert len(server.ledger.consignments) == 1
        server.ledger.faults.drop = []
        server.looks = 1
        await harness.asked(run, Verb.CONTINUE)
    assert states(harness, run) == {"done": 6}


async def test_what_ends_after_a_run_was_cancelled_is_collected(harness: Harness) -> None:
    async with FakeBulk(
        looks=0, script=lambda call: deaf(call) if "000001" in call.path else None
    ) as server:
        of = bulk_suite(server, 6, size=3)
        async with working(harness, of) as (run, _):
            await until(lambda: len(server.ledger.consignments) == 2)
            await until(lambda: server.counts["look"] > 3)
            await harness.asked(run, Verb.CANCEL_RUN)
        open_ones = "SELECT count(*) FROM consignments WHERE taken_at IS NULL"
        assert harness.sql(open_ones) == [(1,)], "the first could not be told to end"
        server.finish()
        await harness.again(run, Verb.RESUME, collect=True)
        assert harness.row(run).state == "cancelled"
        assert states(harness, run) == {"cancelled": 6}
        assert harness.sql(open_ones) == [(0,)]
        kept = harness.sql("SELECT count(*) FROM outputs")[0][0]
        assert 3 <= kept < 6
        looks = server.counts["look"]
        await harness.again(run, Verb.RESUME, collect=True)
        (answer,) = harness.sql("SELECT outcome FROM requests ORDER BY id DESC LIMIT 1")
        assert (answer, server.counts["look"]) == (("already",), looks)
        server.looks = 1
        again = await run_bulk(harness, of)
    assert harness.counts(again).cached == kept
    assert set(executed(server).values()) == {1}


async def test_one_that_ended_before_it_could_be_cancelled_is_taken(harness: Harness) -> None:
    async with FakeBulk(looks=0, script=nth("cancel", Refuse(409))) as server:
        run = await run_bulk(harness, bulk_suite(server, 4), submit=True)
        server.finish()
        ask(harness.path, run, Verb.CANCEL_RUN)
        await Engine(harness.path, run, polling=SOON).run()
    assert states(harness, run) == {"cancelled": 4}
    assert harness.sql("SELECT count(*) FROM outputs") == [(4,)]
    assert harness.sql("SELECT state, taken_at > 0 FROM consignments") == [("ended", 1)]
