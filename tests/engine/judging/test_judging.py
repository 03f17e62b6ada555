"""Judging on a real store and a real server: batches, repair, cache, crash, cancel."""

import asyncio
import json
from collections import Counter
from typing import Any

import pytest

from tests.engine.harness import RUBRIC, Harness, judged
from tests.servers.fake_judge import Grader, answers, asked, by_number, reply
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.limits.limiter import GONE_AFTER
from tui_eval.engine.settings import Settings
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store.requests import Verb


def judge_calls(harness: Harness) -> list[tuple[str, int, str]]:
    return harness.sql("SELECT round, items, state FROM judge_calls ORDER BY id")


async def test_98_judged_cases_take_20_calls_and_begin_before_the_last_answer(
    harness: Harness,
) -> None:
    async with FakeModel(answers(by_number), latency=0.02) as server:
        made = judged(server.base_url, server.base_url, 98)
        run = await harness.run(made)
        kinds = ["judge" if asked(call.body) else "target" for call in server.calls]
    assert kinds.count("target") == 98
    assert kinds.count("judge") == 20
    assert kinds.index("judge") < 97 - kinds[::-1].index("target")
    trials = harness.trials(run)
    assert {trial.state for trial in trials} == {TrialState.DONE}
    for trial in trials:
        digit = int(trial.case_id[-1])
        assert trial.score == pytest.approx(digit / 10)
        assert trial.verdict == (Verdict.PASS if digit >= 5 else Verdict.FAIL)


async def test_each_case_may_have_a_rubric_of_its_own(harness: Harness) -> None:
    own = {**RUBRIC, "rubric": "Is it {{ q }}?"}
    async with FakeModel(answers(by_number)) as server:
        await harness.run(judged(server.base_url, server.base_url, 10, scorers=[own]))
        requests = [found for call in server.calls if (found := asked(call.body))]
    assert len(requests) == 2
    for item in (item for request in requests for item in request["items"]):
        assert item["rubric"] == f"Is it {item['output']}?"


async def test_a_second_run_asks_the_judge_nothing_and_copies_its_grades(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 12)
        first = await harness.run(made)
        sent = server.requests
        second = await harness.run(made)
        assert server.requests == sent
        await harness.run(made, Settings(fresh=True))
        assert server.requests == 2 * sent
    assert [t.score for t in harness.trials(second)] == [t.score for t in harness.trials(first)]
    cached = (
        "SELECT s.cached, count(*) FROM scores s JOIN trials t ON t.id = s.trial WHERE t.run = ?"
    )
    assert harness.sql(cached + " GROUP BY 1", second) == [(1, 12)]
    assert harness.sql(cached + " GROUP BY 1", first) == [(0, 12)]


async def test_only_what_is_missing_is_asked_again_and_given_up_in_the_end(
    harness: Harness,
) -> None:
    def no_seven(item: Any) -> dict[str, Any] | None:
        return None if str(item["output"]).endswith("7") else by_number(item)

    async with FakeModel(answers(no_seven)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 10))
        items = Counter(
            item["output"]
            for call in server.calls
            for item in (asked(call.body) or {"items": []})["items"]
        )
    assert items.pop("q7") == 3
    assert set(items.values()) == {1}
    by_case = {trial.case_id: trial for trial in harness.trials(run)}
    assert by_case["c7"].verdict is Verdict.UNGRADED
    assert by_case["c7"].score is None
    assert by_case["c6"].score == pytest.approx(0.6)
    rounds = Counter(round_ for round_, _, _ in judge_calls(harness))
    assert rounds == {"first": 2, "alone": 1, "alone again": 1}


async def test_a_part_of_the_requirements_that_is_missing_is_asked_again_alone(
    harness: Harness,
) -> None:
    def second_only_later(item: Any) -> dict[str, Any]:
        numbers = [entry["requirement"] for entry in item["requirements"]]
        given = numbers[:1] if len(numbers) > 1 else numbers
        return {"requirements": [{"requirement": n, "reason": "r", "met": n == 1} for n in given]}

    scorer = {"kind": "judge", "name": "r", "requirements": ["a", "b"], "judge": ["j"]}
    async with FakeModel(answers(second_only_later)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 3, scorers=[scorer]))
        last = asked(server.calls[-1].body)
    assert last is not None
    assert last["items"][0]["requirements"] == [{"requirement": 2, "text": "b"}]
    assert [trial.score for trial in harness.trials(run)] == [0.5, 0.5, 0.5]


