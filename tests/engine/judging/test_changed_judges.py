"""Judges that change, come back or are paid while a run goes on."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.harness import RUBRIC, Harness, judged, suite
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import FakeModel, first_attempts, refuse
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.settings import Settings
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import trial_verbs
from tui_eval.store.writer import once


@pytest.mark.parametrize("name", ["j", "k"])
async def test_an_edited_suite_takes_over_a_live_run_whole(harness: Harness, name: str) -> None:
    specs = [{**RUBRIC, "rubric": "Is it better?", "judge": [name]}]
    async with (
        FakeModel(latency=0.03) as target,
        FakeModel(answers(by_number), latency=0.05) as old,
        FakeModel(answers(by_number), latency=0.02) as new,
    ):
        judges = [{"kind": "model", "name": name, "base_url": new.base_url, "model": "new"}]
        made = judged(target.base_url, old.base_url, 120, judge={"concurrency": 1})
        async with harness.working(made) as (run, _):
            await until(lambda: old.requests >= 3)
            answer = await harness.asked(
                run, Verb.RESCORE, which="all", scorer_specs=specs, judge_specs=judges
            )
            assert answer.outcome in ("accepted", "too-early", "closed")
        assert target.requests == 120
        rubrics = {
            item["rubric"] for call in new.calls for item in (asked(call.body) or {})["items"]
        }
    assert rubrics == {"Is it better?"}
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}
    current = harness.sql(
        "SELECT json_extract(raw, '$.judge'), count(*) FROM scores WHERE current = 1 GROUP BY 1"
    )
    assert current == [(name, 120)]


async def test_a_judge_that_cannot_be_asked_is_refused_and_the_run_goes_on(
    harness: Harness,
) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 3))
        judges = [{"kind": "model", "name": "j", "provider": "local", "model": "./none.gguf"}]
        answer = await harness.again(run, Verb.RESCORE, scorer_specs=[RUBRIC], judge_specs=judges)
        assert answer.outcome == "closed"
        assert "none.gguf" in (answer.detail or "")
        assert (await harness.again(run, Verb.RESCORE)).outcome == "accepted"
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_scales_of_cases_of_their_own_never_share_a_request(harness: Harness) -> None:
    def top(item: Any) -> dict[str, Any]:
        return {"score": 5}

    cases = [
        {"id": "a", "q": "q1", "scorers": [{**RUBRIC, "name": "own", "scale": [1, 5]}]},
        {"id": "b", "q": "q2", "scorers": [{**RUBRIC, "name": "own", "scale": [0, 10]}]},
    ]
    async with FakeModel(answers(top)) as server:
        made = judged(server.base_url, server.base_url, 2, cases=cases, scorers=[])
        run = await harness.run(made)
        systems = {
            str(call.body["messages"][0]["content"]) for call in server.calls if asked(call.body)
        }
    assert len(systems) == 2
    assert [trial.score for trial in harness.trials(run)] == [1.0, 0.5]


async def test_what_judges_took_counts_against_the_cap_after_a_resume_too(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        # one call after another: those on their way as the cap is reached are let end
        one = {"concurrency": 1}
        limits = {"max_tokens": 200}
        made = judged(server.base_url, server.base_url, 40, run=limits, judge=one)
        run = harness.create(made)
        await Engine(harness.path, run).run()
        assert harness.row(run).stopped_by == "max_tokens"
        sent = server.requests
        ask(harness.path, run, Verb.RESUME, {})
        await Engine(harness.path, run).run()
        assert (harness.row(run).state, harness.row(run).stopped_by) == (
            RunState.PAUSED,
            "max_tokens",
        )
        assert server.requests == sent


async def test_a_judge_that_was_put_right_is_asked_again_in_a_live_run(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.02) as target,
        FakeModel(answers(by_number), api_key="k") as judge,
    ):
        made = judged(target.base_url, judge.base_url, 60, run={"concurrency": 2})
        async with harness.working(made) as (run, _):
            await until(lambda: harness.counts(run).ungraded >= 5)
            # what becomes ungraded after the request is not of it: let there be nothing of the kind
            target.hold()
            await until(lambda: target.in_flight == 2 and harness.counts(run).scoring == 0)
            judge.api_key = None
            answer = await harness.asked(run, Verb.RESCORE, which="ungraded")
            assert answer.outcome == "accepted"
            target.let_go()
    assert judge.requests > 1
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_scoring_one_run_anew_leaves_others_as_they_were(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 6)
        first, second = await harness.run(made), await harness.run(made)
        counted = "SELECT count(*) FROM findings f JOIN trials t ON t.id = f.trial WHERE t.run = ?"
        counted += " AND f.superseded = 0"
        sent = server.requests
        await harness.again(second, Verb.RESCORE)
        assert server.requests > sent
        assert harness.sql(counted, first) == [(6,)]
        assert harness.sql(counted, second) == [(6,)]


async def test_a_launch_without_judges_asks_none_for_a_rule(harness: Harness) -> None:
    exact = {"kind": "exact", "expected": "{{ q }}"}
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 3, scorers=[exact, RUBRIC])
        run = await harness.run(made, Settings(no_judge=True))
        await harness.again(run, Verb.RESCORE, scorers=["exact"])
        assert server.requests == 3


async def test_a_judges_limit_moves_while_it_judges_and_stays_when_it_is_scored_anew(
    harness: Harness,
) -> None:
    async with FakeModel() as target, FakeModel(answers(by_number), latency=0.2) as judge:
        made = judged(target.base_url, judge.base_url, 120, judge={"concurrency": 1})
        async with harness.working(made) as (run, _):
            await until(lambda: judge.requests >= 2)
            most = [judge.in_flight]
            limit = {"endpoint": "judge j", "to": 4}
            assert (await harness.asked(run, Verb.SET_LIMIT, **limit)).outcome == "accepted"
            await until(lambda: judge.in_flight == 4)
            await harness.asked(run, Verb.SET_LIMIT, endpoint="judge j", to=2)
            await until(lambda: judge.in_flight <= 2)
            most = [judge.in_flight]
            specs = [{**RUBRIC, "rubric": "Is it better?"}]
            answer = await harness.asked(run, Verb.RESCORE, which="all", scorer_specs=specs)
            assert answer.outcome == "accepted"
            await until(lambda: judge.in_flight <= 2)
            while harness.counts(run).scoring:
                most.append(judge.in_flight)
                await asyncio.sleep(0.02)
    assert max(most) == 2
    limits = harness.sql("SELECT concurrency, kind FROM limits WHERE endpoint = 'judge j'")
    assert limits == [(1, "start"), (4, "by-hand"), (2, "by-hand"), (2, "start")]
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}


async def test_a_judge_that_answers_garbage_is_asked_so_often_and_no_more(harness: Harness) -> None:
    def garbage(body: dict[str, Any]) -> str:
        found = asked(body)
        return str(body["messages"][-1]["content"]) if found is None else "I like them all: 10/10."

    async with FakeModel(garbage) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 10))
        sizes = Counter(len(found["items"]) for call in server.calls if (found := asked(call.body)))
    # two batches, their halves, then each alone twice
    assert sizes == {5: 2, 3: 2, 2: 2, 1: 20}
    assert harness.counts(run).ungraded == 10
    assert harness.row(run).state is RunState.DONE
    reasons = harness.sql("SELECT DISTINCT reason FROM scores")
    assert len(reasons) == 1


def reopened(harness: Harness, run: int, how: Callable[[Tx, int], object]) -> list[int]:
    """Cancel all trials and open them anew, behind the engine's back; give them."""
    trials = [trial.id for trial in harness.trials(run)]

    def write(tx: Tx) -> None:
        for trial in trials:
            assert trial_verbs.cancel(tx, trial)
            assert how(tx, trial)

    once(harness.path, write)
    return trials


