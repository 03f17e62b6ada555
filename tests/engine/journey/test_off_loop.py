"""What a scorer's pattern, a long output or a hostile reply makes slow holds nothing else up."""

import asyncio
import json
import sys
import threading

import psutil
import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.dispatch.trial_pool import MAX_SCORED
from tui_eval.engine.engine import Engine
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.off_loop import OffLoop
from tui_eval.engine.journey.steps import Step
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.scoring.judge.item import ReplyForm
from tui_eval.store.connection import open_readable
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb

HANGS = r"^(\w|\w\w)*$"
LONG = "a" * 60 + "!"
ANSWERS = {**{f"q{n}": f"q{n}" for n in range(12)}, "q3": LONG}
SLOW = {"kind": "regex", "name": "slow", "expected": HANGS}
SPENDS = "{% for i in range(999) %}{% for j in range(99) %}{{ i * j }}{% endfor %}{% endfor %}"


async def turns_while(task: "asyncio.Task[None]") -> tuple[int, float]:
    """Count the turns the loop gets until a task is done, and give the longest wait for one."""
    loop, turns, longest = asyncio.get_running_loop(), 0, 0.0
    while not task.done():
        before = loop.time()
        await asyncio.sleep(0.005)
        turns, longest = turns + 1, max(longest, loop.time() - before)
    await task
    return turns, longest


def scored(harness: Harness, case_id: str) -> tuple[Verdict | None, str]:
    run = harness.sql("SELECT id FROM runs")[0][0]
    trial = harness.trial(run, case_id)
    with open_readable(harness.path) as db:
        return trial.verdict, trial_rows.reasons(db, [trial.id]).get(trial.id, "")


async def test_a_pattern_that_hangs_costs_its_own_trial_and_nobody_elses(harness: Harness) -> None:
    scorers = [SLOW, {"kind": "includes", "expected": "q", "required": False}]
    async with FakeModel(answers=ANSWERS, latency=0.01) as server:
        made = suite(server.base_url, 12, scorers=scorers, run={"timeout": 30})
        run = harness.create(made)
        turns, _ = await turns_while(asyncio.create_task(Engine(harness.path, run).run()))
    assert turns > 30, "the loop stood still while the pattern was searched for"
    verdicts = {trial.case_id: trial.verdict for trial in harness.trials(run)}
    assert verdicts.pop("c3") is Verdict.UNGRADED
    assert set(verdicts.values()) == {Verdict.PASS}, scored(harness, "c0")
    assert set(server.counts.values()) == {1}, "somebody was asked twice"
    assert f"the pattern /{HANGS}/ took longer than 1 s" in scored(harness, "c3")[1]


async def test_a_run_that_is_stopped_while_an_output_is_scored_keeps_the_output(
    harness: Harness,
) -> None:
    scorers = [{**SLOW, "name": f"slow {n}"} for n in range(20)]
    async with FakeModel(answers={"q0": LONG}) as server:
        run = harness.create(suite(server.base_url, 1, scorers=scorers))
        engine = Engine(harness.path, run)
        task = asyncio.create_task(engine.run())
        await until(isolated)
        engine.stop()
        engine.abort()
        await asyncio.wait_for(task, 15)
    assert harness.row(run).state is RunState.INTERRUPTED
    assert harness.trial(run, "c0").state is TrialState.SCORING
    assert harness.trial(run, "c0").output is not None
    await until(lambda: not isolated())


async def test_kill_9_while_an_output_is_scored_costs_no_answer(harness: Harness) -> None:
    async with FakeModel(answers={"q0": LONG}) as server:
        run = harness.create(suite(server.base_url, 1, scorers=[SLOW]))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engine.worker", str(harness.path), str(run)
        )
        try:
            await until(lambda: isolated(process.pid))
        finally:
            process.kill()
            await process.wait()
        assert harness.trial(run, "c0").state is TrialState.SCORING
        assert harness.sql("SELECT state FROM attempts") == [("answered",)]
        await Engine(harness.path, run).run()
        assert server.requests == 1, "an answer was paid for twice"
    assert harness.trial(run, "c0").verdict is Verdict.UNGRADED


