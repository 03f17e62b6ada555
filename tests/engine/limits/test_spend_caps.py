"""Caps on money, tokens and errors: the run pauses and asks."""

import asyncio
import heapq
import json
import random
from collections.abc import Callable
from contextlib import ExitStack

import pytest

from tests.engine.alone import Alone
from tests.engine.harness import Harness, judged, suite
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import Call, FakeModel, Reply, always, first_attempts, refuse
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.limits.spend_cap import CallBound, PayerCalls
from tui_eval.engine.limits.spend_caps import BulkPayer, Caps, SpendCaps
from tui_eval.engine.preflight.readiness import missing
from tui_eval.engine.settings import Settings
from tui_eval.format import cost
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.states import RunState, TrialState
from tui_eval.reports.document import document
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.requests import Verb

PRICED = {"model": "m", "prices": {"input": 1_000_000.0, "output": 1_000_000.0}}


async def test_a_run_pauses_at_its_cost_cap_and_goes_on_with_a_higher_one(harness: Harness) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, **PRICED}
        limits = {"max_cost_usd": 10.0, "concurrency": 2}
        run = await harness.run(suite(server.base_url, 30, targets=[target], run=limits))
        row, counts = harness.row(run), harness.counts(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_cost_usd")
        assert "--max-cost" in (row.reason or "")
        assert counts.cost_usd is not None
        assert 10.0 - 3.0 < counts.cost_usd <= 10.0
        asked = server.requests
        await harness.again(run, Verb.RESUME)
        assert server.requests == asked, "the cap still holds"
        await harness.again(run, Verb.RESUME, max_cost_usd=1000.0)
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).passed == 30
    assert server.requests == 30


async def test_calls_in_flight_do_not_take_a_run_far_above_its_cost_cap(harness: Harness) -> None:
    """All calls cost $2; four may be in flight, but never more than the cap has room for."""
    async with FakeModel(latency=0.02) as server:
        target = {"base_url": server.base_url, **PRICED}
        limits = {"max_cost_usd": 31.0, "concurrency": 4}
        run = await harness.run(suite(server.base_url, 30, targets=[target], run=limits))
        row, counts = harness.row(run), harness.counts(run)
    assert row.stopped_by == "max_cost_usd"
    assert counts.cost_usd is not None
    assert counts.cost_usd == 30.0
    assert server.in_flight_max == 4
    assert (row.reason or "").startswith(
        "$30.00 is spent, the next call may cost $2.00 and max_cost_usd"
    )


async def test_one_call_finds_out_what_calls_cost_before_others_begin(harness: Harness) -> None:
    async with FakeModel(latency=0.05) as server:
        target = {"base_url": server.base_url, **PRICED}
        limits = {"max_cost_usd": 0.5, "concurrency": 8}
        run = await harness.run(suite(server.base_url, 30, targets=[target], run=limits))
    assert server.requests == 1
    assert (harness.row(run).reason or "").startswith("$2.00 is spent and max_cost_usd is 0.5")


async def test_what_calls_may_produce_at_most_is_held_before_any_was_made(harness: Harness) -> None:
    """A call may produce 5 tokens at $1: three have room at first, and all once one is known."""
    async with FakeModel() as server:
        server.hold()
        target = {"base_url": server.base_url, **PRICED, "params": {"max_tokens": 5}}
        limits = {"max_cost_usd": 17.0, "concurrency": 8}
        made = suite(server.base_url, 8, targets=[target], run=limits)
        async with harness.working(made) as (run, _):
            await until(lambda: server.in_flight == 3)
            server.let_go()
    assert server.in_flight_max >= 3
    assert harness.counts(run).cost_usd == 16.0
    assert harness.row(run).state is RunState.DONE


async def test_a_call_that_no_cap_has_room_for_is_not_made(harness: Harness) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, **PRICED, "params": {"max_tokens": 5}}
        run = await harness.run(
            suite(server.base_url, 8, targets=[target], run={"max_cost_usd": 4.0})
        )
        assert server.requests == 0
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_cost_usd")
        assert (row.reason or "").startswith("$0.00 is spent, the next call may cost $5.00")
        await harness.again(run, Verb.RESUME, max_cost_usd=100.0)
    assert harness.counts(run).passed == 8


