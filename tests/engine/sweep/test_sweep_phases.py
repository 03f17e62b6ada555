"""Sweeps against servers that decide by the calls in flight that they see themselves."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.settings import Settings
from tui_eval.engine.sweep.sweep_suite import sweep_settings, sweep_suite
from tui_eval.model.runs.sweep_plan import SweepPlan
from tui_eval.model.states import RunState
from tui_eval.reports.sweep_report import SweepReport, sweep_report
from tui_eval.store.read import run_queries, sweep_queries
from tui_eval.store.read.sweep_queries import SweepLevel
from tui_eval.store.requests import Outcome, Verb

ENOUGH = 4
"""Calls in flight that a server bears. The levels beside it are so far from it that a busy machine
does not bring their throughput near its own."""


def slower(server: FakeModel) -> Callable[[Call], Reply]:
    """Have a server take its time where it has more to do than it can."""
    return lambda call: Reply(latency=0.03 * max(1, (server.in_flight / ENOUGH) ** 3))


def refusing(server: FakeModel) -> Callable[[Call], Reply]:
    return lambda call: (
        refuse(429, "slow_down") if server.in_flight > ENOUGH else Reply(latency=0.03)
    )


def create(harness: Harness, server: FakeModel, plan: SweepPlan, n: int = 30) -> int:
    swept = sweep_suite(suite(server.base_url, n, run={"retries": 3}), "fake")
    return harness.create(swept, sweep_settings(plan, "fake", None))


def found(path: Path, run: int) -> SweepReport:
    with reading(path) as db:
        report = sweep_report(db, run_queries.run(db, run))
    assert report is not None
    return report


def begun(path: Path, run: int) -> list[SweepLevel]:
    with reading(path) as db:
        return sweep_queries.sweep_levels(db, run)


async def test_an_endpoint_that_becomes_slower_has_its_knee_where_it_does(harness: Harness) -> None:
    async with FakeModel() as server:
        server.script = slower(server)
        run = create(harness, server, SweepPlan((1, 4, 8), cases=6))
        await Engine(harness.path, run).run()
        assert server.in_flight_max == 8
        assert len(server.counts) == 30  # all cases were asked, in turn
    report = found(harness.path, run)
    assert harness.row(run).state is RunState.DONE
    assert [(one.level, one.calls, one.errors) for one in report.levels] == [
        (1, 6, 0),
        (4, 12, 0),
        (8, 24, 0),
    ]
    assert report.knee == ENOUGH
    assert report.line == "concurrency = 4"


async def test_refusals_are_counted_and_never_asked_again(harness: Harness) -> None:
    async with FakeModel() as server:
        server.script = refusing(server)
        run = create(harness, server, SweepPlan((1, 4, 8, 16), cases=6))
        await Engine(harness.path, run).run()
        report = found(harness.path, run)
        assert [one.level for one in report.levels] == [1, 4, 8]  # the last one was too much
        last = report.levels[-1]
        assert last.refused == last.errors > last.calls / 20
        assert report.knee == ENOUGH
        assert server.requests == 7 + 16 + 32
        again = create(harness, server, SweepPlan((2, 8, 16), cases=6, every_level=True))
        await Engine(harness.path, again).run()
    assert [one.level for one in found(harness.path, again).levels] == [2, 8, 16]


async def test_a_sweep_is_no_result_of_its_suite(harness: Harness) -> None:
    async with FakeModel(latency=0.005) as server:
        run = create(harness, server, SweepPlan((1, 2), cases=4), n=3)
        await Engine(harness.path, run).run()
        assert server.requests == (1 + 4) + (2 + 6)
        assert harness.row(run).partial
        with reading(harness.path) as db:
            assert run_queries.full_runs(db, "echo", 5) == []
        asked = server.requests
        full = await harness.run(suite(server.base_url, 3))
        assert server.requests == asked + 3  # outputs of a sweep are not found again
        assert harness.counts(full).cached == 0
        answer = await harness.again(run, Verb.RETRY, which="all")
        assert answer.outcome == Outcome.CLOSED
        assert "makes each call once" in (answer.detail or "")


async def test_cases_without_a_request_are_not_asked(harness: Harness) -> None:
    cases = [{"id": "none", "q": "a"}, {"id": "whole", "q": "b"}]
    async with FakeModel() as server:
        described = suite(
            server.base_url, 0, cases=cases, prompts=[{"user": "{{ 1 // (q == 'b') }}"}]
        )
        swept = sweep_suite(described, "fake")
        run = await harness.run(swept, sweep_settings(SweepPlan((1,), cases=3), "fake", None))
        assert server.requests == 4
    assert {trial.case_id for trial in harness.trials(run)} == {"whole"}
    assert found(harness.path, run).levels[0].errors == 0


async def held_in_second_level(
    harness: Harness, server: FakeModel
) -> tuple[int, Engine, "asyncio.Task[None]"]:
    """Give a sweep whose second level stands still with two calls in flight."""

    def script(call: Call) -> None:
        if call.n == 8:
            server.hold()

    server.script = script
    run = create(harness, server, SweepPlan((1, 2), cases=4))
    engine = Engine(harness.path, run)
    task = asyncio.create_task(engine.run())
    await until(lambda: server.held and server.in_flight == 2)
    return run, engine, task


async def test_a_level_that_was_broken_off_is_measured_anew(harness: Harness) -> None:
    async with FakeModel(latency=0.005) as server:
        run, engine, task = await held_in_second_level(harness, server)
        engine.abort()
        await task
        assert harness.row(run).state is RunState.INTERRUPTED
        report = found(harness.path, run)
        assert [one.level for one in report.levels] == [1]  # what was known stays
        assert report.under_way is not None
        assert report.under_way.level == 2
        assert report.under_way.calls == 8
        server.script, server.held = None, False
        answer = await harness.again(run, Verb.RESUME)
        assert answer.outcome == Outcome.ACCEPTED
    report = found(harness.path, run)
    assert [(one.level, one.calls) for one in report.levels] == [(1, 4), (2, 6)]
    assert report.under_way is None
    assert [(one.level, one.ended) for one in begun(harness.path, run)] == [
        (1, True),
        (2, False),
        (2, True),
    ]
    assert harness.counts(run).settled == harness.counts(run).total == 5 + 8 + 8


async def test_a_level_during_which_the_run_was_paused_is_measured_anew(harness: Harness) -> None:
    async with FakeModel(latency=0.005) as server:
        run, _, task = await held_in_second_level(harness, server)
        refused = await harness.asked(run, Verb.SET_LIMIT, endpoint="any", by=1)
        assert refused.outcome == Outcome.CLOSED
        assert "level by level" in (refused.detail or "")
        await harness.asked(run, Verb.PAUSE)
        server.let_go()
        await harness.asked(run, Verb.CONTINUE)
        await asyncio.wait_for(task, 30)
    assert [(one.level, one.ended) for one in begun(harness.path, run)] == [
        (1, True),
        (2, False),
        (2, True),
    ]


def test_a_plan_is_kept_with_its_run() -> None:
    plan = SweepPlan((1, 3), cases=5, stop_at=0.2, every_level=True)
    kept = sweep_settings(plan, "fake", 2.5)
    assert Settings.from_json(json.loads(json.dumps(kept.as_json()))) == kept
    assert kept.partial
    assert plan.calls == (1 + 5) + (3 + 9)
