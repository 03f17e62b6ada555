"""What a person asks of a run while it goes on, and after."""

import asyncio
from collections.abc import Sequence

import pytest

from tests.engine.bulk.bulk_runs import bulk_suite, working
from tests.engine.harness import Harness, suite
from tests.servers.fake_bulk import FakeBulk
from tests.servers.fake_model import Call, FakeModel, Reply, always, hangs, refuse
from tests.support import writing
from tests.waiting import until
from tui_eval.engine.control import verbs
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store import lease, requests
from tui_eval.store.connection import open_writable
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.writer import transact
from tui_eval.targets.model.model_target import ModelTarget


async def test_cancelling_a_call_in_flight_closes_its_connection_and_touches_no_other(
    harness: Harness,
) -> None:
    async with (
        FakeModel(script=hangs("q3")) as server,
        harness.working(suite(server.base_url, 20)) as (run, _),
    ):
        await until(lambda: harness.row(run).staged and harness.counts(run).done == 19)
        answer = await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c3").id])
        assert answer.outcome == "accepted"
        assert harness.trial(run, "c3").state is TrialState.CANCELLED
        await until(lambda: server.dropped == 1)
    assert harness.counts(run).passed == 19
    assert harness.row(run).state is RunState.DONE
    assert harness.sql("SELECT state FROM attempts WHERE state = 'cancelled'")


async def test_cancelling_twice_is_harmless(harness: Harness) -> None:
    async with (
        FakeModel(script=hangs("q0")) as server,
        harness.working(suite(server.base_url, 2)) as (run, _),
    ):
        await until(lambda: server.requests == 2)
        trial = harness.trial(run, "c0").id
        first = await harness.asked(run, Verb.CANCEL, trials=[trial])
        second = ask(harness.path, run, Verb.CANCEL, {"trials": [trial]})
    assert first.outcome == "accepted"
    assert harness.request(second).outcome in ("already", "closed")


async def test_a_queued_trial_that_is_cancelled_is_never_asked(harness: Harness) -> None:
    one = {"concurrency": 1}
    async with (
        FakeModel(latency=0.2) as server,
        harness.working(suite(server.base_url, 5, run=one)) as (run, _),
    ):
        await until(lambda: server.requests == 1)
        await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c4").id])
    assert server.counts["q4"] == 0
    assert harness.counts(run).cancelled == 1
    assert harness.counts(run).passed == 4