async def test_judges_are_held_to_the_caps_as_targets_are(harness: Harness) -> None:
    async with (
        FakeModel() as target,
        FakeModel(answers(by_number), latency=0.01) as judge,
    ):
        prices = {"input": 10_000.0, "output": 10_000.0}
        described = {"concurrency": 8, "batch_size": 1, "prices": prices}
        made = judged(
            target.base_url, judge.base_url, 20, judge=described, run={"max_cost_usd": 10.0}
        )
        run = await harness.run(made)
        costs = [row[0] for row in harness.sql("SELECT cost_usd FROM judge_calls")]
        assert judge.in_flight_max <= 10.0 / min(costs)
        assert harness.row(run).stopped_by == "max_cost_usd"
        assert 10.0 - max(costs) < sum(costs) <= 10.0
        await harness.again(run, Verb.RESUME, max_cost_usd=1000.0)
    assert harness.row(run).state is RunState.DONE
    assert target.requests == 20


async def test_a_free_target_goes_on_beside_a_dear_one(harness: Harness) -> None:
    async with FakeModel() as dear, FakeModel() as free:
        dear.hold()
        targets = [
            {"kind": "model", "name": "dear", "base_url": dear.base_url, **PRICED},
            {"kind": "model", "name": "free", "base_url": free.base_url, "model": "m"},
        ]
        made = suite("", 10, targets=targets, run={"max_cost_usd": 3.0})
        async with harness.working(made) as (run, _):
            await until(lambda: free.requests == 10 and dear.in_flight == 1)
            dear.let_go()
    assert dear.requests == 1
    assert harness.counts(run).cost_usd == 2.0


async def test_calls_that_a_killed_engine_had_in_flight_count_as_if_they_were_paid(
    harness: Harness,
) -> None:
    def script(call: Call) -> Reply | None:
        if call.n == 2:
            server.hold()
        return None

    async with FakeModel(script=script) as server:
        target = {"base_url": server.base_url, **PRICED, "params": {"max_tokens": 2}}
        limits = {"max_cost_usd": 10.0, "concurrency": 3}
        run = harness.create(suite(server.base_url, 30, targets=[target], run=limits))
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: server.in_flight == 3)
        task.cancel()
        await asyncio.wait([task])
        # its process goes on: that is all that tells it from a killed one
        harness.write("UPDATE runs SET lease_pid = NULL")
        server.let_go()
        await harness.again(run, Verb.RESUME)
    assert harness.sql("SELECT count(*) FROM attempts WHERE state = 'lost'") == [(3,)]
    assert harness.sql("SELECT sum(cost_usd) FROM attempts") == [(4.0,)]
    with reading(harness.path) as db:
        told, text = document(db, run), summary(results(db, run), width=120, ink=AnsiStyle(False))
    requests = told["requests"]
    assert isinstance(requests, dict)
    assert (requests["target"], requests["target_lost"]) == (server.requests - 3, 3)
    cost = {"target": None, "judge": None, "total": None, "target_known": 4.0}
    assert told["cost_usd"] == {
        **cost, "target_about": None, "judge_about": None, "target_expected": None,
        "user": None, "user_about": None,
    }  # fmt: skip
    assert "3 requests may have been sent as an engine ended" in text
    assert "at least $4.00" in text
    assert (harness.row(run).reason or "").startswith("about $10.00 is or may be spent")


