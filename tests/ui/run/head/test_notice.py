"""What stands in the way of a run, told on its screen."""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tests.support import do, output, reading, writing
from tests.ui.playing import (
    app_on,
    first_snapshot,
    made_up,
    plain_run,
    shown_on,
    text,
    until_shown,
)
from tests.ui.run.making import said, with_run
from tui_eval.cli.running.reporter import OutputForm, Reporter
from tui_eval.engine.launch.create_run import create, log_file
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.engine.settings import Settings
from tui_eval.model.outputs.output import ExhaustedQuota, Failure
from tui_eval.model.runs import endpoint_event
from tui_eval.model.runs.endpoint_event import EndpointEvent, EndpointEventKind
from tui_eval.model.runs.endpoint_event import EndpointEventKind as K
from tui_eval.model.states import RunState
from tui_eval.store.follow import Pulse
from tui_eval.store.lease import Lease
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import RequestRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.ui.run.head.notice import awaits_cap
from tui_eval.ui.run.head.run_head import state_words


def test_a_run_that_no_engine_begins_says_so_after_a_while(store: Path) -> None:
    run = create(store, made_up(3), Settings())
    found = replace(first_snapshot(store, run), log=log_file(store, "sums-x"))
    born = found.run.created_at
    assert state_words(found, born + 1) == ("starting", "accent")
    assert said(found, born + 1) == ""
    assert state_words(found, born + 20) == ("not started", "error")
    told = said(found, born + 20)
    assert "No engine has begun this run for 0:20" in told
    assert "logs/sums-x.log" in told
    assert "u starts one" in told


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.PAUSED])
def test_a_run_whose_engine_died_is_interrupted(store: Path, state: RunState) -> None:
    made = plain_run(store, 2)
    dead = Lease("some host", 1, 1.0, 1.0)
    found = with_run(first_snapshot(store, made.run), state=state, lease=dead)
    found = replace(found, log=log_file(store, "x"))
    assert state_words(found, 1000.0) == ("interrupted", "error")
    assert "logs/x.log" in said(found, 1000.0)
    assert "u resumes" in said(found, 1000.0)


def test_the_reason_of_a_pause_is_told_with_what_to_do(store: Path) -> None:
    nobody = Lease(None, None, None, None)
    made = plain_run(store, 2)
    found = with_run(
        first_snapshot(store, made.run),
        state=RunState.PAUSED,
        reason="key refused",
        stopped_by="auth",
        lease=nobody,
    )
    assert state_words(found, 0.0)[0] == "paused"
    assert said(found, 0.0) == "Paused: key refused; u resumes it"
    at_cap = with_run(found, stopped_by="max_cost_usd")
    at_cap = replace(at_cap, caps=Caps(cost_usd=2.0), total=Counts(cost_usd=2.1))
    assert awaits_cap(at_cap.run)
    assert said(at_cap, 0.0) == "Paused at its cap: $2.10 of $2 is spent; u asks how to resume"
    assert not awaits_cap(with_run(at_cap, live=True).run)
    long = with_run(found, reason="refused: " + "L" * 100_000)
    assert said(long, 0.0).endswith("L…; u resumes it")
    left = with_run(found, stopped_by="bulk")
    assert said(left, 0.0).startswith("Sent in bulk, and left there: u takes what is done")


def test_an_interrupted_run_says_why_unless_a_person_did_it(store: Path) -> None:
    made = plain_run(store, 2)
    found = with_run(
        first_snapshot(store, made.run),
        state=RunState.INTERRUPTED,
        reason="its engine has ended (exit code 1)",
        stopped_by="engine",
    )
    assert "its engine has ended (exit code 1); u resumes it" in said(found, 0.0)
    assert said(with_run(found, stopped_by="person", reason="stopped"), 0.0) == ""


def test_a_request_that_no_engine_hears_is_told(store: Path) -> None:
    made = plain_run(store, 2)
    asked = RequestRow(1, "retry", {}, "process 1", 100.0, None, None, None)
    found = replace(first_snapshot(store, made.run), pending=(asked,))
    assert said(found, 101.0) == ""
    assert "retry was asked 0:30 ago and no engine has come" in said(found, 130.0)
    taken_back = replace(found, pending=(replace(asked, verb="uncancel"),))
    assert "undo was asked 0:30 ago" in said(taken_back, 130.0)


def test_an_engine_that_writes_nothing_is_told(store: Path) -> None:
    made = plain_run(store, 2)
    beating = Lease("here", 1, 1.0, 1000.0)
    found = with_run(
        first_snapshot(store, made.run), live=True, state=RunState.RUNNING, lease=beating
    )
    assert said(found, 1006.0) == ""
    assert "has written nothing for 0:20" in said(found, 1020.0)