async def test_requirements_can_each_be_asked_alone(harness: Harness) -> None:
    def met(item: Any) -> dict[str, Any]:
        (entry,) = item["requirements"]
        return {"requirements": [{**entry, "met": entry["requirement"] == 2}]}

    scorer = {
        "kind": "judge",
        "name": "r",
        "requirements": ["a", "b"],
        "per_requirement": True,
        "judge": ["j"],
    }
    async with FakeModel(answers(met)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 5, scorers=[scorer]))
    assert [trial.score for trial in harness.trials(run)] == [0.5] * 5


async def test_repeats_never_share_a_batch_and_a_flipping_case_is_flaky(harness: Harness) -> None:
    seen: Counter[str] = Counter()

    def moody(item: Any) -> dict[str, Any]:
        seen[item["output"]] += 1
        return {"score": 10 if seen[item["output"]] % 2 else 0}

    async with FakeModel(answers(moody)) as server:
        made = judged(server.base_url, server.base_url, 6, judge={"repeats": 2, "concurrency": 1})
        run = await harness.run(made)
        for call in server.calls:
            if request := asked(call.body):
                outputs = [item["output"] for item in request["items"]]
                assert len(set(outputs)) == len(outputs)
    assert set(seen.values()) == {2}
    raws = [json.loads(row[0]) for row in harness.sql("SELECT raw FROM scores")]
    assert {raw["flaky"] for raw in raws} == {True}
    assert [trial.score for trial in harness.trials(run)] == [0.5] * 6


async def test_a_jury_asks_all_its_judges(harness: Harness) -> None:
    models = {"a": 10, "b": 0, "c": 10}

    def answer(body: dict[str, Any]) -> str:
        request = asked(body)
        if request is None:
            return str(body["messages"][-1]["content"])
        return reply(request, lambda item: {"score": models[body["model"]]})

    async with FakeModel(answer) as server:
        judges = [
            {"kind": "model", "name": name, "base_url": server.base_url, "model": name}
            for name in models
        ]
        scorer = {**RUBRIC, "judge": [*models]}
        made = judged(server.base_url, "", 4, judges=judges, scorers=[scorer])
        run = await harness.run(made)
    assert {trial.verdict for trial in harness.trials(run)} == {Verdict.PASS}
    assert len(judge_calls(harness)) == 3


async def test_a_judge_with_a_refused_key_stops_and_the_outputs_are_kept(harness: Harness) -> None:
    async with FakeModel() as target, FakeModel(answers(by_number), api_key="k") as judge:
        made = judged(target.base_url, judge.base_url, 30, judge={"concurrency": 2})
        run = await harness.run(made)
        assert judge.requests <= 2
        trials = harness.trials(run)
        assert {trial.verdict for trial in trials} == {Verdict.UNGRADED}
        assert harness.row(run).state is RunState.DONE
        judge.api_key = None
        asked_again = await harness.again(run, Verb.RESCORE, which="ungraded")
        assert asked_again.outcome == "accepted"
        assert target.requests == 30
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_a_judge_that_refuses_everybody_is_asked_little_more_than_its_batches(
    harness: Harness,
) -> None:
    async with (
        FakeModel() as target,
        FakeModel(script=lambda call: refuse(500)) as judge,
    ):
        made = judged(target.base_url, judge.base_url, 40, judge={"retries": 1})
        run = await harness.run(made)
        assert judge.requests == 8 * 2 + GONE_AFTER
    assert {trial.verdict for trial in harness.trials(run)} == {Verdict.UNGRADED}
    reasons = harness.sql("SELECT DISTINCT reason FROM scores")
    assert len(reasons) == 1
    assert "the judge could not be asked" in reasons[0][0]


POISON = {
    "filter": refuse(400, "content_filter", "flagged by the content policy"),
    "bad request": refuse(400, "invalid", "no such thing"),
    "server error": refuse(500),
}