@pytest.mark.parametrize("free", [False, True])
async def test_what_calls_cost_that_timed_out_is_unknown_wherever_money_is_shown(
    harness: Harness, free: bool
) -> None:
    """Where all that is answered costs nothing, so did they."""

    def script(call: Call) -> Reply | None:
        return Reply("hang") if call.prompt == "q0" and call.attempt == 1 else None

    prices = {"prices": {"input": 0.0, "output": 0.0}} if free else {}
    async with FakeModel(script=script) as server:
        made = suite(
            server.base_url,
            2,
            cases=[{"id": f"c{i}", "q": f"q{i}", "tags": [f"t{i}"]} for i in range(2)],
            targets=[{"base_url": server.base_url, **PRICED, **prices}],
            run={"timeout": 1.0, "retries": 3},
            gate={"tags": {f"t{i}": {"max_cost_usd": 9e9} for i in range(2)}},
        )
        run = await harness.run(made)
    with reading(harness.path) as db:
        found = results(db, run)
        told, text = document(db, run), summary(found, width=120, ink=AnsiStyle(False))
    money = told["cost_usd"]
    assert isinstance(money, dict)
    assert found.counts.done == 2
    assert found.missed is not None
    missed = [one.group for one in found.missed]
    if free:
        assert (money["target"], found.counts.cost_usd, missed) == (0, 0, [])
        return
    assert (money["target"], money["target_known"], missed) == (None, 4.0, ["tag t0"])
    assert "at least $4.00" in text
    assert cost(found.counts, short=True) == "$4.00+?"


async def test_an_answer_that_is_none_is_paid_all_the_same(harness: Harness) -> None:
    """One that is empty took what its endpoint says; the retry takes as much again."""
    usage = {"prompt_tokens": 1, "completion_tokens": 1}
    choice = {"message": {"content": "half"}, "finish_reason": "error"}
    body = json.dumps({"id": "x", "choices": [choice], "usage": usage})
    broken = first_attempts(Reply("status", status=200, body=body))
    async with FakeModel(script=broken) as server:
        target = {"base_url": server.base_url, **PRICED}
        run = await harness.run(suite(server.base_url, 3, targets=[target]))
    counts = harness.counts(run)
    assert (counts.passed, counts.cost_usd) == (3, 12.0)
    assert (counts.input_tokens, counts.output_tokens) == (6, 6)


async def test_a_run_pauses_at_its_token_cap(harness: Harness) -> None:
    async with FakeModel() as server:
        limits = {"max_tokens": 20, "concurrency": 1}
        run = await harness.run(suite(server.base_url, 50, run=limits))
    assert harness.row(run).stopped_by == "max_tokens"
    counts = harness.counts(run)
    assert counts.input_tokens + counts.output_tokens == 20


async def test_calls_in_flight_do_not_take_a_run_above_its_token_cap(harness: Harness) -> None:
    async with FakeModel(latency=0.02) as server:
        limits = {"max_tokens": 21, "concurrency": 16}
        run = await harness.run(suite(server.base_url, 50, run=limits))
    assert harness.row(run).stopped_by == "max_tokens"
    counts = harness.counts(run)
    assert counts.input_tokens + counts.output_tokens == 20


@pytest.mark.parametrize(("cap", "errors"), [(3, 3), (0.1, 4)])
async def test_a_run_pauses_at_its_error_cap(harness: Harness, cap: float, errors: int) -> None:
    def script(call: Call) -> Reply | None:
        return refuse(400, "bad")

    async with FakeModel(script=script) as server:
        limits = {"max_errors": cap, "concurrency": 1}
        run = await harness.run(suite(server.base_url, 40, run=limits))
    assert harness.row(run).stopped_by == "max_errors"
    assert harness.counts(run).error == errors


async def test_a_run_goes_on_up_to_more_errors_and_leaves_those_it_has(harness: Harness) -> None:
    def script(call: Call) -> Reply | None:
        return refuse(400, "bad") if int(call.prompt[1:]) % 2 else None

    async with FakeModel(script=script) as server:
        limits = {"max_errors": 3, "concurrency": 1}
        run = await harness.run(suite(server.base_url, 40, run=limits))
        first = [trial.id for trial in harness.trials(run) if trial.state is TrialState.ERROR]
        assert len(first) == 3
        await harness.again(run, Verb.RESUME, max_errors=6, errored="leave")
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_errors")
        assert harness.counts(run).error == 6
        assert all(
            len(harness.sql("SELECT 1 FROM attempts WHERE trial = ?", trial)) == 1
            for trial in first
        )
        await harness.again(run, Verb.RESUME, max_errors=100)
    assert harness.counts(run).error == 20
    assert all(
        len(harness.sql("SELECT 1 FROM attempts WHERE trial = ?", trial)) == 2 for trial in first
    )
    assert harness.row(run).state is RunState.DONE