async def test_a_trial_whose_target_is_just_being_opened_is_cancelled_without_a_call(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, may_open = asyncio.Event(), asyncio.Event()
    enter = ModelTarget.__aenter__

    async def slowly(model: ModelTarget) -> ModelTarget:
        opening.set()
        await may_open.wait()
        return await enter(model)

    monkeypatch.setattr(ModelTarget, "__aenter__", slowly)
    async with (
        FakeModel() as server,
        harness.working(suite(server.base_url, 3, run={"concurrency": 2})) as (run, _),
    ):
        await opening.wait()
        await until(lambda: harness.counts(run).running == 2)
        await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c0").id])
        await until(lambda: harness.counts(run).running == 2)  # its slot is another's
        may_open.set()
    assert server.counts["q0"] == 0
    assert (harness.counts(run).passed, harness.counts(run).cancelled) == (2, 1)


async def test_a_run_whose_target_is_just_being_opened_stops_at_once(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(model: ModelTarget) -> ModelTarget:
        await asyncio.Event().wait()
        return model

    monkeypatch.setattr(ModelTarget, "__aenter__", never)
    async with (
        FakeModel() as server,
        harness.working(suite(server.base_url, 3)) as (run, engine),
    ):
        await until(lambda: harness.row(run).staged and harness.counts(run).running == 3)
        engine.abort()
    assert harness.row(run).state is RunState.INTERRUPTED
    assert harness.counts(run).queued == 3


async def test_a_trial_that_backs_off_can_be_cancelled_and_the_run_ends(harness: Harness) -> None:
    slow = refuse(429, "rate_limit_exceeded", retry_after="60")
    async with (
        FakeModel(script=lambda call: slow if call.prompt == "q1" else None) as server,
        harness.working(suite(server.base_url, 3)) as (run, _),
    ):
        await until(lambda: harness.row(run).staged and harness.counts(run).done == 2)
        await until(lambda: harness.trial(run, "c1").waiting is not None)
        assert "429, try 2/6" in (harness.trial(run, "c1").waiting or "")
        await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c1").id])
    assert harness.trial(run, "c1").state is TrialState.CANCELLED
    assert server.counts["q1"] == 1


async def test_a_backing_off_trial_gives_its_slot_to_others(harness: Harness) -> None:
    slow = refuse(429, "rate_limit_exceeded", retry_after="0.6")

    def script(call: Call) -> Reply | None:
        return slow if call.prompt == "q0" and call.attempt == 1 else None

    async with FakeModel(script=script) as server:
        run = await harness.run(suite(server.base_url, 10, run={"concurrency": 2}))
    order = [call.prompt for call in server.calls]
    assert order[-1] == "q0"
    assert harness.counts(run).passed == 10


async def test_retry_pressed_fifty_times_asks_once(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 3))
        trial = harness.trial(run, "c1").id
        asked = [ask(harness.path, run, Verb.RETRY, {"trials": [trial]}) for _ in range(49)]
        last = await harness.again(run, Verb.RETRY, trials=[trial])
    outcomes = [harness.request(request).outcome for request in asked] + [last.outcome]
    assert outcomes == ["accepted"] + ["already"] * 49
    assert server.counts["q1"] == 2
    assert harness.trial(run, "c1").attempts == 2


async def test_a_retried_output_satisfies_no_key_any_more(harness: Harness) -> None:
    async with FakeModel(answers={"q0": "first"}) as server:
        first = await harness.run(suite(server.base_url, 1))
        server.answers = {"q0": "q0"}
        await harness.again(first, Verb.RETRY, trials=[harness.trial(first, "c0").id])
        assert harness.trial(first, "c0").verdict is Verdict.PASS
        second = await harness.run(suite(server.base_url, 1))
        assert harness.trial(second, "c0").verdict is Verdict.PASS
        assert server.requests == 2


async def test_a_rescore_asks_no_target_and_keeps_the_history(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 4))
        answer = await harness.again(run, Verb.RESCORE, which="all")
        assert server.requests == 4
    assert (answer.outcome, answer.detail) == ("accepted", "4 trials")
    assert harness.sql("SELECT count(*), sum(current), sum(superseded) FROM scores") == [(8, 4, 4)]
    assert harness.counts(run).passed == 4


async def test_a_score_read_ahead_is_not_given_to_what_a_retry_brings(harness: Harness) -> None:
    one = {"concurrency": 1}
    async with (
        FakeModel(answers={"q0": "wrong"}, script=hangs("q1")) as server,
        harness.working(suite(server.base_url, 2, run=one)) as (run, _),
    ):
        await until(lambda: server.counts["q1"] == 1)
        c0, c1 = (trial.id for trial in harness.trials(run))
        # the only worker is busy: the trial to be scored is read, and waits in line
        await harness.asked(run, Verb.RESCORE, trials=[c0])
        await harness.asked(run, Verb.CANCEL, trials=[c0])
        server.answers = {"q0": "q0"}
        await harness.asked(run, Verb.RETRY, trials=[c0])
        await harness.asked(run, Verb.CANCEL, trials=[c1])
    assert harness.trial(run, "c0").verdict is Verdict.PASS
    scored = harness.sql("SELECT verdict, current FROM scores WHERE trial = ? ORDER BY id", c0)
    assert scored == [("fail", 0), ("pass", 1)]