@pytest.mark.parametrize("kind", POISON)
@pytest.mark.parametrize("concurrency", [1, 4])
async def test_one_refused_output_costs_one_grade_and_is_asked_alone_when_scored_again(
    harness: Harness, kind: str, concurrency: int
) -> None:
    poisonous = {"q3"}

    def script(call: Call) -> Reply | None:
        outputs = {item["output"] for item in (asked(call.body) or {"items": []})["items"]}
        return POISON[kind] if outputs & poisonous else None

    async with (
        FakeModel() as target,
        FakeModel(answers(by_number), script=script) as judge,
    ):
        described = {"retries": 1, "concurrency": concurrency}
        run = await harness.run(judged(target.base_url, judge.base_url, 10, judge=described))
        assert judge.requests <= 2 + 1 + (2 + 2 * 5)
        assert {t.case_id for t in harness.trials(run) if t.score is None} == {"c3"}
        before = judge.requests
        poisonous.clear()
        await harness.again(run, Verb.RESCORE, which="ungraded")
        assert judge.requests == before + 1
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_what_failed_goes_alone_and_spoils_no_batch_when_all_is_graded_again(
    harness: Harness,
) -> None:
    lost = {"q3", "q7"}

    def some(item: Any) -> dict[str, Any] | None:
        return None if item["output"] in lost else by_number(item)

    async with FakeModel() as target, FakeModel(answers(some)) as judge:
        run = await harness.run(judged(target.base_url, judge.base_url, 10))
        before = judge.requests
        lost.discard("q3")
        await harness.again(run, Verb.RESUME)
        sizes = [len((asked(call.body) or {})["items"]) for call in judge.calls[before:]]
    assert set(sizes) == {1}
    assert {t.case_id for t in harness.trials(run) if t.score is None} == {"c7"}


async def test_what_a_judge_never_saw_is_asked_in_batches_later(harness: Harness) -> None:
    async with FakeModel() as target, FakeModel(answers(by_number), api_key="k") as judge:
        run = await harness.run(judged(target.base_url, judge.base_url, 20))
        before = judge.requests
        judge.api_key = None
        await harness.again(run, Verb.RESCORE, which="ungraded")
        assert judge.requests == before + 4
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_a_time_out_that_suffices_for_no_batch_costs_no_grade(harness: Harness) -> None:
    def slow(call: Call) -> Reply | None:
        several = len((asked(call.body) or {"items": []})["items"]) > 1
        return Reply("hang") if several else None

    async with (
        FakeModel() as target,
        FakeModel(answers(by_number), script=slow) as judge,
    ):
        described = {"timeout": 0.5, "retries": 5}
        run = await harness.run(judged(target.base_url, judge.base_url, 5, judge=described))
        assert judge.requests <= 1 + 2 + 5
    assert all(trial.score is not None for trial in harness.trials(run))


@pytest.mark.parametrize("verb", [Verb.PAUSE, None])
async def test_what_was_refused_is_asked_again_after_a_pause_or_a_stop(
    harness: Harness, verb: Verb | None
) -> None:
    def script(call: Call) -> Reply | None:
        items = (asked(call.body) or {"items": []})["items"]
        return refuse(400) if len(items) > 1 else None

    async with (
        FakeModel() as target,
        FakeModel(answers(by_number), script=script) as judge,
    ):
        run = harness.create(judged(target.base_url, judge.base_url, 5, judge={"concurrency": 1}))
        engine = Engine(harness.path, run)
        task = asyncio.create_task(engine.run())
        await until(lambda: judge.requests >= 1)
        if verb is None:
            engine.stop()
            await asyncio.wait_for(task, 30)
            await harness.again(run, Verb.RESUME)
        else:
            await harness.asked(run, verb)
            await harness.asked(run, Verb.CONTINUE)
            await asyncio.wait_for(task, 30)
        assert target.requests == 5
        assert judge.requests <= 2 * (1 + 2 + 5)
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_a_batch_that_is_too_long_is_halved_at_once(harness: Harness) -> None:
    def too_long(call: Call) -> Reply | None:
        request = asked(call.body)
        if request is not None and len(request["items"]) > 2:
            return refuse(400, "context_length_exceeded", "maximum context length")
        return None

    async with FakeModel(answers(by_number), script=too_long) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 5))
    assert all(trial.score is not None for trial in harness.trials(run))
    assert [items for _, items, _ in judge_calls(harness)] == [5, 3, 2, 2, 1]