async def test_a_cap_that_the_last_trial_reaches_stops_nothing(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 4, run={"max_tokens": 8}))
    assert harness.counts(run).passed == 4
    assert harness.row(run).state is RunState.DONE


async def test_a_cap_raised_while_the_run_goes_on_holds_at_once(harness: Harness) -> None:
    async with FakeModel() as server:
        server.hold()
        capped = suite(server.base_url, 60, run={"max_tokens": 80, "concurrency": 1})
        async with harness.working(capped) as (run, _):
            await until(lambda: server.in_flight == 1)
            assert (await harness.asked(run, Verb.RESUME, max_tokens=1000)).outcome == "accepted"
            server.let_go()
    assert harness.counts(run).passed == 60
    assert harness.row(run).state is RunState.DONE


async def test_what_is_known_to_be_spent_counts_after_a_resume_too(harness: Harness) -> None:
    """One answer without usage makes the sum unknown; the cap goes on from what is known."""
    target = {"base_url": "", **PRICED}
    silent = {"id": "x", "choices": [{"message": {"content": "q0"}, "finish_reason": "stop"}]}

    def script(call: Call) -> Reply | None:
        if call.prompt == "q0":
            return Reply("status", status=200, body=json.dumps(silent))
        return None

    async with FakeModel(script=script) as server:
        limits = {"max_cost_usd": 10.0, "concurrency": 1}
        target["base_url"] = server.base_url
        run = await harness.run(suite(server.base_url, 30, targets=[target], run=limits))
        assert harness.counts(run).cost_usd is None
        assert harness.row(run).stopped_by == "max_cost_usd"
        asked = server.requests
        await harness.again(run, Verb.RESUME)
    assert harness.row(run).stopped_by == "max_cost_usd"
    assert server.requests == asked


def test_a_cost_cap_needs_a_known_price() -> None:
    unknown = {"base_url": "https://nobody.invalid/v1", "model": "m"}
    capped = suite("", 1, targets=[unknown], run={"max_cost_usd": 1.0})
    assert "needs a known price" in missing(capped, Settings())[0]
    free = suite("http://127.0.0.1:9/v1", 1, run={"max_cost_usd": 1.0})
    assert missing(free, Settings()) == ()
    assert missing(suite("", 1, targets=[unknown]), Settings(max_cost_usd=2.0)) != ()


def test_a_reduction_needs_its_epochs_whatever_the_launch_says() -> None:
    several = suite("http://127.0.0.1:9/v1", 1, run={"epochs": 3, "reduce": "pass@3"})
    assert missing(several, Settings()) == ()
    assert missing(several, Settings(epochs=1)) == (
        "reduce = 'pass@3' needs at least 3 epochs, not 1",
    )


SILENT = json.dumps(
    {"id": "x", "choices": [{"message": {"content": "q"}, "finish_reason": "stop"}]}
)


async def test_a_cost_cap_holds_where_no_usage_comes_back_and_after_a_resume(
    harness: Harness,
) -> None:
    async with FakeModel(script=always(Reply("status", body=SILENT))) as server:
        target = {"base_url": server.base_url, **PRICED}
        limits = {"max_cost_usd": 200.0, "concurrency": 8}
        run = await harness.run(suite(server.base_url, 100, targets=[target], run=limits))
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_cost_usd")
        assert (row.reason or "").startswith("about $")
        assert harness.counts(run).cost_usd is None
        about = harness.sql("SELECT sum(about_usd), max(about_usd) FROM attempts")[0]
        assert 200.0 - about[1] < about[0] <= 200.0
        asked = server.requests
        await harness.again(run, Verb.RESUME)
        assert server.requests == asked, "what was estimated is remembered"
        assert harness.row(run).stopped_by == "max_cost_usd"