async def test_a_judgement_of_an_earlier_opening_is_not_written(harness: Harness) -> None:
    exact = {"kind": "exact", "name": "exact", "expected": "{{ q }}"}
    async with FakeModel() as target, FakeModel(answers(by_number)) as judge:
        judge.hold()
        made = judged(target.base_url, judge.base_url, 5, scorers=[exact, RUBRIC])
        async with harness.working(made) as (run, _):
            await until(lambda: judge.requests == 1)
            reopened(harness, run, trial_verbs.rescore)
            judge.let_go()
        assert target.requests == 5
        assert judge.requests == 2  # what was said of the earlier opening is about nothing now
    assert harness.counts(run).done == 5
    for trial in harness.trials(run):
        counting = [score for score in harness._read(trial_rows.scores, trial.id) if score.current]
        assert sorted(score.scorer for score in counting) == ["exact", "good"]
        assert not any(score.superseded for score in counting)


async def test_a_failure_of_an_earlier_opening_fails_nothing(harness: Harness) -> None:
    async with FakeModel(script=first_attempts(refuse(400))) as target:
        target.hold()
        async with harness.working(suite(target.base_url, 5)) as (run, _):
            await until(lambda: target.requests == 5)
            reopened(harness, run, trial_verbs.retry)
            target.let_go()
    assert harness.counts(run).passed == 5