async def test_a_rescore_with_other_scorers_changes_verdicts_and_stays(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 4))
        wrong = suite(server.base_url, 4, scorers=[{"kind": "exact", "expected": "nothing"}])
        specs = wrong.model_dump(mode="json")["scorers"]
        await harness.again(run, Verb.RESCORE, which="all", scorer_specs=specs)
        assert harness.counts(run).failed == 4
        await harness.again(run, Verb.RETRY, trials=[harness.trial(run, "c0").id])
    assert harness.counts(run).failed == 4
    assert server.requests == 5


async def test_rescoring_what_has_no_output_is_refused_with_a_reason(harness: Harness) -> None:
    async with (
        FakeModel(script=always(Reply("hang"))) as server,
        harness.working(suite(server.base_url, 1)) as (run, engine),
    ):
        await until(lambda: server.requests == 1)
        answer = await harness.asked(run, Verb.RESCORE, which="all")
        assert (answer.outcome, answer.detail) == ("too-early", "it has no output yet (running)")
        engine.abort()


async def test_pause_begins_nothing_new_and_continue_goes_on(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.05) as server,
        harness.working(suite(server.base_url, 60, run={"concurrency": 2})) as (run, _),
    ):
        await until(lambda: server.requests >= 4)
        assert (await harness.asked(run, Verb.PAUSE)).outcome == "accepted"
        assert harness.row(run).state is RunState.PAUSED
        assert (await harness.asked(run, Verb.PAUSE)).outcome == "already"
        await until(lambda: server.in_flight == 0)
        held = server.requests
        await asyncio.sleep(0.3)
        assert server.requests == held
        assert (await harness.asked(run, Verb.CONTINUE)).outcome == "accepted"
    assert harness.counts(run).passed == 60


async def test_a_limit_is_changed_while_the_run_goes_on(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.05) as server,
        harness.working(suite(server.base_url, 80, run={"concurrency": 2})) as (run, _),
    ):
        await until(lambda: server.requests >= 4)
        assert server.in_flight_max == 2
        [(endpoint,)] = harness.sql("SELECT DISTINCT endpoint FROM columns")
        answer = await harness.asked(run, Verb.SET_LIMIT, endpoint=endpoint, by=6)
        assert answer.detail == "2 → 8"
        await until(lambda: server.in_flight_max == 8)
        await harness.asked(run, Verb.SET_LIMIT, endpoint=endpoint, to=1)
        await until(lambda: server.in_flight <= 1)
        refused = await harness.asked(run, Verb.SET_LIMIT, endpoint=endpoint, to=0)
        assert refused.outcome == "closed"
        refused = await harness.asked(run, Verb.SET_LIMIT, endpoint=endpoint, to=10**9)
        assert refused.outcome == "closed"
        await harness.asked(run, Verb.SET_LIMIT, endpoint=endpoint, to=20)
    assert harness.counts(run).passed == 80
    limits = [row[0] for row in harness.sql("SELECT concurrency FROM limits ORDER BY id")]
    assert limits == [2, 8, 1, 20]


async def test_a_limit_is_of_what_is_retried_where_all_else_is_asked_in_bulk(
    harness: Harness,
) -> None:
    async with FakeBulk(looks=0) as server, working(harness, bulk_suite(server, 2)) as (run, _):
        await server.happened("create")
        [(endpoint,)] = harness.sql("SELECT endpoint FROM columns")
        answer = await harness.asked(run, Verb.SET_LIMIT, endpoint=endpoint, to=9)
        server.finish()
        server.looks = 1
    assert str(answer.detail).endswith(" → 9, for what is retried: all else is asked in bulk")


async def test_cancelling_what_is_at_a_provider_says_that_it_may_be_billed(
    harness: Harness,
) -> None:
    async with FakeBulk(looks=0) as server, working(harness, bulk_suite(server, 3)) as (run, _):
        await server.happened("create")
        await until(lambda: harness.sql("SELECT state FROM consignments") == [("sent",)])
        ids = [trial.id for trial in harness.trials(run)]
        answer = await harness.asked(run, Verb.CANCEL, trials=ids[:2])
        rows = [trial.left_at is not None for trial in harness.trials(run)]
        server.finish()
        server.looks = 1
    at = server.base_url.split("/")[2]
    said = f"2 trials; 2 requests at {at} in bulk may still be done, and billed"
    assert (answer.outcome, answer.detail) == ("accepted", said)
    assert rows == [True, True, False]
    assert not any(trial.left_at for trial in harness.trials(run)), "what was done has come"


