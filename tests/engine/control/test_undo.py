"""What a request did is taken back: cancelled trials go on, what was graded before counts again."""

import asyncio
import json
from typing import Any

import pytest

from tests.engine.harness import RUBRIC, Harness, judged, suite
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel, hangs
from tests.waiting import until
from tui_eval.engine.control import previous_spec, verbs
from tui_eval.engine.control.submit import ask, settle
from tui_eval.engine.engine import Engine
from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store import requests
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.writer import once

NEVER: JsonObject = {"kind": "exact", "name": "exact", "expected": "never"}
WRONG: JsonObject = {"scorer_specs": [NEVER], "judge_specs": []}


def specs(harness: Harness, run: int) -> str:
    return str(harness.sql("SELECT json_extract(spec, '$.scorers') FROM runs WHERE id = ?", run)[0])


def last(harness: Harness, run: int) -> int | None:
    """Give the request that `undo` takes back next."""
    done = harness._read(verbs.last_done, run)
    return None if done is None else done.id


def verdicts(harness: Harness, run: int) -> list[str]:
    return [f"{trial.verdict}" for trial in harness.trials(run)]


async def test_cancelled_trials_go_on_and_those_cancelled_before_stay(harness: Harness) -> None:
    async with FakeModel(script=hangs("q0", "q1")) as server:
        async with harness.working(suite(server.base_url, 4)) as (run, _):
            await until(lambda: harness.row(run).staged and harness.counts(run).done == 2)
            await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c0").id])
            ids = [trial.id for trial in harness.trials(run)]
            second = await harness.asked(run, Verb.CANCEL, trials=ids)
        said = str(second.detail)
        assert said.startswith("1 trial; 3 of 4 not: 2 settled already (done), 1 settled")
        server.script = None
        server.counts.clear()
        answer = await harness.again(run, Verb.UNCANCEL, request=second.id)
    assert (answer.outcome, answer.detail) == ("accepted", "1 trial")
    assert server.counts == {"q1": 1}
    assert harness.trial(run, "c0").state is TrialState.CANCELLED
    assert harness.counts(run).passed == 3
    again = await harness.again(run, Verb.UNCANCEL, request=second.id)
    assert (again.outcome, again.detail) == ("closed", "nothing of it is left to undo")


async def test_an_output_that_came_too_late_is_not_asked_for_again(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 1))
        # cancelled a moment before its answer was written, as `attempt_writes.answer` leaves it
        harness.write("UPDATE trials SET state = 'running', output = NULL")
        number = ask(harness.path, run, Verb.CANCEL, {"which": "all"})
        harness.write("UPDATE trials SET state = 'cancelled'")
        answer = await harness.again(run, Verb.UNCANCEL, request=number)
    assert answer.outcome == "accepted"
    assert server.requests == 1
    assert harness.trial(run, "c0").verdict is Verdict.PASS


@pytest.mark.parametrize("live", [False, True])
async def test_a_rescore_is_withdrawn_with_the_scorers_it_brought(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, live: bool
) -> None:
    monkeypatch.setattr("tui_eval.engine.engine.GRACE_S", 0.1)
    async with (
        FakeModel(script=hangs("q3")) as server,
        harness.working(suite(server.base_url, 4)) as (run, engine),
    ):
        await until(lambda: harness.row(run).staged and harness.counts(run).passed == 3)
        before = specs(harness, run)
        done = [trial.id for trial in harness.trials(run) if trial.state is TrialState.DONE]
        request = await harness.asked(run, Verb.RESCORE, trials=done, **WRONG)
        await until(lambda: harness.counts(run).failed == 3)
        assert specs(harness, run) != before
        if not live:
            engine.stop()
            await until(lambda: not harness.row(run).live)
        answer = await harness.asked(run, Verb.WITHDRAW, request=request.id)
        assert (answer.outcome, answer.detail) == ("accepted", "3 trials")
        assert verdicts(harness, run)[:3] == ["pass"] * 3
        assert specs(harness, run) == before
        if live:
            await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c3").id])
    history = harness.sql(
        "SELECT verdict, current, superseded, withdrawn_at IS NOT NULL FROM scores "
        "WHERE trial = ? ORDER BY id",
        done[0],
    )
    assert history == [("pass", 1, 0, 0), ("fail", 0, 0, 1)]
    assert server.requests == 4
    later = ask(harness.path, run, Verb.WITHDRAW, {"request": request.id})
    assert harness.request(later).outcome == "closed"


