"""A run from its first trial to its last, under a good server and bad ones."""

import asyncio
import json
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel, Mix, Reply, always, first_attempts, once, refuse
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine, RunBusyError
from tui_eval.engine.settings import Settings
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.providers.local_model.server import LocalServer
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import LeaseLostError
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.suites.loading.errors import SuiteError


async def test_every_case_is_asked_once_and_results_stand_in_dataset_order(
    harness: Harness,
) -> None:
    async with FakeModel(latency=0.02) as server:
        run = await harness.run(suite(server.base_url, 50))
    trials = harness.trials(run)
    assert [trial.case_id for trial in trials] == [f"c{i}" for i in range(50)]
    assert {trial.verdict for trial in trials} == {Verdict.PASS}
    assert set(server.counts.values()) == {1}
    assert harness.row(run).state is RunState.DONE
    assert server.in_flight_max == 10


async def test_a_wrong_answer_fails_with_expected_against_got(harness: Harness) -> None:
    async with FakeModel(answers={"q0": "no"}) as server:
        run = await harness.run(suite(server.base_url, 1))
    trial = harness.trial(run, "c0")
    assert trial.verdict is Verdict.FAIL
    db = open_readable(harness.path)
    assert "no" in trial_rows.reasons(db, [trial.id])[trial.id]
    db.close()


async def test_passing_faults_cost_further_requests_and_no_result(harness: Harness) -> None:
    """The mix: 20 × 429, 10 × 500, 4 cut, 2 hanging, 4 invalid: 200 right, 40 asked again.

    On a busy machine other calls than the two that hang may take longer than they may.
    """
    faults = tuple(
        (
            refuse(429, "rate_limit_exceeded", retry_after="0.05")
            if reply.status == 429
            else reply,
            n,
        )
        for reply, n in Mix.FAULTS
    )
    async with FakeModel(script=Mix(seed=7, faults=faults), latency=0.005) as server:
        run = await harness.run(suite(server.base_url, 200, run={"timeout": 3.0}))
    counts = harness.counts(run)
    assert (counts.passed, counts.error) == (200, 0)
    ((timeouts,),) = harness.sql("SELECT count(*) FROM attempts WHERE error_kind = 'timeout'")
    assert timeouts >= 2
    assert counts.retries - timeouts == 38
    assert 240 <= server.requests <= 200 + counts.retries
    waited = harness.sql(
        "SELECT wait_s FROM attempts WHERE number = 2 AND trial IN "
        "(SELECT trial FROM attempts WHERE status = 429)"
    )
    assert len(waited) == 20
    assert {row[0] for row in waited} == {0.05}


async def test_lasting_faults_end_as_errors_with_their_reasons(harness: Harness) -> None:
    faults = ((refuse(500, "server_error"), 3), (Reply("hang"), 1), (Reply("invalid_json"), 2))
    script = Mix(seed=3, of=20, lasting=True, faults=faults)
    async with FakeModel(script=script) as server:
        settings = {"timeout": 0.3, "retries": 1}
        run = await harness.run(suite(server.base_url, 20, run=settings))
    kinds = sorted(t.error_kind or "" for t in harness.trials(run) if t.state is TrialState.ERROR)
    assert kinds == ["bad_answer", "bad_answer"] + ["server_error"] * 3 + ["timeout"]
    assert harness.counts(run).passed == 14
    assert server.requests == 14 + 2 * 6


@pytest.mark.parametrize(
    ("kind", "state", "verdict", "word"),
    [
        ("null_text", TrialState.ERROR, None, "empty"),
        ("length", TrialState.DONE, Verdict.UNGRADED, "truncated"),
        ("content_filter", TrialState.DONE, Verdict.UNGRADED, "filter"),
        ("error_in_200", TrialState.ERROR, None, ""),
        ("no_choices", TrialState.ERROR, None, ""),
    ],
)
async def test_an_output_that_is_no_answer_is_never_graded_as_wrong(
    harness: Harness, kind: str, state: TrialState, verdict: Verdict | None, word: str
) -> None:
    async with FakeModel(script=always(Reply(kind))) as server:
        run = await harness.run(suite(server.base_url, 1, run={"retries": 0}))
    trial = harness.trial(run, "c0")
    assert (trial.state, trial.verdict) == (state, verdict)
    db = open_readable(harness.path)
    said = trial.error_message or trial_rows.reasons(db, [trial.id])[trial.id]
    db.close()
    assert word in said


def ended_with(finish: Json, text: str = "q0") -> Reply:
    """Make a right answer that ended for this reason."""
    choice: JsonObject = {"message": {"content": text}, "finish_reason": finish}
    return Reply("status", status=200, body=json.dumps({"choices": [choice]}))