async def test_a_token_cap_holds_where_no_usage_comes_back(harness: Harness) -> None:
    async with FakeModel(script=always(Reply("status", body=SILENT))) as server:
        run = await harness.run(suite(server.base_url, 100, run={"max_tokens": 200}))
    row = harness.row(run)
    assert row.stopped_by == "max_tokens"
    assert (row.reason or "").startswith("about ")
    assert 0 < harness.sql("SELECT sum(about_tokens) FROM attempts")[0][0] <= 200


CAP = 10.0
Draw = Callable[[random.Random], float]
PRICES: dict[str, Draw] = {
    "three": lambda rng: rng.choice([0.01, 1.0, 2.0]),
    "rarely dear": lambda rng: 2.0 if rng.random() < 0.1 else 0.01,
    "any": lambda rng: min(2.0, rng.lognormvariate(-3.0, 2.0)),
}


def capped(cost_usd: float) -> SpendCaps:
    spend_caps = SpendCaps(Alone())
    spend_caps.open(Caps(cost_usd=cost_usd), Counts(), 0.0)
    return spend_caps


def spend(
    spend_caps: SpendCaps, rng: random.Random, price: Draw, *, slow: bool, most: int
) -> float:
    """Make calls, up to `most` at once, until none may begin; return what they cost."""
    spent, now, n = 0.0, 0.0, 0
    flying: list[tuple[float, int, float, ExitStack]] = []
    while True:
        while len(flying) < most and n < 5000 and spend_caps.fits(0):
            call, cost = ExitStack(), price(rng)
            call.enter_context(spend_caps.call(0))
            took_s = cost if slow else rng.random()
            heapq.heappush(flying, (now + took_s, n, cost, call))
            n += 1
        if not flying:
            return spent
        now, _, cost, call = heapq.heappop(flying)
        spent += cost
        spend_caps.paid(0, Output("a", usage=Usage(1, 1), cost_usd=cost))
        call.close()


@pytest.mark.parametrize("slow", [False, True], ids=["at random", "dear ones are slow"])
@pytest.mark.parametrize("prices", PRICES)
def test_calls_that_cost_differently_exceed_a_cap_by_one_call_on_average(
    prices: str, slow: bool
) -> None:
    over = [
        max(0.0, spend(capped(CAP), random.Random(n), PRICES[prices], slow=slow, most=40) - CAP)
        for n in range(200)
    ]
    assert sum(over) / len(over) <= 2.0, "the dearest call"


@pytest.mark.parametrize("prices", PRICES)
def test_calls_that_cost_differently_never_exceed_a_cap_where_their_bound_leaves_room(
    prices: str,
) -> None:
    for n in range(10):
        spend_caps = capped(1e6)
        spend_caps.bound({0: CallBound(cost_usd=2.0)})
        spend(spend_caps, random.Random(n), PRICES[prices], slow=False, most=40)
        assert spend_caps._calls[0].answered == 5000
    spend_caps = capped(CAP)
    spend_caps.bound({0: CallBound(cost_usd=2.0)})
    with ExitStack() as calls:
        begun = 0
        while spend_caps.fits(0):
            calls.enter_context(spend_caps.call(0))
            begun += 1
    assert begun == 5, "as many as have room at their bound"


def test_one_call_more_begins_than_were_answered_and_ended_before_it() -> None:
    calls = PayerCalls()

    def may_begin() -> bool:
        return calls.few()

    assert may_begin()
    with calls.one():
        assert not may_begin()
        calls.answered += 1
    with calls.one():
        assert may_begin()
        with calls.one():
            calls.answered += 1
        assert not may_begin(), "the first may be slow because it is dear"
    with calls.one(), calls.one():
        assert may_begin(), "nothing is known of the one that failed"
        with calls.one():
            assert not may_begin()


def test_an_answer_that_cost_nothing_does_not_let_all_others_go() -> None:
    spend_caps = capped(CAP)
    with spend_caps.call(0):
        spend_caps.paid(0, Output("a", usage=Usage(1, 1), cost_usd=0.0))
    with spend_caps.call(0), spend_caps.call(0):
        assert not spend_caps.fits(0)