async def test_what_waited_for_its_turn_takes_back_nothing_but_its_own(harness: Harness) -> None:
    async with FakeModel(script=hangs("q0", "q1")) as server:
        async with harness.working(suite(server.base_url, 2)) as (run, _):
            await until(lambda: harness.row(run).staged and server.requests == 2)
            ids = [trial.id for trial in harness.trials(run)]
            both = [ask(harness.path, run, Verb.CANCEL, {"trials": [trial]}) for trial in ids]
            await until(lambda: harness.request(both[1]).outcome is not None)
        server.script = None
        server.counts.clear()
        answer = await harness.again(run, Verb.UNCANCEL, request=both[1])
    assert (answer.outcome, answer.detail) == ("accepted", "1 trial")
    assert server.counts == {"q1": 1}


@pytest.mark.parametrize("jump", [3600.0, -3600.0])
async def test_no_clock_says_what_a_request_did(harness: Harness, jump: float) -> None:
    async with FakeModel(script=hangs("q1")) as server:
        async with harness.working(suite(server.base_url, 2)) as (run, _):
            await until(lambda: harness.row(run).staged and harness.counts(run).passed == 1)
            (done, hanging) = [trial.id for trial in harness.trials(run)]
            rescored = await harness.asked(run, Verb.RESCORE, trials=[done], **WRONG)
            await until(lambda: harness.counts(run).failed == 1)
            cancelled = await harness.asked(run, Verb.CANCEL, trials=[hanging])
        server.script = None
        harness.write("UPDATE requests SET asked_at = asked_at + ?, answered_at = 1.0", jump)
        harness.write("UPDATE scores SET at = at + ? WHERE id % 2", jump)
        harness.write("UPDATE findings SET at = at + ? WHERE id % 2", jump)
        harness.write("UPDATE trials SET since = since + ?", jump)
        harness.write("UPDATE moves SET at = NULL")
        undone = await harness.again(run, Verb.UNCANCEL, request=cancelled.id)
        withdrawn = await harness.again(run, Verb.WITHDRAW, request=rescored.id)
    assert (undone.outcome, undone.detail) == ("accepted", "1 trial")
    assert (withdrawn.outcome, withdrawn.detail) == ("accepted", "1 trial")
    assert harness.trial(run, "c0").verdict is Verdict.PASS


async def test_of_requests_about_one_trial_the_last_is_taken_back_first(harness: Harness) -> None:
    async with FakeModel(script=hangs("q0", "q1", "q2")) as server:
        made = suite(server.base_url, 3)
        async with harness.working(made) as (run, _):
            await until(lambda: harness.row(run).staged and server.requests == 3)
            (a, b, c) = [trial.id for trial in harness.trials(run)]
            first = await harness.asked(run, Verb.CANCEL, trials=[a, b])
            second = await harness.asked(run, Verb.CANCEL, trials=[b, c])
        assert second.detail == "1 trial; 1 of 2 not: settled already (cancelled)"
        rescored = harness.request(ask(harness.path, run, Verb.RETRY, {"trials": [a]}))
        engine = Engine(harness.path, run)
        working = asyncio.create_task(engine.run())
        await until(lambda: harness.request(rescored.id).outcome is not None)
        third = await harness.asked(run, Verb.CANCEL, trials=[a])
        await working
        server.script = None
        assert last(harness, run) == third.id
        older = await harness.again(run, Verb.UNCANCEL, request=first.id)
        newer = await harness.again(run, Verb.UNCANCEL, request=third.id)
    assert older.detail == "1 trial; 1 of 2 not: cancelled, scored or asked again since"
    assert newer.detail == "1 trial"
    assert last(harness, run) == second.id
    states = [str(trial.verdict or trial.state) for trial in harness.trials(run)]
    assert states == ["pass", "pass", "cancelled"]