@pytest.mark.parametrize("finish", ["error", "ABORT", "insufficient_system_resource", "timeout"])
async def test_an_answer_that_was_broken_off_is_asked_for_again(
    harness: Harness, finish: str
) -> None:
    async with FakeModel(script=first_attempts(ended_with(finish, "half"))) as server:
        run = await harness.run(suite(server.base_url, 1))
        assert (harness.counts(run).passed, server.requests) == (1, 2)
    async with FakeModel(script=always(ended_with(finish))) as server:
        run = await harness.run(suite(server.base_url, 1, run={"retries": 1}))
        trial = harness.trial(run, "c0")
        assert (trial.state, trial.error_kind, server.requests) == ("error", "bad_answer", 2)


@pytest.mark.parametrize("finish", ["RECITATION", "no such reason", 5])
async def test_an_unknown_finish_reason_is_ungraded_and_used_by_no_other_run(
    harness: Harness, finish: Json
) -> None:
    async with FakeModel(script=once(ended_with(finish))) as server:
        first = await harness.run(suite(server.base_url, 1))
        trial = harness.trial(first, "c0")
        assert (trial.state, trial.verdict) == (TrialState.DONE, Verdict.UNGRADED)
        second = await harness.run(suite(server.base_url, 1))
        assert (harness.counts(second).passed, server.requests) == (1, 2)
        third = await harness.run(suite(server.base_url, 1))
        assert (harness.counts(third).passed, server.requests) == (1, 2)


@pytest.mark.parametrize("finish", ["LENGTH", "CONTENT_FILTER", "STOP"])
async def test_a_known_finish_reason_in_any_spelling_is_used_again(
    harness: Harness, finish: str
) -> None:
    async with FakeModel(script=always(ended_with(finish))) as server:
        for _ in range(2):
            run = await harness.run(suite(server.base_url, 1))
            verdict = Verdict.PASS if finish == "STOP" else Verdict.UNGRADED
            assert harness.trial(run, "c0").verdict is verdict
        assert server.requests == 1


async def test_a_refused_key_stops_the_run_after_the_calls_in_flight(harness: Harness) -> None:
    async with FakeModel(api_key="right", latency=0.02) as server:
        run = await harness.run(suite(server.base_url, 200))
    row = harness.row(run)
    assert (row.state, row.stopped_by) == (RunState.PAUSED, "auth")
    assert server.requests <= 10
    counts = harness.counts(run)
    assert counts.error == server.requests
    assert counts.queued == 200 - server.requests


async def test_a_run_that_was_stopped_early_can_be_resumed(harness: Harness) -> None:
    async with FakeModel(api_key="right") as server:
        run = await harness.run(suite(server.base_url, 30))
        server.api_key = None
        answer = await harness.again(run, Verb.RESUME)
    assert answer.outcome == "accepted"
    assert harness.counts(run).passed == 30
    assert harness.row(run).state is RunState.DONE


async def test_a_second_run_of_an_unchanged_suite_asks_nobody(harness: Harness) -> None:
    async with FakeModel() as server:
        await harness.run(suite(server.base_url, 40))
        second = await harness.run(suite(server.base_url, 40))
        assert server.requests == 40
        fresh = await harness.run(suite(server.base_url, 40), Settings(fresh=True))
        assert server.requests == 80
    assert harness.counts(second).cached == 40
    assert harness.counts(second).attempts == 0
    assert harness.counts(fresh).cached == 0


async def test_only_what_changed_is_asked_again(harness: Harness) -> None:
    async with FakeModel() as server:
        first = suite(server.base_url, 20)
        await harness.run(first)
        edited = [dict(case) for case in first.cases]
        edited[3]["q"] = "something else"
        await harness.run(first.model_copy(update={"cases": tuple(reversed(edited))}))
        assert server.requests == 21
        scorer = [{"kind": "includes", "expected": "{{ q }}"}]
        await harness.run(suite(server.base_url, 20, scorers=scorer))
        assert server.requests == 21
        target = {
            "kind": "model",
            "name": "fake",
            "base_url": server.base_url,
            "model": "fake-model",
        }
        hotter = [{**target, "params": {"temperature": 1}}]
        await harness.run(suite(server.base_url, 20, targets=hotter))
        assert server.requests == 41


async def test_equal_prompts_and_epochs_stay_independent(harness: Harness) -> None:
    async with FakeModel() as server:
        same = [{"id": "a", "q": "x"}, {"id": "b", "q": "x"}]
        await harness.run(suite(server.base_url, 0, cases=same, run={"epochs": 3}))
        assert server.counts == {"x": 6}
        await harness.run(suite(server.base_url, 0, cases=same, run={"epochs": 4}))
        assert server.counts == {"x": 8}


