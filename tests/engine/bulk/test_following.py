import asyncio
from contextlib import closing
from functools import partial

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
from tests.engine.harness import Harness
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import Die, FakeBulk, Refuse, nth
from tests.waiting import until
from tui_eval.engine.bulk.arrivals import Arrivals
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.bulk.result_lines import LineCounts
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.providers.bulk import result_lines
from tui_eval.providers.bulk.api import BulkLine, StrayLine
from tui_eval.providers.bulk.line_stream import lines_of
from tui_eval.store.connection import open_readable
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.read.figures import call_spending
from tui_eval.store.requests import Verb


async def test_results_count_in_any_order_and_once(harness: Harness) -> None:
    faults = BulkFaults(shuffle=3, double=[1, 4], unknown=2, malformed=1)
    async with FakeBulk(faults=faults) as server:
        run = await run_bulk(harness, bulk_suite(server, 200))
    assert harness.counts(run).passed == 200
    assert harness.sql("SELECT unknown FROM consignments") == [(3,)]
    assert harness.sql("SELECT count(*) FROM outputs") == [(200,)]


@pytest.mark.parametrize("n", [10, 150], ids=["in one portion", "in several"])
async def test_two_answers_to_one_request_are_an_error(harness: Harness, n: int) -> None:
    async with FakeBulk(faults=BulkFaults(contradict=[2], only_first=1)) as server:
        run = await run_bulk(harness, bulk_suite(server, n))
        again = await run_bulk(harness, bulk_suite(server, n))
    assert states(harness, run) == {"done": n - 1, "error": 1}
    assert harness.trial(run, "c2").error_kind == "bad_answer"
    assert harness.counts(again).passed == n
    assert harness.counts(again).cached == n - 1, "neither of the two satisfies a key"