async def test_cancelling_a_run_ends_it_at_once_and_retry_takes_it_back(harness: Harness) -> None:
    async with FakeModel(script=hangs("q0", "q1")) as server:
        async with harness.working(suite(server.base_url, 4, run={"concurrency": 2})) as (run, _):
            await until(lambda: server.requests == 2)
            answer = await harness.asked(run, Verb.CANCEL_RUN)
            assert (answer.outcome, answer.detail) == ("accepted", "4 trials cancelled")
        assert harness.row(run).state is RunState.CANCELLED
        assert harness.counts(run).cancelled == 4
        refused = await harness.again(run, Verb.RESUME)
        assert refused.outcome == "closed"
        assert harness.row(run).state is RunState.CANCELLED
        await harness.again(run, Verb.RETRY, cases=["c2"], which="all")
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).passed == 1
    assert harness.counts(run).cancelled == 3


@pytest.mark.parametrize(
    ("leaving", "beginning", "state", "left"),
    [
        (Verb.STOP, Verb.RESUME, RunState.INTERRUPTED, "queued"),
        (Verb.STOP, Verb.RETRY, RunState.INTERRUPTED, "queued"),
        (Verb.CANCEL_RUN, Verb.RETRY, RunState.CANCELLED, "cancelled"),
    ],
)
async def test_nothing_is_begun_by_an_engine_on_its_way_out(
    harness: Harness, leaving: Verb, beginning: Verb, state: RunState, left: str
) -> None:
    async with (
        FakeModel(script=always(Reply("hang"))) as server,
        harness.working(suite(server.base_url, 30)) as (run, engine),
    ):
        await until(lambda: server.requests == 10)
        ask(harness.path, run, leaving)
        begun = ask(harness.path, run, beginning, {"which": "all"})
        await until(lambda: harness.sql("SELECT 1 FROM requests WHERE outcome = 'accepted'"))
        engine.abort()
    assert harness.request(begun).outcome == "closed"
    assert "ask again" in (harness.request(begun).detail or "")
    assert harness.row(run).state is state
    assert getattr(harness.counts(run), left) == 30
    assert server.requests == 10


async def test_a_pause_asked_for_while_a_run_is_staged_shows(harness: Harness) -> None:
    async with (
        FakeModel() as server,
        harness.working(suite(server.base_url, 5000)) as (run, engine),
    ):
        await until(lambda: harness.row(run).live)
        assert not harness.row(run).staged
        answer = await harness.asked(run, Verb.PAUSE)
        assert answer.outcome == "accepted"
        await until(lambda: harness.sql("SELECT 1 FROM limits"))
        assert harness.row(run).state is RunState.PAUSED
        assert server.requests == 0
        engine.stop()


async def test_what_was_asked_of_an_engine_that_died_does_not_stop_the_next(
    harness: Harness,
) -> None:
    async with FakeModel() as server:
        run = harness.create(suite(server.base_url, 5))
        db = open_writable(harness.path)
        stop = transact(db, lambda tx: requests.ask(tx, run, Verb.STOP))
        db.close()
        await Engine(harness.path, run).run()
    assert harness.request(stop).outcome == "closed"
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).passed == 5


async def test_stop_leaves_a_run_that_resumes(harness: Harness) -> None:
    async with FakeModel(latency=0.05) as server:
        async with harness.working(suite(server.base_url, 40, run={"concurrency": 2})) as (run, _):
            await until(lambda: server.requests >= 4)
            assert (await harness.asked(run, Verb.STOP)).outcome == "accepted"
        assert harness.row(run).state is RunState.INTERRUPTED
        await harness.again(run, Verb.RESUME)
    assert harness.counts(run).passed == 40
    assert set(server.counts.values()) == {1}