async def test_what_was_undone_is_not_undone(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 2))
        done = await harness.again(run, Verb.RESCORE, which="all", **WRONG)
        undone = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": done.id}))
        for verb in (Verb.WITHDRAW, Verb.UNCANCEL):
            again = await harness.again(run, verb, request=undone.id)
            why = f"{verb} does not undo withdraw"
            assert (again.outcome, again.detail) == ("closed", why)
        wrong = await harness.again(run, Verb.UNCANCEL, request=done.id)
        why = "uncancel does not undo rescore"
        assert (wrong.outcome, wrong.detail) == ("closed", why)
    assert last(harness, run) is None
    assert verdicts(harness, run) == ["pass", "pass"]


async def test_a_run_that_was_cancelled_goes_on(harness: Harness) -> None:
    async with FakeModel(script=hangs("q1", "q2")) as server:
        async with harness.working(suite(server.base_url, 3)) as (run, _):
            await until(lambda: harness.row(run).staged and harness.counts(run).passed == 1)
            cancelled = await harness.asked(run, Verb.CANCEL_RUN)
        assert harness.counts(run).cancelled == 2
        server.script = None
        assert last(harness, run) == cancelled.id
        answer = await harness.again(run, Verb.UNCANCEL, request=cancelled.id)
    assert (answer.outcome, answer.detail) == ("accepted", "2 trials")
    assert harness.counts(run).passed == 3
    assert last(harness, run) is None


async def test_what_nothing_is_left_of_does_not_stand_before_what_was_done_earlier(
    harness: Harness,
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 2))
        (a, b) = [trial.id for trial in harness.trials(run)]
        first = await harness.again(run, Verb.RESCORE, trials=[a], **WRONG)
        await harness.again(run, Verb.RESCORE, trials=[b])
        await harness.again(run, Verb.RETRY, trials=[b])
    assert last(harness, run) == first.id


async def test_a_score_that_other_scorers_made_stale_comes_back_with_its_rescore(
    harness: Harness,
) -> None:
    """Two rescores at once: the second brings other scorers while the first waits for a judge."""
    exact = {"kind": "exact", "name": "exact", "expected": "{{ q }}"}
    counting = "SELECT trial, scorer, verdict, value FROM scores WHERE current = 1 ORDER BY 1, 2"
    async with FakeModel() as target, FakeModel(answers(by_number)) as judge:
        made = judged(target.base_url, judge.base_url, 2, scorers=[exact, RUBRIC])
        run = await harness.run(made)
        before = harness.sql(counting)
        (a, b) = [trial.id for trial in harness.trials(run)]
        judge.hold()
        sent = judge.requests
        first = ask(harness.path, run, Verb.RESCORE, {"trials": [a], "scorers": ["good"]})
        engine = Engine(harness.path, run)
        working = asyncio.create_task(engine.run())
        await until(lambda: judge.requests > sent)
        spec = harness.sql("SELECT json_extract(spec, '$.judges') FROM runs")[0][0]
        brought = {"scorer_specs": [NEVER, RUBRIC], "judge_specs": json.loads(spec)}
        second = await harness.asked(run, Verb.RESCORE, trials=[b], **brought)
        judge.let_go()
        await working
        assert ("exact", "fail") in [row[1:3] for row in harness.sql(counting) if row[0] == a]
        for request in (second.id, first):
            answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request}))
            assert (answer.outcome, answer.detail) == ("accepted", "1 trial")
    assert harness.sql(counting) == before


@pytest.mark.parametrize("verb", [Verb.RETRY, Verb.CANCEL])
async def test_what_a_dead_engine_has_moved_is_not_moved_again(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, verb: Verb
) -> None:
    monkeypatch.setattr("tui_eval.engine.engine.GRACE_S", 0.1)
    async with FakeModel(script=hangs("q0", "q1")) as server:
        async with harness.working(suite(server.base_url, 2)) as (run, _):
            await until(lambda: harness.row(run).staged and server.requests == 2)
            await harness.asked(run, Verb.STOP)
        server.script = None
        if verb is Verb.RETRY:
            await harness.again(run, Verb.RESUME)
        ids = [trial.id for trial in harness.trials(run)]

        def begun(tx: Tx) -> int:
            request = requests.ask(tx, run, verb, {"which": "all"})
            move = verbs.move_trials(tx.db, run, verb, {"which": "all"}, request=request)
            assert move(tx, ids[:1]).moved == 1
            return request

        request = once(harness.path, begun)
        server.counts.clear()
        settle(harness.path, run, request)
        if verb is Verb.RETRY:
            harness.write("UPDATE trials SET state = 'error' WHERE id = ?", ids[0])
            await Engine(harness.path, run).run()
    answer = harness.request(request)
    assert (answer.outcome, answer.detail) == ("accepted", "2 trials")
    states = [trial.state for trial in harness.trials(run)]
    if verb is Verb.RETRY:
        assert server.counts == {"q1": 1}
        assert states == [TrialState.ERROR, TrialState.DONE]
    else:
        assert states == [TrialState.CANCELLED] * 2


