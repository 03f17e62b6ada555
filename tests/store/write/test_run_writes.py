"""Runs: made, staged, taken back, moved, timed, recovered, forgotten."""

import itertools
import re
import sqlite3

import pytest

from tests.store.recounting import recount
from tests.support import case, column, do, key, new_run, output, score, stage, staged
from tui_eval.model.outputs.output import Failure
from tui_eval.model.runs import endpoint_event
from tui_eval.model.score import tally
from tui_eval.model.states import RUN_MOVES, RunState, TrialState
from tui_eval.store import clock as moments
from tui_eval.store import lease, requests
from tui_eval.store.read import (
    many_rows,
    run_counts,
    run_queries,
    suite_queries,
)
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    attempt_writes,
    output_writes,
    run_writes,
    score_writes,
    trial_moves,
    trial_verbs,
)
from tui_eval.store.write.people import notes
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.store.writer import transact


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> "Clock":
    return Clock(monkeypatch)


class Clock:
    """What transactions see: the machine's clock, and seconds that nobody can set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.elapsed = 50.0
        monkeypatch.setattr(moments.PROCESS, "now", lambda: self.now)
        monkeypatch.setattr(moments, "elapsed", lambda: self.elapsed)
        monkeypatch.setattr("tui_eval.store.lease.time.time", lambda: self.now)

    def go_on(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.elapsed += seconds


def named(db: sqlite3.Connection, suite: str) -> str:
    return run_queries.run(db, new_run(db, suite)).name


def dead(db: sqlite3.Connection, run: int) -> None:
    """Let the engine of a run die without a word."""
    db.execute("UPDATE runs SET lease_pid = 1, lease_birth = -1000 WHERE id = ?", (run,))


@pytest.mark.parametrize(
    ("suite", "name"),
    [
        ("capitals", r"capitals-[a-z2-9]{4}"),
        ("My suite: v1.2", r"My-suite--v1\.2-[a-z2-9]{4}"),
        ("../../etc/passwd", r"etc-passwd-[a-z2-9]{4}"),
        ("größe", r"gr--e-[a-z2-9]{4}"),
        ("日本", r"run-[a-z2-9]{4}"),
        (".hidden", r"hidden-[a-z2-9]{4}"),
        ("x" * 5000, r"x{60}-[a-z2-9]{4}"),
    ],
)
def test_a_run_is_named_so_that_it_can_be_typed_and_be_a_file(
    db: sqlite3.Connection, suite: str, name: str
) -> None:
    assert re.fullmatch(name, named(db, suite))


def test_a_name_that_is_taken_is_not_given_again(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    letters = itertools.chain("aaaa", "aaaa", "bbbb")
    monkeypatch.setattr("tui_eval.store.write.run_writes.secrets.choice", lambda _: next(letters))
    assert [named(db, "s"), named(db, "s")] == ["s-aaaa", "s-bbbb"]


def test_a_new_run_is_pending_and_has_nothing(db: sqlite3.Connection) -> None:
    row = run_queries.run(db, new_run(db))
    assert (row.state, row.staged, row.total, row.partial) == (RunState.PENDING, False, 0, False)
    assert (row.started_at, row.ended_at, row.wall_s, row.live) == (None, None, 0.0, False)


def test_columns_replace_those_there_were(db: sqlite3.Connection) -> None:
    run = new_run(db, columns=3)
    do(db, lambda tx: run_writes.add_columns(tx, run, [column(0)]))
    assert run_queries.columns(db, run) == [column(0)]


def test_two_cases_of_one_id_are_refused(db: sqlite3.Connection) -> None:
    run = new_run(db)
    with pytest.raises(sqlite3.IntegrityError):
        do(db, lambda tx: run_writes.add_cases(tx, run, [case(0, "a"), case(1, "a")]))
    assert db.execute("SELECT count(*) FROM cases").fetchone() == (0,)


@pytest.mark.parametrize("many", [0, 1, 49, 50, 51, 130])
def test_rows_are_added_in_their_order_however_many_there_are(
    db: sqlite3.Connection, many: int
) -> None:
    db.execute("CREATE TABLE found (id INTEGER PRIMARY KEY, a TEXT, b INTEGER DEFAULT 7, c BLOB)")
    rows = [(f"{n}", bytes([n])) for n in range(many)]
    many_rows.insert(db, "found", ("a", "c"), (row for row in rows))
    assert db.execute("SELECT * FROM found ORDER BY id").fetchall() == [
        (n + 1, a, 7, c) for n, (a, c) in enumerate(rows)
    ]


def test_trials_start_where_staging_found_them(db: sqlite3.Connection) -> None:
    shared = do(db, lambda tx: output_writes.add_output(tx, key(1), output()))
    found = stage(
        db,
        new_run(db),
        [
            NewTrial(0, 0, 0, 0, key(0)),
            NewTrial(1, 1, 0, 0, key(1), output=shared, latency_s=0.5),
            NewTrial(2, 2, 0, 0, None, failure=Failure("template", "no field `q`")),
        ],
        cases=3,
    )
    queued, cached, broken = trial_rows.trials_from(db, found.run, 0, 3)
    assert (queued.state, queued.cached, queued.output) == (TrialState.QUEUED, False, None)
    assert (cached.state, cached.cached, cached.output) == (TrialState.SCORING, True, shared)
    assert (cached.latency_s, cached.cost_usd, cached.attempts) == (0.5, 0.0, 0)
    assert (broken.state, broken.error_kind) == (TrialState.ERROR, "template")
    assert broken.error_message == "no field `q`"
    row = run_queries.run(db, found.run)
    assert (row.staged, row.total) == (True, 3)
    recount(db)


def test_a_staging_that_did_not_end_is_taken_back_and_done_again(db: sqlite3.Connection) -> None:
    other = staged(db, 2)
    run = new_run(db)
    do(db, lambda tx: run_writes.add_cases(tx, run, [case(0)]))
    do(db, lambda tx: run_writes.add_trials(tx, run, [NewTrial(0, 0, 0, 0, key(0))]))
    do(db, lambda tx: run_writes.unstage(tx, run))
    assert not trial_rows.trials_from(db, run, 0, 10)
    stage(db, run, [NewTrial(0, 0, 0, 0, key(0))], cases=1)
    assert run_queries.run(db, run).total == 1
    assert run_queries.run(db, other.run).total == 2
    recount(db)


def test_a_run_moves_as_the_table_says_and_no_other_way(db: sqlite3.Connection) -> None:
    for source, to in itertools.product(RunState, RunState):
        run = new_run(db)
        db.execute("UPDATE runs SET state = ? WHERE id = ?", (source, run))
        moved = do(db, lambda tx, run=run, to=to: run_writes.move(tx, run, to, reason="because"))  # type: ignore[misc]
        row = run_queries.run(db, run)
        if to is source or to in RUN_MOVES[source]:
            assert (moved, row.state, row.reason) == (True, to, "because")
        else:
            assert (moved, row.state, row.reason) == (False, source, None)


def test_a_run_that_is_not_there_does_not_move(db: sqlite3.Connection) -> None:
    assert not do(db, lambda tx: run_writes.move(tx, 99, RunState.RUNNING))


def test_a_reason_ends_with_the_state_it_was_for(db: sqlite3.Connection) -> None:
    run = staged(db).run
    do(
        db,
        lambda tx: run_writes.move(tx, run, RunState.PAUSED, reason="no room", stopped_by="disk"),
    )
    assert (run_queries.run(db, run).reason, run_queries.run(db, run).stopped_by) == (
        "no room",
        "disk",
    )
    do(db, lambda tx: run_writes.move(tx, run, RunState.RUNNING))
    assert (run_queries.run(db, run).reason, run_queries.run(db, run).stopped_by) == (None, None)


def test_wall_time_is_the_sum_of_what_engines_worked(db: sqlite3.Connection, clock: Clock) -> None:
    run = staged(db).run

    def work(seconds: float) -> None:
        do(db, lambda tx: run_writes.begin(tx, run))
        clock.go_on(seconds)
        do(db, lambda tx: run_writes.end(tx, run))

    work(10)
    clock.go_on(500)
    work(5)
    row = run_queries.run(db, run)
    assert (row.wall_s, row.started_at, row.ended_at) == (15.0, 1000.0, 1515.0)
    assert row.wall(9999) == 15.0


def test_wall_time_of_a_live_engine_goes_on(db: sqlite3.Connection, clock: Clock) -> None:
    run = staged(db).run
    assert do(db, lambda tx: lease.acquire(tx, run)) is not None
    do(db, lambda tx: run_writes.begin(tx, run))
    assert run_queries.run(db, run).wall(1000.5) == 0.5
    assert run_queries.run(db, run).ended_at is None
    clock.go_on(7)
    do(db, lambda tx: lease.beat(tx, run))
    assert run_queries.run(db, run).wall(1007.5) == 7.5
    assert 7.0 <= run_queries.run(db, run).wall(99_999.0) <= 7.0 + 2 * lease.BEAT_S, (
        "whoever looks may have set its clock"
    )
    assert run_queries.run(db, run).wall(0.0) == 7.0


def test_wall_time_of_an_engine_that_died_ends_with_its_last_beat(
    db: sqlite3.Connection, clock: Clock
) -> None:
    run = staged(db).run
    assert do(db, lambda tx: lease.acquire(tx, run)) is not None
    do(db, lambda tx: run_writes.begin(tx, run))
    clock.go_on(10)
    do(db, lambda tx: lease.beat(tx, run))
    assert run_queries.run(db, run).wall(1010.5) == 10.5
    dead(db, run)
    assert run_queries.run(db, run).wall(9999.0) == 10.0


def test_what_an_engine_did_after_its_last_heartbeat_counts_as_its_time(
    db: sqlite3.Connection, clock: Clock
) -> None:
    made = staged(db)
    assert do(db, lambda tx: lease.acquire(tx, made.run)) is not None
    do(db, lambda tx: run_writes.begin(tx, made.run))
    clock.go_on(10)
    do(db, lambda tx: lease.beat(tx, made.run))
    clock.go_on(3)
    do(
        db,
        lambda tx: attempt_writes.start_attempt(tx, made.trials[0], queue_s=None, wait_s=None),
    )
    dead(db, made.run)
    clock.go_on(10_000)
    do(db, lambda tx: notes.write(tx, {made.trials[1]: "looked at"}))
    do(db, lambda tx: run_writes.recover(tx, made.run))
    assert run_queries.run(db, made.run).wall_s == 13.0
    do(db, lambda tx: run_writes.recover(tx, made.run))
    assert run_queries.run(db, made.run).wall_s == 13.0, "once"


@pytest.mark.parametrize("set_by", [-3600, 3600])
def test_a_clock_that_is_set_takes_no_time_away_and_adds_none(
    db: sqlite3.Connection, clock: Clock, set_by: float
) -> None:
    run = staged(db).run
    assert do(db, lambda tx: lease.acquire(tx, run)) is not None
    do(db, lambda tx: run_writes.begin(tx, run))
    clock.go_on(4)
    clock.now += set_by
    do(db, lambda tx: lease.beat(tx, run))
    assert run_queries.run(db, run).wall(clock.now) == 4.0
    clock.go_on(6)
    do(db, lambda tx: run_writes.end(tx, run))
    assert run_queries.run(db, run).wall_s == 10.0


@pytest.mark.parametrize("taken_over", [True, False])
def test_the_time_of_a_dead_engine_ends_with_its_last_heartbeat(
    db: sqlite3.Connection, clock: Clock, taken_over: bool
) -> None:
    run = staged(db).run

    def take(tx: Tx) -> None:
        assert lease.acquire(tx, run) is not None
        run_writes.recover(tx, run)
        run_writes.begin(tx, run)

    do(db, take)
    clock.go_on(60)
    do(db, lambda tx: lease.beat(tx, run))
    dead(db, run)
    clock.go_on(10_000)
    if taken_over:
        do(db, take)
        clock.go_on(5)
        do(db, lambda tx: run_writes.end(tx, run))
        assert run_queries.run(db, run).wall_s == 65.0
    else:  # an asker settles a request by itself
        do(db, lambda tx: run_writes.recover(tx, run))
        do(db, lambda tx: run_writes.recover(tx, run))
        assert run_queries.run(db, run).wall_s == 60.0


def test_what_was_in_flight_at_a_crash_is_lost_and_waits_again(db: sqlite3.Connection) -> None:
    made = staged(db, 5)
    other = staged(db, 1)
    running, answered, cancelled, again, _ = made.trials

    def before(tx: Tx) -> None:
        for trial in (running, answered, cancelled, again, other.trials[0]):
            attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
        trial_moves.wait(tx, running, "429", 5.0)
        attempt_writes.answer(tx, 2, answered, key(0), output(), 1.0)
        trial_verbs.cancel(tx, cancelled)
        trial_verbs.cancel(tx, again)
        trial_verbs.retry(tx, again)

    do(db, before)
    assert do(db, lambda tx: run_writes.recover(tx, made.run)) == 1
    states = [row.state for row in trial_rows.trials_from(db, made.run, 0, 5)]
    assert states == ["queued", "scoring", "cancelled", "queued", "queued"]
    assert trial_rows.trials_from(db, made.run, 0, 1)[0].waiting is None
    attempts = [trial_rows.attempts(db, trial)[0].state for trial in made.trials[:4]]
    assert attempts == ["lost", "answered", "lost", "lost"]
    assert trial_rows.attempts(db, other.trials[0])[0].state == "sent"
    recount(db)


def test_recovering_twice_changes_nothing(db: sqlite3.Connection) -> None:
    made = staged(db, 2)
    do(db, lambda tx: attempt_writes.start_attempt(tx, made.trials[0], queue_s=None, wait_s=None))
    assert do(db, lambda tx: run_writes.recover(tx, made.run)) == 1
    before = trial_rows.trials_from(db, made.run, 0, 2)
    assert do(db, lambda tx: run_writes.recover(tx, made.run)) == 0
    assert trial_rows.trials_from(db, made.run, 0, 2) == before


def test_totals_after_a_crash_are_sums_over_attempts(db: sqlite3.Connection) -> None:
    made = staged(db, 1)
    (trial,) = made.trials

    def live(tx: Tx) -> None:
        attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
        assert attempt is not None
        attempt_writes.answer(tx, attempt, trial, key(0), output(cost=0.5), 1.0)
        score_writes.add_scores(tx, trial, [score()], fresh=False)
        trial_moves.settle(tx, trial, tally([score()]))

    do(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None))
    do(db, lambda tx: run_writes.recover(tx, made.run))
    do(db, live)
    do(db, lambda tx: trial_verbs.retry(tx, trial))
    do(db, live)
    counts, _ = run_counts.board(db, made.run)
    assert (counts.attempts, counts.retries, counts.lost) == (2, 1, 1)
    assert (counts.cost_usd, counts.known_usd) == (None, 1.0), "what the lost call cost is unknown"
    sums = db.execute("SELECT sum(cost_usd), sum(input_tokens) FROM attempts").fetchone()
    assert sums == (counts.known_usd, counts.input_tokens)


def test_limits_are_kept_with_their_reasons_and_the_newest_is_in_force(
    db: sqlite3.Connection,
) -> None:
    run = staged(db).run
    for concurrency, event in ((16, endpoint_event.START), (8, endpoint_event.BY_HAND)):
        do(
            db,
            lambda tx, c=concurrency, e=event: run_writes.add_limit(tx, run, "endpoint-0", c, e),  # type: ignore[misc]
        )
    assert db.execute("SELECT count(*) FROM limits").fetchone() == (2,)
    limit = run_queries.limits(db, run)["endpoint-0"]
    assert (limit.concurrency, limit.event.words) == (8, "set by a person")


def test_a_forgotten_run_leaves_nothing(db: sqlite3.Connection) -> None:
    kept = staged(db, 2)
    run = staged(db, 2, running=False).run
    do(db, lambda tx: run_writes.add_limit(tx, run, "e", 1, endpoint_event.START))
    do(db, lambda tx: requests.ask(tx, run, requests.Verb.PAUSE))
    do(db, lambda tx: run_writes.forget(tx, run))
    for table in ("cases", "trials", "columns", "limits", "requests", "tallies"):
        rows = db.execute(f"SELECT count(*) FROM {table} WHERE run = ?", (run,)).fetchone()
        assert rows == (0,), table
    assert [row.id for row in run_queries.runs(db)] == [kept.run]
    assert len(trial_rows.trials_from(db, kept.run, 0, 10)) == 2


def test_a_run_takes_another_frozen_suite(db: sqlite3.Connection) -> None:
    run = staged(db).run
    before = run_queries.change(db)
    do(db, lambda tx: run_writes.set_spec(tx, run, '{"scorers": []}'))
    assert suite_queries.spec(db, run) == '{"scorers": []}'
    assert run_queries.run(db, run).change > before


def test_a_unit_that_raises_makes_no_run(db: sqlite3.Connection) -> None:
    def unit(tx: Tx) -> None:
        run_writes.create(
            tx,
            run_writes.NewRun(suite="s", spec="{}", settings={}, partial=True),
        )
        raise RuntimeError("changed its mind")

    with pytest.raises(RuntimeError):
        transact(db, unit)
    assert run_queries.runs(db) == []