async def test_a_cancel_needs_no_engine_where_none_works(harness: Harness) -> None:
    async with FakeModel() as server:
        run = harness.create(suite(server.base_url, 3))
        request = ask(harness.path, run, Verb.CANCEL_RUN)
        assert harness.request(request).outcome == "accepted"
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.CANCELLED, "person")
        assert row.ended_at is not None
        assert server.requests == 0
        again = harness.request(ask(harness.path, run, Verb.CANCEL_RUN))
        assert (again.outcome, again.detail) == ("already", "the run is cancelled")
        assert harness.row(run).stopped_by == "person"


@pytest.mark.parametrize("verb", [Verb.CANCEL_RUN, Verb.STOP])
async def test_a_run_whose_engine_was_killed_is_let_go_of_by_whoever_ends_it(
    harness: Harness, verb: Verb
) -> None:
    run = harness.create(suite("http://127.0.0.1:9/v1", 3))
    with writing(harness.path) as db:
        transact(db, lambda tx: lease.acquire(tx, run))
        transact(db, lambda tx: run_writes.begin(tx, run))
        db.execute("UPDATE runs SET state = 'running', lease_birth = -1")  # the id is another's
    assert harness.row(run).ended_at is None
    ask(harness.path, run, verb)
    row = harness.row(run)
    assert row.ended_at is not None
    assert (row.active_since, row.lease.pid) == (None, None)


async def test_resume_asks_errors_again_and_leaves_cancelled_alone(harness: Harness) -> None:
    broken = {"q1"}

    def script(call: Call) -> Reply | None:
        return refuse(400, "bad") if call.prompt in broken else None

    async with FakeModel(script=script) as server:
        run = await harness.run(suite(server.base_url, 4))
        assert harness.counts(run).error == 1
        broken.clear()
        await harness.again(run, Verb.RESUME)
        assert harness.counts(run).passed == 4
        assert server.requests == 5
        await harness.again(run, Verb.RESUME)
        assert server.requests == 5


async def test_a_trial_whose_scorer_cannot_be_rendered_costs_nothing_however_often_it_is_retried(
    harness: Harness,
) -> None:
    cases = [{"id": "a", "q": "x"}, {"id": "b", "q": "y", "want": "y"}]
    scorers = [{"kind": "exact", "expected": "{{ want }}"}]
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 0, cases=cases, scorers=scorers))
        assert harness.trial(run, "a").error_kind == "template"
        await harness.again(run, Verb.RESUME)
        await harness.again(run, Verb.RETRY, which="errors")
        assert server.counts == {"y": 1}
        assert harness.row(run).state is RunState.DONE
        repaired = suite(server.base_url, 0, scorers=[{"kind": "exact", "expected": "{{ q }}"}])
        specs = repaired.model_dump(mode="json")["scorers"]
        await harness.again(run, Verb.RESCORE, which="all", scorer_specs=specs)
        await harness.again(run, Verb.RESUME)
    assert harness.counts(run).passed == 2


async def test_cases_of_any_name_can_be_named(harness: Harness) -> None:
    cases = [{"id": "nul\x00", "q": "x"}, {"id": "ünï", "q": "y"}, {"id": "c", "q": "z"}]
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 0, cases=cases))
        await harness.again(run, Verb.RETRY, cases=["nul\x00", "ünï"], which="all")
    assert server.counts == {"x": 2, "y": 2, "z": 1}


async def test_a_rescore_while_the_run_goes_on_waits_for_no_call(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.15) as server,
        harness.working(suite(server.base_url, 400, run={"concurrency": 4})) as (run, engine),
    ):
        await until(lambda: harness.row(run).staged and harness.counts(run).done >= 30)
        asked = server.requests
        await harness.asked(run, Verb.RESCORE, which="all")
        await until(lambda: harness.counts(run).scoring == 0)
        assert server.requests - asked <= 24, "it was scored between a few calls"
        assert harness.counts(run).done >= 30
        engine.abort()