async def test_a_trial_cancelled_in_a_batch_in_flight_takes_nobody_along(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as target:
        slow = FakeModel(answers(by_number), latency=0.6)
        async with slow as judge:
            async with harness.working(judged(target.base_url, judge.base_url, 5)) as (run, _):
                await until(lambda: judge.in_flight == 1)
                (trial,) = (t.id for t in harness.trials(run) if t.case_id == "c3")
                answer = await harness.asked(run, Verb.CANCEL, trials=[trial])
                assert answer.outcome == "accepted"
            assert judge.requests == 1
    by_case = {trial.case_id: trial for trial in harness.trials(run)}
    assert by_case["c3"].state is TrialState.CANCELLED
    assert by_case["c3"].score is None
    assert harness.sql("SELECT count(*) FROM scores WHERE trial = ?", trial) == [(0,)]
    assert all(t.state is TrialState.DONE for case, t in by_case.items() if case != "c3")


async def test_a_run_stopped_while_it_judges_asks_only_for_what_is_missing(
    harness: Harness,
) -> None:
    async with (
        FakeModel(answers(by_number)) as target,
        FakeModel(answers(by_number), latency=0.3) as judge,
    ):
        made = judged(target.base_url, judge.base_url, 20, judge={"concurrency": 1})
        run = harness.create(made)
        engine = Engine(harness.path, run)
        task = asyncio.create_task(engine.run())
        await until(lambda: judge.requests >= 2)
        engine.stop()
        await asyncio.wait_for(task, 30)
        assert harness.row(run).state is RunState.INTERRUPTED
        graded = harness.sql("SELECT count(*) FROM findings")[0][0]
        assert 5 <= graded < 20
        await harness.again(run, Verb.RESUME)
        assert target.requests == 20
        items = sum(len((asked(call.body) or {})["items"]) for call in judge.calls)
        assert items == 20
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}


async def test_scoring_one_case_again_is_a_fresh_call_of_its_own(harness: Harness) -> None:
    moods = {"n": 3}

    def grader(item: Any) -> dict[str, Any]:
        return {"score": moods["n"]}

    async with FakeModel(answers(grader)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 5))
        before = server.requests
        moods["n"] = 9
        (trial,) = (t.id for t in harness.trials(run) if t.case_id == "c2")
        await harness.again(run, Verb.RESCORE, trials=[trial])
        assert server.requests == before + 1
    scores = {t.case_id: t.score for t in harness.trials(run)}
    assert scores["c2"] == pytest.approx(0.9)
    assert scores["c1"] == pytest.approx(0.3)
    history = harness.sql("SELECT value, current, superseded FROM scores WHERE trial = ?", trial)
    assert history == [(0.3, 0, 1), (0.9, 1, 0)]


async def test_a_changed_rubric_asks_the_judge_alone(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as target, FakeModel(answers(by_number)) as judge:
        run = await harness.run(judged(target.base_url, judge.base_url, 5))
        specs = [{**RUBRIC, "rubric": "Is it very good?"}]
        await harness.again(run, Verb.RESCORE, scorer_specs=specs)
        assert (target.requests, judge.requests) == (5, 2)
        request = asked(judge.calls[-1].body)
    assert request is not None
    assert {item["rubric"] for item in request["items"]} == {"Is it very good?"}


@pytest.mark.parametrize("verb", [Verb.RESCORE, Verb.RESUME])
async def test_a_launch_without_judges_is_ungraded_until_it_is_scored_again(
    harness: Harness, verb: Verb
) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 5)
        run = await harness.run(made, Settings(no_judge=True))
        assert server.requests == 5
        assert {trial.verdict for trial in harness.trials(run)} == {Verdict.UNGRADED}
        reasons = harness.sql("SELECT DISTINCT reason, source FROM scores")
        assert reasons == [
            ("not judged: the run was started without judges; rescore runs them", "judge")
        ]
        await harness.again(run, verb)
        assert server.requests == 6
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_a_launch_without_judges_is_resumed_without_them_until_nothing_else_is_missing(
    harness: Harness,
) -> None:
    def broken(call: Call) -> Reply | None:
        return Reply("reset") if call.prompt == "q2" else None

    async with FakeModel(answers(by_number), script=broken) as server:
        made = judged(server.base_url, server.base_url, 5, run={"retries": 0})
        run = await harness.run(made, Settings(no_judge=True))
        assert (harness.counts(run).error, harness.counts(run).ungraded) == (1, 4)
        server.script = None
        await harness.again(run, Verb.RESUME)
        assert (harness.counts(run).error, harness.counts(run).ungraded) == (0, 5)
        sent = server.requests
        await harness.again(run, Verb.RESUME)
        assert server.requests == sent + 1
    assert harness.counts(run).ungraded == 0


async def test_an_empty_output_is_decided_by_rule_and_never_sent(harness: Harness) -> None:
    def blank(body: dict[str, Any]) -> str:
        request = asked(body)
        return " " if request is None else reply(request, by_number)

    scorer = {**RUBRIC, "of": "regex:x(.*)"}
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 3, scorers=[scorer])
        run = await harness.run(made)
        assert server.requests == 3
    assert {trial.verdict for trial in harness.trials(run)} == {Verdict.FAIL}