def test_a_call_that_timed_out_may_have_to_be_paid_and_one_refused_not() -> None:
    spend_caps = capped(4.0)
    with spend_caps.call(0):
        spend_caps.paid(0, Output("a", usage=Usage(1, 1), cost_usd=2.0))
    with spend_caps.call(0):
        spend_caps.paid(0, Failure("rate_limit", "later"))
    assert spend_caps.empty() is None
    with spend_caps.call(0):
        spend_caps.paid(0, Failure("timeout", "late"))
    told = spend_caps.empty()
    assert told is not None
    assert told.message.startswith("about $4.00 is or may be spent")


async def test_targets_leave_room_for_the_grades_of_what_they_give(harness: Harness) -> None:
    """Everything costs $2: of two targets and a judge, none takes the cap alone."""
    async with FakeModel() as server, FakeModel(answers(by_number)) as judge:
        described = {"concurrency": 8, "batch_size": 2, "prices": PRICED["prices"]}
        called = {"model": "m", "prices": {"input": 1000.0, "output": 1000.0}}
        targets = [
            {"kind": "model", "name": name, "base_url": server.base_url, **PRICED}
            for name in ("one", "two")
        ]
        made = judged(
            server.base_url,
            judge.base_url,
            40,
            judge={**described, **called},
            targets=targets,
            run={"max_cost_usd": 60.0, "concurrency": 8},
        )
        run = await harness.run(made)
    assert harness.row(run).stopped_by == "max_cost_usd"
    counts = harness.counts(run)
    assert counts.done >= 10
    assert counts.scoring == 0, "whatever was bought is graded"
    (target,) = harness.sql("SELECT sum(cost_usd) FROM attempts")[0]
    (judges,) = harness.sql("SELECT sum(cost_usd) FROM judge_calls")[0]
    assert target + judges <= 60.0
    assert "grading its output" in (harness.row(run).reason or "")


class Bulk:
    """Caps of $10 of which so much is spent, and whom they tell."""

    def __init__(self, spent: float) -> None:
        self.told = Alone()
        self.caps = SpendCaps(self.told)
        self.caps.open(Caps(cost_usd=10.0), Counts(), spent)


@pytest.mark.parametrize(("spent", "sent"), [(8.0, True), (9.5, False)])
def test_what_a_cap_cuts_short_is_sent_in_bulk_where_enough_of_it_is_left(
    spent: float, sent: bool
) -> None:
    bulk = Bulk(spent)
    assert bulk.caps.may_consign(BulkPayer())
    assert bulk.caps.has_room(0.4, 4)
    assert bulk.caps.cut_short(BulkPayer(), 3, 10.5 - spent, 4) is sent
    assert bool(bulk.told.departures) is not sent
    assert sent or "only 3 further requests in bulk" in str(bulk.told.departures[0].reason)


def test_near_a_cap_what_is_sent_in_bulk_waits_for_what_is_under_way() -> None:
    bulk = Bulk(8.0)
    bulk.caps.consigned("a", 1.5, None)
    with bulk.caps.call(0):
        assert not bulk.caps.may_consign(BulkPayer())
    assert not bulk.caps.cut_short(BulkPayer(), 3, 0.6, 4)
    assert not bulk.told.departures, "there may be room once the other has ended"
    bulk.caps.settled("a")
    assert bulk.caps.may_consign(BulkPayer())
    assert bulk.caps.cut_short(BulkPayer(), 3, 2.1, 4)


def test_judges_do_not_wait_for_what_others_have_put_together_and_not_sent() -> None:
    """Else each would wait for the other."""
    bulk = Bulk(8.0)
    bulk.caps.drafted("a", 0.6, None)
    bulk.caps.drafted("b", 0.6, None)
    one = BulkPayer(is_judge=True, draft="a")
    assert bulk.caps.may_consign(one)
    assert bulk.caps.cut_short(one, 3, 1.0, 4), "its own room is not somebody else's"
    bulk.caps.drafted("b", 1.2, None)
    assert not bulk.caps.may_consign(BulkPayer()), "a target waits for them"
    assert bulk.caps.may_consign(one)
    assert not bulk.caps.cut_short(one, 3, 1.0, 4)
    assert bulk.told.departures