def test_an_endpoint_that_refuses_everybody_is_in_the_head_until_it_answers(store: Path) -> None:
    made = plain_run(store, 2)

    def write(moves: Callable[[Limiter], None]) -> None:
        changes: list[LimitChange] = []
        limiter = Limiter("endpoint", 8, changes.append)
        moves(limiter)

        def unit(tx: Tx) -> None:
            for change in changes:
                run_writes.add_limit(tx, made.run, "endpoint", change.concurrency, change.event)

        with writing(store) as db:
            do(db, unit)

    refused = Failure("rate_limit", "too many", status=429)

    def refuse(limiter: Limiter) -> None:
        for second in range(4):
            limiter.heard(refused, float(second))
        limiter.set(3)  # what comes later does not hide it

    def refuse_and_answer(limiter: Limiter) -> None:
        refuse(limiter)
        limiter.heard(output(), 60.0)

    with writing(store) as db:
        do(db, lambda tx: run_writes.add_limit(tx, made.run, "endpoint", 8, endpoint_event.START))
    assert first_snapshot(store, made.run).left_alone == {}
    write(refuse)
    found = with_run(first_snapshot(store, made.run), live=True, state=RunState.RUNNING)
    since = found.left_alone["endpoint"].at
    assert "The endpoint has refused everything for 0:42" in said(found, since + 42)
    write(refuse_and_answer)
    assert first_snapshot(store, made.run).left_alone == {}
    last = replace(output(), exhausted=ExhaustedQuota("requests", 30.0))
    write(lambda limiter: limiter.heard(last, 90.0))
    found = with_run(first_snapshot(store, made.run), live=True, state=RunState.RUNNING)
    since = found.left_alone["endpoint"].at
    shown = said(found, since + 5)
    assert "The endpoint said 0:05 ago that nothing remains of its requests: paused for 30" in shown


@pytest.mark.parametrize("kind", [K.REFUSES_ALL, K.NOTHING_REMAINS])
@pytest.mark.parametrize("after", [K.ANSWERS_AGAIN, K.ANSWERED_OTHERS])
def test_app_command_line_and_events_say_the_same_of_an_endpoint(
    store: Path, kind: K, after: K, capsys: pytest.CaptureFixture[str]
) -> None:
    made = plain_run(store, 2)
    reporter = Reporter(OutputForm.EVENTS, store)

    def happens(of: EndpointEvent | None) -> str:
        """Let something become of the endpoint; return what the app says of it then."""
        with writing(store) as db:
            db.execute("UPDATE runs SET active_since = 0")
            if of is not None:
                do(db, lambda tx: run_writes.add_limit(tx, made.run, "endpoint", 8, of))
        with reading(store) as db:
            reporter.update(reporter.look(db, made.run, Pulse(0, 0)))
        found = with_run(first_snapshot(store, made.run), live=True, state=RunState.RUNNING)
        return said(found, 0.0)

    happens(None)
    capsys.readouterr()
    events = EndpointEvent(kind, seconds=30.0, what="tokens"), EndpointEvent(after, seconds=30.0)
    shown = [happens(event) for event in events]
    told = capsys.readouterr()
    assert [line for line in told.err.splitlines() if line.startswith("endpoint:")] == [
        f"endpoint: {event.words}" for event in events
    ]
    lines = [json.loads(line) for line in told.out.splitlines()]
    of_limits = [line for line in lines if line["event"] == "limit"]
    assert [(line["kind"], line["reason"]) for line in of_limits] == [
        (event.kind, event.words) for event in events
    ]
    assert events[0].words.rpartition(": ")[2] in shown[0]
    assert "endpoint" not in shown[1]


async def test_a_log_is_named_where_there_is_one(store: Path) -> None:
    made = plain_run(store, 2)
    sql_of = sqlite3.connect(store)
    with sql_of:
        sql_of.execute("UPDATE runs SET state = 'running', lease_pid = 1, lease_birth = -1000")
        (name,) = sql_of.execute("SELECT name FROM runs WHERE id = ?", (made.run,)).fetchone()
    sql_of.close()
    for there in (False, True):
        if there:
            log_file(store, name).parent.mkdir()
            log_file(store, name).touch()
        app = app_on(store, run="last")
        async with shown_on(app, (120, 30)) as pilot:
            await until_shown(pilot, "Its engine died.")
            assert ("Its log:" in text(app)) is there


def test_workers_are_told_of_until_all_are_ready(store: Path) -> None:
    made = plain_run(store, 2)

    def write(ready: int, event: EndpointEvent) -> str:
        with writing(store) as db:
            change = partial(run_writes.add_limit, run=made.run, endpoint=endpoint_event.EXECUTOR)
            do(db, lambda tx: change(tx, concurrency=ready, event=event))
        return said(with_run(first_snapshot(store, made.run), live=True), 0.0)

    assert "Workers: being placed on nodes" in write(0, endpoint_event.PLACING)
    assert "Workers" not in write(1, EndpointEvent(K.PLACED, what="box"))
    lost = write(0, EndpointEvent(K.WORKER_LOST, what="box (its node has ended)"))
    assert "Workers: lost: box (its node has ended); 0 ready" in lost


def test_a_trial_that_runs_alone_is_told_until_something_else_is(store: Path) -> None:
    made = plain_run(store, 2)
    alone = EndpointEvent(EndpointEventKind.ALONE, what="1 GB of memory available, 64 GB each")

    def write(event: EndpointEvent) -> str:
        with writing(store) as db:
            do(db, lambda tx: run_writes.add_limit(tx, made.run, "endpoint", 1, event))
        return said(with_run(first_snapshot(store, made.run), live=True), 0.0)

    assert "runs alone, as there is no room for it: 1 GB" in write(alone)
    assert "alone" not in write(endpoint_event.BY_HAND)