async def test_code_and_judge_score_one_trial_together(harness: Harness) -> None:
    exact = {"kind": "exact", "expected": "{{ q }}"}
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, server.base_url, 10, scorers=[exact, RUBRIC])
        run = await harness.run(made)
    scores = [trial.score for trial in harness.trials(run)]
    assert scores == pytest.approx([(1 + digit / 10) / 2 for digit in range(10)])


async def test_a_judge_that_asks_for_patience_gets_it(harness: Harness) -> None:
    def refused_at_first(call: Call) -> Reply | None:
        if asked(call.body) is not None and call.n <= 8:
            return refuse(429, "rate_limit", "slow down", retry_after="0.2")
        return None

    grader: Grader = by_number
    async with FakeModel(answers(grader), script=refused_at_first) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 5))
    assert all(trial.score is not None for trial in harness.trials(run))
    assert {state for _, _, state in judge_calls(harness)} == {"failed", "answered"}


async def test_answers_that_come_together_lose_no_score(harness: Harness) -> None:
    scorers = [{**RUBRIC, "name": f"s{i}", "rubric": f"Is it {i}?"} for i in range(4)]
    async with FakeModel(answers(by_number)) as server:
        made = judged(
            server.base_url,
            server.base_url,
            60,
            scorers=scorers,
            judge={"concurrency": 16, "batch_size": 3},
        )
        run = await harness.run(made)
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}
    per_trial = harness.sql("SELECT count(*) FROM scores WHERE current = 1 GROUP BY trial")
    assert per_trial == [(4,)] * 60


async def test_a_cap_is_not_held_up_by_a_judge_that_asks_to_wait(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.05) as target,
        FakeModel(script=lambda call: refuse(429, retry_after="60")) as judge,
    ):
        made = judged(target.base_url, judge.base_url, 60, run={"max_tokens": 60, "concurrency": 4})
        run = harness.create(made)
        await asyncio.wait_for(Engine(harness.path, run).run(), 30)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "max_tokens")
        assert judge.requests
    assert harness.sql("SELECT count(*) FROM judge_calls WHERE state = 'sent'") == [(0,)]


async def test_a_pause_holds_the_judge_too_and_nothing_is_asked_twice(harness: Harness) -> None:
    async with (
        FakeModel() as target,
        FakeModel(answers(by_number), latency=0.05) as judge,
    ):
        made = judged(target.base_url, judge.base_url, 40, judge={"concurrency": 1})
        async with harness.working(made) as (run, _):
            await until(lambda: judge.requests >= 2)
            await harness.asked(run, Verb.PAUSE)
            await until(lambda: judge.in_flight == 0)
            held = judge.requests
            await asyncio.sleep(0.3)
            assert judge.requests <= held + 1, "one may have been on its way"
            await harness.asked(run, Verb.CONTINUE)
        assert judge.requests == 8
    assert all(trial.score is not None for trial in harness.trials(run))


@pytest.mark.parametrize(("gone", "concurrency"), [(Reply("no_reply"), 1), (refuse(503), 4)])
async def test_a_judge_that_goes_away_for_seconds_is_probed_and_grades_all(
    harness: Harness, gone: Reply, concurrency: int
) -> None:
    begun: list[float] = []

    def script(call: Call) -> Reply | None:
        if call.n == 6:
            begun.append(call.at)
        return gone if begun and call.at < begun[0] + 2.0 else None

    async with (
        FakeModel(answers(by_number)) as target,
        FakeModel(answers(by_number), script=script) as judge,
    ):
        described = {"concurrency": concurrency, "batch_size": 1, "retries": 1}
        run = await harness.run(judged(target.base_url, judge.base_url, 20, judge=described))
    assert all(trial.score is not None for trial in harness.trials(run))
    lost = judge.requests - 20
    assert 2 <= lost <= concurrency + 2 * 2 + 2


async def test_an_output_that_breaks_a_judge_costs_the_others_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.engine.limits.call_permit.LAST_ONES_S", 1.0)

    def script(call: Call) -> Reply | None:
        request = asked(call.body)
        assert request is not None
        return refuse(500) if str(request["items"][0]["output"])[-1] in "34" else None

    async with (
        FakeModel(answers(by_number)) as target,
        FakeModel(answers(by_number), script=script) as judge,
    ):
        described = {"concurrency": 1, "batch_size": 1, "retries": 1}
        run = await harness.run(judged(target.base_url, judge.base_url, 10, judge=described))
    ungraded = {t.case_id for t in harness.trials(run) if t.score is None}
    assert ungraded == {"c3", "c4"}