async def test_trials_that_alone_are_refused_fail_by_their_own_retries(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The endpoint answers others: it is not refusing everybody, even once only they are left."""
    monkeypatch.setattr("tui_eval.engine.limits.call_permit.LAST_ONES_S", 1.0)

    def script(call: Call) -> Reply | None:
        number = int(call.prompt[1:])
        return refuse(429, "rate_limit_exceeded", retry_after="0.1") if number % 10 == 0 else None

    async with FakeModel(script=script) as server:
        run = await harness.run(suite(server.base_url, 60, run={"retries": 2, "patience": 600}))
    counts = harness.counts(run)
    assert (counts.passed, counts.error) == (54, 6)
    assert harness.row(run).state is RunState.DONE


@pytest.mark.parametrize("verb", [Verb.RETRY, Verb.RESCORE])
async def test_a_request_whose_engine_died_goes_on_where_it_was(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, verb: Verb
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 3))
        ids = [trial.id for trial in harness.trials(run)]
        request = ask(harness.path, run, verb, {"trials": [*ids]})
        with monkeypatch.context() as patch:
            patch.setattr(verbs, "PORTION", 2)
            patch.setattr(verbs, "answer_for", lambda *_, **__: 1 / 0)
            with pytest.raises(ExceptionGroup):
                await Engine(harness.path, run).run()
        harness.write("UPDATE runs SET lease_pid = NULL, lease_beat = 0.0")
        # what it had moved has been settled again by then: neither is it asked a second time
        harness.write("UPDATE trials SET state = 'done', verdict = 'pass' WHERE id = ?", ids[0])
        await Engine(harness.path, run).run()
    answer = harness.request(request)
    assert (answer.outcome, answer.detail) == ("accepted", "3 trials")
    assert harness.counts(run).passed == 3
    assert server.counts["q0"] == 1
    assert server.counts["q2"] == (2 if verb is Verb.RETRY else 1)
    assert not harness.sql("SELECT * FROM meta WHERE name LIKE 'request %'")


async def test_a_resume_opens_trials_in_portions_and_goes_on_where_its_engine_died(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = refuse(400, "no")
    async with FakeModel(script=lambda _: refused) as server:
        run = await harness.run(suite(server.base_url, 5))
        assert harness.counts(run).error == 5
        server.script = None
        server.counts.clear()
        reopen, portions = verbs.reopen, list[int]()

        def dying(tx: Tx, trials: Sequence[int], request: int) -> None:
            if len(portions) == 1:
                raise ZeroDivisionError
            portions.append(len(trials))
            reopen(tx, trials, request)

        request = ask(harness.path, run, Verb.RESUME)
        with monkeypatch.context() as patch:
            patch.setattr(verbs, "PORTION", 2)
            patch.setattr(verbs, "reopen", dying)
            with pytest.raises(ExceptionGroup):
                await Engine(harness.path, run).run()
        assert portions == [2]
        assert harness.sql("SELECT count(*) FROM moves WHERE request = ?", request) == [(2,)]
        harness.write("UPDATE runs SET lease_pid = NULL, lease_beat = 0.0")
        # what it had opened has failed anew by then: it is not opened a second time
        again = harness.trial(run, "c0").id
        harness.write("UPDATE trials SET state = 'error', verdict = NULL WHERE id = ?", again)
        await Engine(harness.path, run).run()
    assert harness.request(request).outcome == "accepted"
    assert (harness.counts(run).passed, harness.counts(run).error) == (4, 1)
    assert all(server.counts[f"q{i}"] == 1 for i in range(1, 5))
    assert server.counts["q0"] <= 1  # by the engine that died, at most
    assert harness.sql("SELECT count(*) FROM moves WHERE request = ?", request) == [(5,)]