async def test_each_rescore_is_withdrawn_in_turn(harness: Harness) -> None:
    specs_, requests = [], []
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 2))
        for wrong in ({**NEVER, "expected": text} for text in ("never", "ever", "no")):
            specs_.append(specs(harness, run))
            done = await harness.again(
                run, Verb.RESCORE, which="all", scorer_specs=[wrong], judge_specs=[]
            )
            requests.append(done.id)
    for request, before in zip(reversed(requests), reversed(specs_), strict=True):
        answers_ = [ask(harness.path, run, Verb.WITHDRAW, {"request": request}) for _ in range(2)]
        assert [harness.request(one).detail for one in answers_] == [
            "2 trials",
            "nothing of it is left to undo",
        ]
        assert specs(harness, run) == before
    assert verdicts(harness, run) == ["pass", "pass"]


async def test_a_rescore_goes_on_whose_engine_died_before_it_was_answered(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 2))
        before = specs(harness, run)
        request = ask(harness.path, run, Verb.RESCORE, {"which": "all", **WRONG})
        once(harness.path, lambda tx: previous_spec.keep(tx, run, request))  # and then it died
        for _ in range(2):  # once more, when the trials have their new scores
            harness.write("UPDATE requests SET outcome = NULL, answered_at = NULL")
            await Engine(harness.path, run).run()
            assert harness.request(request).outcome == "accepted"
            assert verdicts(harness, run) == ["fail", "fail"]
    answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request}))
    assert (answer.outcome, answer.detail) == ("accepted", "2 trials")
    assert verdicts(harness, run) == ["pass", "pass"]
    assert specs(harness, run) == before


async def test_the_scorers_go_back_where_an_engine_died_as_it_withdrew(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 2))
        before = specs(harness, run)
        done = await harness.again(run, Verb.RESCORE, which="all", **WRONG)

    def withdrawn(tx: Tx) -> int:
        request = requests.ask(tx, run, Verb.WITHDRAW, {"request": done.id})
        args: JsonObject = {"request": done.id}
        move = verbs.move_trials(tx.db, run, Verb.WITHDRAW, args, request=request)
        trials = [trial.id for trial in harness.trials(run)]
        assert move(tx, trials).moved == 2
        return request

    request = once(harness.path, withdrawn)
    settle(harness.path, run, request)
    answer = harness.request(request)
    assert (answer.outcome, answer.detail) == ("accepted", "2 trials")
    assert verdicts(harness, run) == ["pass", "pass"]
    assert specs(harness, run) == before


async def test_what_was_scored_or_asked_again_since_is_left_as_it_is(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 3))
        first = await harness.again(run, Verb.RESCORE, which="all", **WRONG)
        ids = {trial.case_id: trial.id for trial in harness.trials(run)}
        await harness.again(run, Verb.RESCORE, trials=[ids["c0"]])
        await harness.again(run, Verb.RETRY, trials=[ids["c1"]])
    answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": first.id}))
    assert answer.outcome == "accepted"
    assert answer.detail == "1 trial; 2 of 3 not: cancelled, scored or asked again since"
    assert verdicts(harness, run) == ["fail", "fail", "pass"]
    assert harness.row(run).state is RunState.DONE


