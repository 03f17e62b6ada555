"""Caps on money, tokens and errors: the run pauses and asks."""

import json

import pytest

from tests.engine.harness import Bench, suite, until
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tui_eval.engine.launch import problems
from tui_eval.engine.settings import Settings
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.requests import Verb

PRICED = {"model": "m", "prices": {"input": 1_000_000.0, "output": 1_000_000.0}}


async def test_a_run_pauses_at_its_cost_cap_and_goes_on_with_a_higher_one(bench: Bench) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, **PRICED}
        limits = {"max_cost_usd": 10.0, "concurrency": 2}
        run = await bench.run(suite(server.base_url, 30, targets=[target], run=limits))
        row, counts = bench.row(run), bench.counts(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_cost_usd")
        assert "--max-cost" in (row.reason or "")
        assert counts.cost_usd is not None
        per_trial = counts.cost_usd / counts.done
        assert 10.0 <= counts.cost_usd <= 10.0 + 2 * per_trial
        asked = server.requests
        await bench.again(run, Verb.RESUME)
        assert server.requests == asked, "the cap still holds"
        await bench.again(run, Verb.RESUME, max_cost_usd=1000.0)
    assert bench.row(run).state is RunState.DONE
    assert bench.counts(run).passed == 30
    assert server.requests == 30


async def test_calls_in_flight_do_not_take_a_run_far_above_its_cost_cap(bench: Bench) -> None:
    """All calls cost $3; four may be in flight, but never more than the cap has room for."""
    async with FakeModel(latency=0.02) as server:
        target = {"base_url": server.base_url, **PRICED}
        limits = {"max_cost_usd": 31.0, "concurrency": 4}
        run = await bench.run(suite(server.base_url, 30, targets=[target], run=limits))
        row, counts = bench.row(run), bench.counts(run)
    assert row.stopped_by == "max_cost_usd"
    assert counts.cost_usd is not None
    per_trial = counts.cost_usd / counts.done
    assert 31.0 <= counts.cost_usd < 31.0 + per_trial
    assert f"${counts.cost_usd:.4g} is spent" in (row.reason or "")


async def test_the_reason_at_a_cap_tells_what_was_spent_once_all_calls_ended(bench: Bench) -> None:
    async with FakeModel(latency=0.05) as server:
        target = {"base_url": server.base_url, **PRICED}
        # no call has told yet what one costs: they are all on their way at once
        limits = {"max_cost_usd": 0.5, "concurrency": 8}
        run = await bench.run(suite(server.base_url, 30, targets=[target], run=limits))
        row, counts = bench.row(run), bench.counts(run)
    assert counts.cost_usd is not None
    assert counts.done > 1
    assert (row.reason or "").startswith(f"${counts.cost_usd:.4g} is spent")


async def test_a_run_pauses_at_its_token_cap(bench: Bench) -> None:
    async with FakeModel() as server:
        limits = {"max_tokens": 20, "concurrency": 1}
        run = await bench.run(suite(server.base_url, 50, run=limits))
    assert bench.row(run).stopped_by == "max_tokens"
    counts = bench.counts(run)
    assert 20 <= counts.input_tokens + counts.output_tokens < 30


@pytest.mark.parametrize(("cap", "errors"), [(3, 3), (0.1, 4)])
async def test_a_run_pauses_at_its_error_cap(bench: Bench, cap: float, errors: int) -> None:
    def script(call: Call) -> Reply | None:
        return refuse(400, "bad")

    async with FakeModel(script=script) as server:
        limits = {"max_errors": cap, "concurrency": 1}
        run = await bench.run(suite(server.base_url, 40, run=limits))
    assert bench.row(run).stopped_by == "max_errors"
    assert bench.counts(run).error == errors


async def test_a_run_goes_on_up_to_more_errors_and_leaves_those_it_has(bench: Bench) -> None:
    def script(call: Call) -> Reply | None:
        return refuse(400, "bad") if int(call.prompt[1:]) % 2 else None

    async with FakeModel(script=script) as server:
        limits = {"max_errors": 3, "concurrency": 1}
        run = await bench.run(suite(server.base_url, 40, run=limits))
        first = [trial.id for trial in bench.trials(run) if trial.state is TrialState.ERROR]
        assert len(first) == 3
        await bench.again(run, Verb.RESUME, max_errors=6, errored="leave")
        row = bench.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_errors")
        assert bench.counts(run).error == 6
        assert all(
            len(bench.sql("SELECT 1 FROM attempts WHERE trial = ?", trial)) == 1 for trial in first
        )
        await bench.again(run, Verb.RESUME, max_errors=100)
    assert bench.counts(run).error == 20
    assert all(
        len(bench.sql("SELECT 1 FROM attempts WHERE trial = ?", trial)) == 2 for trial in first
    )
    assert bench.row(run).state is RunState.DONE


async def test_a_cap_that_the_last_trial_reaches_stops_nothing(bench: Bench) -> None:
    async with FakeModel() as server:
        run = await bench.run(suite(server.base_url, 4, run={"max_tokens": 8}))
    assert bench.counts(run).passed == 4
    assert bench.row(run).state is RunState.DONE


async def test_a_cap_raised_while_the_run_goes_on_holds_at_once(bench: Bench) -> None:
    async with FakeModel() as server:
        server.hold()
        capped = suite(server.base_url, 60, run={"max_tokens": 80, "concurrency": 1})
        async with bench.working(capped) as (run, _):
            await until(lambda: server.in_flight == 1)
            assert (await bench.asked(run, Verb.RESUME, max_tokens=1000)).outcome == "accepted"
            server.let_go()
    assert bench.counts(run).passed == 60
    assert bench.row(run).state is RunState.DONE


async def test_what_is_known_to_be_spent_counts_after_a_resume_too(bench: Bench) -> None:
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
        run = await bench.run(suite(server.base_url, 30, targets=[target], run=limits))
        assert bench.counts(run).cost_usd is None
        assert bench.row(run).stopped_by == "max_cost_usd"
        asked = server.requests
        await bench.again(run, Verb.RESUME)
    assert bench.row(run).stopped_by == "max_cost_usd"
    assert server.requests == asked


def test_a_cost_cap_needs_a_known_price() -> None:
    unknown = {"base_url": "https://nobody.invalid/v1", "model": "m"}
    capped = suite("", 1, targets=[unknown], run={"max_cost_usd": 1.0})
    assert "needs a known price" in problems(capped, Settings())[0]
    free = suite("http://127.0.0.1:9/v1", 1, run={"max_cost_usd": 1.0})
    assert problems(free, Settings()) == []
    assert problems(suite("", 1, targets=[unknown]), Settings(max_cost_usd=2.0)) != []


def test_a_reduction_needs_its_epochs_whatever_the_launch_says() -> None:
    several = suite("http://127.0.0.1:9/v1", 1, run={"epochs": 3, "reduce": "pass@3"})
    assert problems(several, Settings()) == []
    assert problems(several, Settings(epochs=1)) == [
        "reduce = 'pass@3' needs at least 3 epochs, not 1"
    ]