async def test_results_that_are_read_again_hold_no_room_and_count_no_error_anew(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One request has two answers and another no line: the results are read four times."""
    held: list[float] = []
    errors: list[None] = []
    hold, error = SpendCaps.consigned, SpendCaps.errored

    def noted(self: SpendCaps, token: str, usd: float | None, tokens: int | None) -> None:
        if server.ledger.consignments and token == server.ledger.consignments[0].token:
            assert usd is not None
            held.append(usd)
        hold(self, token, usd, tokens)

    def counted(self: SpendCaps) -> None:
        errors.append(None)
        error(self)

    monkeypatch.setattr(SpendCaps, "consigned", noted)
    monkeypatch.setattr(SpendCaps, "errored", counted)
    faults = BulkFaults(contradict=[2], drop=[7], only_first=1)
    async with FakeBulk(faults=faults) as server:
        of = bulk_suite(server, 150, target=PRICED, run={"max_cost_usd": 10.0})
        run = await run_bulk(harness, of)
    assert states(harness, run) == {"done": 149, "error": 1}
    assert server.counts["results"] >= 4, "the results were read again"
    assert held[0] > 100 * held[-1] > 0
    assert held == sorted(held, reverse=True)
    assert len(errors) == 1


async def test_what_has_no_line_is_asked_again_without_using_up_a_retry(harness: Harness) -> None:
    async with FakeBulk(faults=BulkFaults(drop=[0, 7], only_first=1)) as server:
        run = await run_bulk(harness, bulk_suite(server, 20, run={"retries": 0}))
    assert harness.counts(run).passed == 20
    assert [len(one.requests) for one in server.ledger.consignments] == [20, 2]
    assert {prompt for prompt, n in executed(server).items() if n > 1} == {"q0", "q7"}


async def test_what_has_no_line_may_have_been_paid(harness: Harness) -> None:
    """Of what the provider did nobody says what it cost."""
    faults = BulkFaults(drop=[0], expire=[1], only_first=1)
    async with FakeBulk(faults=faults) as server:
        run = await run_bulk(harness, bulk_suite(server, 4, target=PRICED))
        whole = await run_bulk(harness, bulk_suite(server, 4, name="other", target=PRICED))
    assert harness.counts(run).passed == harness.counts(whole).passed == 4
    assert harness.counts(run).unestimated
    assert not harness.counts(whole).unestimated
    with closing(open_readable(harness.path)) as db:
        assert call_spending.spending(db, run)[0].unanswered == 1, "what expired costs nothing"


async def test_what_expires_three_times_is_an_error(harness: Harness) -> None:
    async with FakeBulk(faults=BulkFaults(expire=[0])) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert states(harness, run) == {"done": 2, "error": 1}
    trial = harness.trial(run, "c0")
    assert trial.error_kind == "expired"
    assert "retry" in str(trial.error_message)
    assert [len(one.requests) for one in server.ledger.consignments] == [3, 1, 1]
    assert executed(server) == {"q1": 1, "q2": 1}
    assert harness.sql("SELECT sum(unsent) FROM attempts") == [(3,)], "none of them was a request"


async def test_a_retry_of_it_is_asked_live(harness: Harness) -> None:
    async with FakeBulk(faults=BulkFaults(expire=[0])) as server:
        run = await run_bulk(harness, bulk_suite(server, 2))
        await harness.again(run, Verb.RETRY, which="errors")
    assert states(harness, run) == {"done": 2}
    assert server.counts["live"] == 1
    assert len(server.ledger.consignments) == 3


async def test_a_line_with_a_status_is_a_failure_like_any(harness: Harness) -> None:
    faults = BulkFaults(statuses={0: 500, 1: 400}, hide=True, only_first=1)
    async with FakeBulk(faults=faults) as server:
        run = await run_bulk(harness, bulk_suite(server, 5))
    assert states(harness, run) == {"done": 4, "error": 1}
    assert harness.trial(run, "c1").error_kind == "bad_request"
    assert [len(one.requests) for one in server.ledger.consignments] == [5, 1]
    kept = harness.sql("SELECT state, status FROM attempts WHERE status IS NOT NULL ORDER BY id")
    assert kept == [("failed", 500), ("failed", 400)]


async def test_a_failure_that_stays_uses_up_the_retries(harness: Harness) -> None:
    async with FakeBulk(faults=BulkFaults(statuses={0: 500})) as server:
        run = await run_bulk(harness, bulk_suite(server, 1, run={"retries": 2}))
    assert harness.trial(run, "c0").error_kind == "server_error"
    assert len(server.ledger.consignments) == 3


async def test_results_that_break_off_are_taken_from_where_they_broke(harness: Harness) -> None:
    async with FakeBulk(faults=BulkFaults(cut=70)) as server:
        run = await run_bulk(harness, bulk_suite(server, 100))
    assert harness.counts(run).passed == 100
    assert set(executed(server).values()) == {1}
    assert harness.sql("SELECT count(*) FROM outputs") == [(100,)]


async def test_a_refused_batch_pauses_the_run_and_nothing_is_lost(harness: Harness) -> None:
    async with FakeBulk(faults=BulkFaults(fail="invalid_model", only_first=1)) as server:
        run = await run_bulk(harness, bulk_suite(server, 4))
        row = harness.row(run)
        assert (row.state, states(harness, run)) == ("paused", {"queued": 4})
        assert "invalid_model" in str(row.reason)
        await Engine(harness.path, run, polling=SOON).run()
    assert harness.counts(run).passed == 4


async def test_a_provider_without_room_is_sent_less_and_later(harness: Harness) -> None:
    async with FakeBulk(room=8, looks=3) as server:
        run = await run_bulk(harness, bulk_suite(server, 20))
    assert harness.counts(run).passed == 20
    assert set(executed(server).values()) == {1}
    assert harness.sql("SELECT max(attempts) FROM trials")[0][0] >= 1
    assert harness.row(run).state == "done"


async def test_a_provider_that_never_has_room_is_asked_as_long_as_patience_lasts(
    harness: Harness,
) -> None:
    pauses: list[float] = []

    async def noted(changed: asyncio.Event, seconds: float) -> None:
        pauses.append(seconds)
        await SOON.wait(changed, seconds)

    async with FakeBulk(room=0) as server:
        of = bulk_suite(server, 5)
        run = harness.create(of)
        await Engine(harness.path, run, polling=BulkPolling(wait=noted)).run()
        paused = harness.row(run)
        assert (paused.state, paused.stopped_by) == ("paused", "no_room")
        assert "so it was for 600 s" in str(paused.reason)
        assert states(harness, run) == {"queued": 5}
        assert [len(one.requests) for one in server.ledger.consignments][:3] == [5, 2, 1]
        server.room = None
        ask(harness.path, run, Verb.RESUME)
        await Engine(harness.path, run, polling=SOON).run()
    assert states(harness, run) == {"done": 5}
    assert set(executed(server).values()) == {1}


async def test_what_is_under_way_is_waited_for_before_there_is_no_room(harness: Harness) -> None:
    """Its end makes room, after hours perhaps."""
    async with FakeBulk(room=5, looks=0) as server:
        of = bulk_suite(server, 10, size=5, run={"patience": 0})
        async with working(harness, of) as (run, _):
            await until(lambda: server.counts["create"] >= 6)
            assert harness.row(run).state == "running"
            server.looks = 1
    assert states(harness, run) == {"done": 10}


async def test_a_provider_with_room_again_is_sent_more_again(harness: Harness) -> None:
    async with FakeBulk(room=8) as server:
        of = bulk_suite(server, 40)
        async with working(harness, of):
            await until(lambda: server.counts["results"] == 1)
            server.room = None
    sizes = [len(one.requests) for one in server.ledger.consignments if one.state == "completed"]
    assert sizes[0] == 5
    assert max(sizes) >= 10


@pytest.mark.parametrize("times", [1, 3])
async def test_that_a_batch_is_not_there_is_believed_when_it_is_said_often(
    harness: Harness, times: int
) -> None:
    async with FakeBulk(script=nth("look", *[Refuse(404)] * times)) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert harness.counts(run).passed == 3
    assert len(server.ledger.consignments) == 1


async def test_a_batch_that_the_provider_forgot_is_lost_and_asked_again(harness: Harness) -> None:
    async with FakeBulk(script=nth("look", *[Refuse(404)] * 4)) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert harness.counts(run).passed == 3
    kept = harness.sql("SELECT state FROM consignments ORDER BY id")
    assert kept == [("lost",), ("ended",)]
    assert harness.sql("SELECT count(*) FROM attempts WHERE state = 'lost'") == [(3,)]


async def test_a_provider_that_forgets_each_batch_is_not_paid_for_ever(harness: Harness) -> None:
    async with FakeBulk(script=lambda call: Refuse(404) if call.kind == "look" else None) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert states(harness, run) == {"error": 3}
    assert harness.trial(run, "c0").error_kind == "expired"
    assert len(server.ledger.consignments) == 3


@pytest.mark.parametrize(
    "faults", [BulkFaults(late=4), BulkFaults(cut=7, quiet=True), BulkFaults(cut=0, quiet=True)]
)
async def test_a_line_is_missing_only_where_results_lack_it_again_and_again(
    harness: Harness, faults: BulkFaults
) -> None:
    async with FakeBulk(faults=faults) as server:
        run = await run_bulk(harness, bulk_suite(server, 12))
    assert harness.counts(run).passed == 12
    assert set(executed(server).values()) == {1}


async def test_results_that_are_not_there_yet_are_read_again(harness: Harness) -> None:
    async with FakeBulk(script=nth("results", Refuse(404), Refuse(404))) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert harness.counts(run).passed == 3
    assert set(executed(server).values()) == {1}


async def test_results_that_are_never_there_end_in_errors(harness: Harness) -> None:
    async with FakeBulk(
        script=lambda call: Refuse(404) if call.kind == "results" else None
    ) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert (harness.row(run).state, states(harness, run)) == ("done", {"error": 3})
    assert len(server.ledger.consignments) == 3


async def test_what_a_batch_did_before_it_failed_is_taken(harness: Harness) -> None:
    faults = BulkFaults(broke="internal_error", only_first=1)
    async with FakeBulk(faults=faults) as server:
        run = await run_bulk(harness, bulk_suite(server, 6))
        assert states(harness, run) == {"done": 3, "queued": 3}
        await Engine(harness.path, run, polling=SOON).run()
    assert harness.counts(run).passed == 6
    assert set(executed(server).values()) == {1}


async def test_a_server_in_trouble_is_waited_for(harness: Harness) -> None:
    script = nth("look", Refuse(500), Die(), Refuse(429))
    async with FakeBulk(script=script) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert harness.counts(run).passed == 3
    assert set(executed(server).values()) == {1}


async def test_long_answers_are_written_down_a_few_at_a_time(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line may have 32 MB, and an engine no room for many."""
    taken: list[int] = []
    take = Arrivals.take

    async def counted(
        self: Arrivals,
        consignment: ConsignmentRow,
        lines: list[BulkLine | StrayLine],
        seen: LineCounts,
    ) -> bool:
        taken.append(len(lines))
        return await take(self, consignment, lines, seen)

    monkeypatch.setattr(Arrivals, "take", counted)
    async with FakeBulk(lambda prompt: prompt.ljust(1_500_000)) as server:
        run = await run_bulk(harness, bulk_suite(server, 7))
    assert harness.counts(run).done == 7
    assert max(taken) == 3


async def test_an_answer_that_is_too_long_is_paid_once(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_lines, "lines_of", partial(lines_of, most=10_000))
    async with FakeBulk(lambda prompt: prompt * (10_000 if prompt == "q1" else 1)) as server:
        run = await run_bulk(harness, bulk_suite(server, 3))
    assert states(harness, run) == {"done": 2, "error": 1}
    assert harness.trial(run, "c1").error_kind == "bad_answer"
    assert "longer than 34 MB" in str(harness.trial(run, "c1").error_message)
    assert set(executed(server).values()) == {1}


@pytest.mark.parametrize("patience", [600, 0])
async def test_a_provider_that_is_gone_is_asked_as_long_as_patience_lasts(
    harness: Harness, patience: float
) -> None:
    async with FakeBulk(looks=0) as server:
        of = bulk_suite(server, 3, run={"patience": patience})
        run = await run_bulk(harness, of, submit=True)
        server.script = lambda call: Die()
        pauses: list[float] = []

        async def noted(changed: asyncio.Event, seconds: float) -> None:
            pauses.append(seconds)
            await SOON.wait(changed, seconds)

        ask(harness.path, run, Verb.RESUME)
        await Engine(harness.path, run, polling=BulkPolling(wait=noted)).run()
        paused = harness.row(run)
        assert (paused.state, paused.stopped_by) == ("paused", "connection")
        assert f"so it was for {patience} s" in str(paused.reason)
        assert sum(pauses) == patience
        assert states(harness, run) == {"running": 3}
        server.script = None
        server.finish()
        ask(harness.path, run, Verb.RESUME)
        await Engine(harness.path, run, polling=SOON).run()
    assert states(harness, run) == {"done": 3}
    assert set(executed(server).values()) == {1}