async def test_a_template_mistake_is_an_error_of_its_case_alone(harness: Harness) -> None:
    cases = [{"id": "a", "q": "x"}, {"id": "b", "other": "y"}]
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 0, cases=cases))
    assert harness.trial(run, "a").verdict is Verdict.PASS
    assert harness.trial(run, "b").error_kind == "template"
    assert server.requests == 1


async def test_two_cases_of_one_id_start_nothing(harness: Harness) -> None:
    cases = [{"id": "a", "q": "x"}, {"id": "a", "q": "y"}]
    async with FakeModel() as server:
        with pytest.raises(SuiteError, match="a"):
            await harness.run(suite(server.base_url, 0, cases=cases))
    assert server.requests == 0


async def test_a_second_engine_is_refused(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.3) as server,
        harness.working(suite(server.base_url, 5)) as (run, _),
    ):
        await until(lambda: server.requests == 5)
        with pytest.raises(RunBusyError):
            await Engine(harness.path, run).run()
    assert harness.counts(run).passed == 5


async def test_stopping_gives_what_is_in_flight_its_grace_and_leaves_the_rest(
    harness: Harness,
) -> None:
    async with FakeModel(latency=0.2) as server:
        async with harness.working(suite(server.base_url, 40)) as (run, engine):
            await until(lambda: server.requests >= 10)
            engine.stop()
        assert harness.row(run).state is RunState.INTERRUPTED
        counts = harness.counts(run)
        assert counts.passed == server.requests
        assert counts.queued == 40 - server.requests
        await harness.again(run, Verb.RESUME)
        assert harness.counts(run).passed == 40
        assert set(server.counts.values()) == {1}


async def test_aborting_drops_the_calls_and_puts_their_trials_back(harness: Harness) -> None:
    async with FakeModel(script=always(Reply("hang"))) as server:
        async with harness.working(suite(server.base_url, 40)) as (run, engine):
            await until(lambda: server.requests >= 10)
            engine.abort()
        assert harness.row(run).state is RunState.INTERRUPTED
        assert harness.counts(run).queued == 40
        await until(lambda: server.dropped == 10)


async def test_aborting_ends_the_loading_of_a_model_at_once(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    deaf = tmp_path / "deaf"  # as native code that loads: nobody hears that the engine wants to go
    deaf.write_text(f"#!/bin/sh\ntouch {tmp_path / 'loading'}\ntrap '' TERM\nexec sleep 60\n")
    deaf.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(deaf))
    monkeypatch.setattr(LocalServer, "check", lambda self: tmp_path / "m.gguf")
    local = {"provider": "local", "model": str(tmp_path / "m.gguf"), "name": "fake"}
    run = harness.create(suite("", 3, targets=[local], run={"concurrency": 2}))
    engine = Engine(harness.path, run)
    working = asyncio.create_task(engine.run())
    await until(lambda: (tmp_path / "loading").exists())
    engine.stop()
    await asyncio.sleep(0.2)
    assert not working.done()
    engine.abort()
    await asyncio.wait_for(working, 30)  # half of what the loading would take
    assert harness.row(run).state is RunState.INTERRUPTED
    assert harness.counts(run).queued == 3


async def test_times_of_queue_wait_and_call_are_kept_apart(harness: Harness) -> None:
    script = first_attempts(refuse(503))
    async with FakeModel(script=script, latency=0.05) as server:
        run = await harness.run(suite(server.base_url, 1))
    rows = harness.sql("SELECT state, queue_s, wait_s, call_s FROM attempts ORDER BY number")
    assert [row[0] for row in rows] == ["failed", "answered"]
    assert rows[0][2] is None
    assert rows[1][2] is not None
    assert all(row[3] >= 0.05 for row in rows)
    assert (harness.trial(run, "c0").latency_s or 0) <= rows[1][3]


async def test_a_refused_connection_that_never_worked_stops_the_run_with_advice(
    harness: Harness,
) -> None:
    async with FakeModel() as server:
        pass
    run = await harness.run(suite(server.base_url, 30, run={"retries": 0}))
    row = harness.row(run)
    assert row.state is RunState.PAUSED
    assert "is the server running" in (row.reason or "")
    assert harness.counts(run).queued >= 20


async def test_an_address_where_nobody_is_costs_no_more_trials_than_were_in_flight(
    harness: Harness,
) -> None:
    async with FakeModel() as server:
        pass
    run = await harness.run(suite(server.base_url, 60, run={"retries": 2, "concurrency": 4}))
    assert harness.row(run).state is RunState.PAUSED
    [(tried, attempts)] = harness.sql("SELECT count(DISTINCT trial), count(*) FROM attempts")
    assert tried == 4
    assert attempts <= 4 * 3