@pytest.mark.parametrize("verb", [Verb.UNCANCEL, Verb.WITHDRAW])
@pytest.mark.parametrize("args", [{}, {"request": 99}, {"request": "x"}])
async def test_work_that_is_not_there_is_not_taken_back(
    harness: Harness, verb: Verb, args: dict[str, Any]
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 1))
        number = ask(harness.path, run, verb, args)
        if harness.request(number).outcome is None:
            await Engine(harness.path, run).run()
    assert harness.request(number).outcome == "closed"
    assert verdicts(harness, run) == ["pass"]


async def test_a_scorer_that_is_new_is_withdrawn_too(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 2))
        before = specs(harness, run)
        both = [{**NEVER, "expected": "{{ q }}"}, {**NEVER, "name": "new"}]
        request = await harness.again(
            run, Verb.RESCORE, which="all", scorers=["new"], scorer_specs=both, judge_specs=[]
        )
        assert verdicts(harness, run) == ["fail", "fail"]
        answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request.id}))
    assert (answer.outcome, answer.detail) == ("accepted", "2 trials")
    assert verdicts(harness, run) == ["pass", "pass"]
    assert specs(harness, run) == before


async def test_what_had_no_grade_before_is_not_passed_by_withdrawing(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 1))
        harness.write("DELETE FROM scores")
        harness.write("UPDATE trials SET state = 'error', verdict = NULL, error_kind = 'template'")
        request = await harness.again(run, Verb.RESCORE, which="all")
        harness.write("UPDATE scores SET verdict = 'fail', value = 0.0")
        harness.write("UPDATE trials SET verdict = 'fail'")
        harness.write("UPDATE moves SET state = NULL")  # as in a store of an earlier version
        answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request.id}))
        assert (answer.outcome, answer.detail) == ("closed", "it had no grade before")
        assert verdicts(harness, run) == ["fail"]
        harness.write("UPDATE moves SET state = 'error'")
        answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request.id}))
    assert (answer.outcome, answer.detail) == ("accepted", "1 trial")
    (trial,) = harness.trials(run)
    assert (trial.state, trial.verdict, trial.error_kind) == (TrialState.ERROR, None, "template")


async def test_what_judges_said_before_counts_again_and_nobody_is_asked(harness: Harness) -> None:
    counting = "SELECT id, trial FROM findings WHERE superseded = 0 ORDER BY id"
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 6))
        before, graded = harness.sql(counting), verdicts(harness, run)
        request = await harness.again(run, Verb.RESCORE, which="all")
        asked = server.requests
        assert harness.sql(counting) != before
        answer = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request.id}))
        assert (answer.outcome, answer.detail) == ("accepted", "6 trials")
        assert harness.sql(counting) == before
        assert verdicts(harness, run) == graded
        assert server.requests == asked


async def test_a_grade_by_hand_stays_whatever_is_withdrawn(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 1))
        trial = harness.trial(run, "c0").id
        harness.write("UPDATE scores SET current = 0")
        harness.write(
            "INSERT INTO scores (trial, output, scorer, verdict, value, reason, source, weight, "
            "required, at) SELECT trial, output, scorer, 'fail', 0.0, 'no', 'human', 1, 1, at "
            "FROM scores"
        )
        request = await harness.again(run, Verb.RESCORE, trials=[trial])
        harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": request.id}))
    assert harness.sql("SELECT source FROM scores WHERE current = 1") == [("human",)]
    assert verdicts(harness, run) == ["fail"]


async def test_a_rescore_of_cancelled_trials_is_undone_to_cancelled_ones(harness: Harness) -> None:
    exact = {"kind": "exact", "name": "exact", "expected": "{{ q }}"}
    async with FakeModel() as target, FakeModel(answers(by_number)) as judge:
        judge.hold()
        made = judged(target.base_url, judge.base_url, 5, scorers=[exact, RUBRIC])
        async with harness.working(made) as (run, _):
            await until(lambda: judge.requests == 1)
            await harness.asked(run, Verb.CANCEL, which="all")
            judge.let_go()
        rescored = await harness.again(run, Verb.RESCORE, which="all")
        assert harness.counts(run).done == 5
        undone = await harness.again(run, Verb.WITHDRAW, request=rescored.id)
    assert (undone.outcome, undone.detail) == ("accepted", "5 trials")
    assert harness.counts(run).cancelled == 5