async def test_calls_go_on_while_more_outputs_are_scored_than_there_are_workers(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored, in_memory, n = threading.Event(), 0, 50
    begun = Journey.scored

    def call(*_: object) -> Grade:
        assert scored.wait(60)
        return Grade(Verdict.PASS, 1.0, "held")

    async def counted(journey: Journey, flight: TrialInFlight, output: Output) -> Step:
        nonlocal in_memory
        in_memory += not scored.is_set()
        return await begun(journey, flight, output)

    monkeypatch.setattr(IsolatedCalls, "call", call)
    monkeypatch.setattr(Journey, "scored", counted)
    async with FakeModel(answers=lambda _: LONG) as server:
        made = suite(server.base_url, n, scorers=[SLOW], run={"concurrency": 2})
        async with harness.working(made) as (run, _):
            try:
                await until(lambda: harness.counts(run).scoring == n)
                assert in_memory == MAX_SCORED < n, "as many wait in memory as there are"
            finally:
                scored.set()
        assert server.requests == n
    assert harness.counts(run).passed == n


async def test_a_trial_can_be_cancelled_and_scored_again_while_its_output_is_scored(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored, asked = threading.Event(), 0

    def call(*_: object) -> Grade:
        nonlocal asked
        asked += 1
        assert scored.wait(60)
        return Grade(Verdict.PASS, 1.0, "held")

    monkeypatch.setattr(IsolatedCalls, "call", call)
    async with FakeModel(answers={"q0": LONG}) as server:
        async with harness.working(suite(server.base_url, 1, scorers=[SLOW])) as (run, _):
            try:
                await until(lambda: asked == 1)
                trials = [harness.trial(run, "c0").id]
                # both before the engine has a turn: once all is cancelled it goes
                both = [
                    ask(harness.path, run, verb, {"trials": [*trials]})
                    for verb in (Verb.CANCEL, Verb.RESCORE)
                ]
                await until(lambda: [harness.request(n).outcome for n in both] == ["accepted"] * 2)
                await until(lambda: asked == 2)  # nobody waits for the first any more
            finally:
                scored.set()
        assert server.requests == 1
    assert harness.counts(run).passed == 1
    assert harness.sql("SELECT count(*) FROM scores") == [(1,)]


def isolated(of: int | None = None) -> list[psutil.Process]:
    found = psutil.Process(of).children()
    return [one for one in found if "tui_eval.isolated" in one.cmdline()]


async def test_a_template_that_takes_long_is_rendered_beside_the_loop(harness: Harness) -> None:
    scorers = [{"kind": "includes", "expected": SPENDS, "name": f"spends {n}"} for n in range(4)]
    async with FakeModel(latency=0.01) as server:
        made = suite(server.base_url, 2, scorers=scorers)
        run = harness.create(made)
        task = asyncio.create_task(Engine(harness.path, run).run())
        turns, longest = await turns_while(task)
    assert {trial.verdict for trial in harness.trials(run)} <= {Verdict.FAIL, None}
    assert turns > 10
    assert longest < 2


@pytest.mark.whole
async def test_a_second_run_scores_what_hangs_within_its_limit(harness: Harness) -> None:
    async with FakeModel(answers=ANSWERS) as server:
        made = suite(server.base_url, 6, scorers=[SLOW])
        await harness.run(made)
        again = await harness.run(made)
    assert harness.trial(again, "c3").verdict is Verdict.UNGRADED
    assert harness.counts(again).passed == 5
    assert server.requests == 6


async def test_a_hostile_reply_says_nothing_and_leaves_the_loop_its_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui_eval.engine.journey.off_loop._READING_S", 0.01)
    calls = IsolatedCalls()
    forms = {"k1": ReplyForm("pass-fail", 0, 1, (0,))}

    async def read() -> None:
        reading = await OffLoop(calls).read("[{}" * 2_000_000, forms, "n", "stop")
        assert reading.findings == {}
        assert reading.missing["k1"].endswith("characters took longer than 0.01 s")
        grades = [{"id": "k1", "reason": "x" * 20_000, "score": 1}]
        whole = json.dumps({"nonce": "n", "grades": grades})
        assert (await OffLoop(calls).read(whole, forms, "n", "stop")).findings

    try:
        turns, _ = await turns_while(asyncio.create_task(read()))
    finally:
        calls.close()
    assert turns > 10