async def test_many_columns_of_one_endpoint_share_its_limit(harness: Harness) -> None:
    async with FakeModel(latency=0.01) as server:
        target = {"kind": "model", "base_url": server.base_url, "model": "m"}
        targets = [{**target, "name": "a"}, {**target, "name": "b", "params": {"top_p": 0.5}}]
        run = await harness.run(suite(server.base_url, 20, targets=targets, run={"concurrency": 4}))
    assert server.in_flight_max == 4
    assert [trial.column for trial in harness.trials(run)[:4]] == ["a", "b", "a", "b"]
    assert harness.counts(run).passed == 40


async def test_nothing_is_left_behind(harness: Harness) -> None:
    async with FakeModel() as server:
        await harness.run(suite(server.base_url, 20))
        await until(lambda: server.connections_open == 0)
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not others


async def test_a_run_that_chooses_no_case_starts_nothing(harness: Harness) -> None:
    with pytest.raises(SuiteError, match="no case is left"):
        await harness.run(suite("http://127.0.0.1:9/v1", 3), Settings(cases=("nobody",)))


async def test_a_run_whose_every_case_is_broken_is_done_and_says_so(harness: Harness) -> None:
    cases = [{"id": "b", "other": "y"}]
    run = await harness.run(suite("http://127.0.0.1:9/v1", 0, cases=cases))
    assert harness.row(run).state is RunState.DONE
    assert harness.counts(run).error == 1


async def test_an_engine_that_lost_its_lease_writes_nothing_more_and_says_so(
    harness: Harness,
) -> None:
    async with FakeModel(latency=0.1) as server:
        run = harness.create(suite(server.base_url, 40))
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: server.requests >= 10)
        db = sqlite3.connect(harness.path, isolation_level=None)
        db.execute("UPDATE runs SET lease_number = lease_number + 1")
        db.close()
        with pytest.raises(LeaseLostError, match="another engine"):
            await asyncio.wait_for(task, 30)
        before = harness.counts(run)
        await asyncio.sleep(0.2)
        assert harness.counts(run) == before


async def test_the_newest_answer_is_used_again_after_a_fresh_run(harness: Harness) -> None:
    async with FakeModel(answers={"q0": "old"}) as server:
        await harness.run(suite(server.base_url, 1))
        server.answers = {"q0": "q0"}
        await harness.run(suite(server.base_url, 1), Settings(fresh=True))
        third = await harness.run(suite(server.base_url, 1))
    assert harness.counts(third).cached == 1
    assert harness.trial(third, "c0").verdict is Verdict.PASS


async def test_only_what_failed_last_is_found_behind_a_run_that_came_to_nothing(
    harness: Harness,
) -> None:
    async with FakeModel(answers={"q1": "no", "q0": "q0", "q2": "q2"}) as server:
        await harness.run(suite(server.base_url, 3))
        nothing = harness.create(suite(server.base_url, 3), Settings(fresh=True))
        ask(harness.path, nothing, Verb.CANCEL_RUN)
        run = await harness.run(suite(server.base_url, 3), Settings(only="failed"))
    assert [trial.case_id for trial in harness.trials(run)] == ["c1"]


async def test_a_settled_store_is_one_file(harness: Harness) -> None:
    reader_that_stays = None
    async with FakeModel() as server:
        run = harness.create(suite(server.base_url, 5))
        reader_that_stays = open_readable(harness.path)
        await Engine(harness.path, run).run()
        reader_that_stays.close()
    copy = harness.path.with_name("copy.sqlite3")
    copy.write_bytes(harness.path.read_bytes())
    assert Harness(copy).counts(run).passed == 5


@pytest.mark.parametrize(
    "count", ["-1", "9223372036854775808", "1e30", "1.5", '"12"', "[3]", "null"]
)
async def test_counts_of_tokens_that_make_no_sense_are_unknown_and_break_nothing(
    harness: Harness, count: str
) -> None:
    body = (
        '{"choices": [{"message": {"content": "q0"}, "finish_reason": "stop"}], "usage": '
        f'{{"prompt_tokens": {count}, "completion_tokens": {count}, "total_tokens": {count}, '
        f'"prompt_tokens_details": {{"cached_tokens": {count}}}}}}}'
    )
    async with FakeModel(script=always(Reply("status", status=200, body=body))) as server:
        target = {"base_url": server.base_url, "model": "m", "tpm": 1000}
        caps = {"max_tokens": 10_000}
        run = await harness.run(suite(server.base_url, 1, targets=[target], run=caps))
    counts = harness.counts(run)
    assert (counts.passed, counts.input_tokens, counts.output_tokens) == (1, 0, 0)
    assert harness.sql("SELECT input_tokens, output_tokens FROM attempts") == [(None, None)]
    assert harness.sql("SELECT input_tokens, cached_tokens FROM outputs") == [(None, None)]
