import sqlite3
from functools import partial

import pytest

from tests.store.fates import finish
from tests.support import do, score, staged
from tui_eval.model.outputs.output import Estimate, Failure, Output
from tui_eval.model.score import Grade, Score
from tui_eval.model.states import Verdict
from tui_eval.store.read.figures.call_spending import spending
from tui_eval.store.read.run_counts import Counts, board, counts
from tui_eval.store.write import attempt_writes, trial_moves, trial_verbs


def test_a_new_run_is_all_queued(db: sqlite3.Connection) -> None:
    made = staged(db, 3, columns=2)
    total, columns = board(db, made.run)
    assert total == Counts(total=6, queued=6)
    assert columns == {0: Counts(total=3, queued=3), 1: Counts(total=3, queued=3)}


def test_a_run_that_is_not_staged_has_no_counts(db: sqlite3.Connection) -> None:
    assert board(db, 99) == (Counts(), {})


def test_everything_is_counted_once_and_nothing_vanishes(db: sqlite3.Connection) -> None:
    made = staged(db, 8)
    passed, failed, ungraded, error, cancelled, running, scoring, _queued = made.trials
    half = Score("fuzzy", Grade(Verdict.FAIL, 0.25, "near"))
    finish(db, passed, score(), cost=0.5)
    finish(db, failed, half, cost=0.25)
    finish(db, ungraded, score(None), score(True, "other"), cost=0.125)
    do(db, lambda tx: trial_moves.fail_trial(tx, error, Failure("bug", "")))
    do(db, lambda tx: trial_verbs.cancel(tx, cancelled))
    for trial in (running, scoring):
        do(db, lambda tx, t=trial: attempt_writes.start_attempt(tx, t, queue_s=None, wait_s=None))  # type: ignore[misc]
    finish_scoring = db.execute("SELECT max(id) FROM attempts").fetchone()[0]
    do(
        db,
        lambda tx: attempt_writes.answer(
            tx, finish_scoring, scoring, b"k", Output("x", cost_usd=0.0), 1
        ),
    )
    total, _ = board(db, made.run)
    assert total == Counts(
        total=8, queued=1, running=1, scoring=1, done=3, error=1, cancelled=1,
        passed=1, failed=1, ungraded=1, attempts=5, retries=0, cached=0,
        input_tokens=30, output_tokens=15, cost_usd=0.875, known_usd=0.875,
    )  # fmt: skip
    assert (total.settled, total.graded) == (5, 2)


def ended(db: sqlite3.Connection, trial: int, state: str, call_s: float | None) -> None:
    """Let nobody wait for a new attempt of a trial any more, and put the trial back."""
    attempt = do(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None))
    assert attempt is not None
    do(db, lambda tx: attempt_writes.drop_attempt(tx, attempt, state, call_s))
    do(db, lambda tx: trial_moves.give_back(tx, trial))


def test_what_may_have_been_sent_is_counted_apart_and_what_never_left_not_at_all(
    db: sqlite3.Connection,
) -> None:
    staged(db, 3)
    made = staged(db, 4)
    lost, unsent, opened, _ = made.trials
    ended(db, lost, "lost", None)
    ended(db, unsent, "cancelled", None)
    ended(db, opened, "cancelled", 0.0)
    for trial in made.trials:
        finish(db, trial, score(), cost=0.0)
    ended(db, staged(db, 1).trials[0], "lost", None)
    total, columns = board(db, made.run)
    assert (total.attempts, total.retries, total.lost, total.cost_usd) == (4, 0, 1, 0.0)
    assert columns[0] == total, "calls that are answered for nothing cost nothing when they are not"


@pytest.mark.parametrize(("state", "call_s"), [("lost", None), ("cancelled", 0.5)])
def test_what_calls_cost_that_nobody_answered_is_unknown(
    db: sqlite3.Connection, state: str, call_s: float | None
) -> None:
    made = staged(db, 2, columns=2)
    do(db, lambda tx: tx.db.execute("UPDATE columns SET source = 'asked'"))
    ended(db, made.trials[0], state, call_s)
    assert board(db, made.run)[0].cost_usd is None, "nobody knows yet whether they are free"
    for trial in made.trials:
        finish(db, trial, score(), cost=0.25)
    total, columns = board(db, made.run)
    assert (total.cost_usd, total.known_usd) == (None, 1.0)
    assert (columns[0].cost_usd, columns[0].known_usd, columns[1].cost_usd) == (None, 0.5, 0.5)
    assert total.attempts == 4 + (state == "cancelled")


def test_rates_over_nothing_are_unknown() -> None:
    assert counts([]).cost_usd == 0.0


def test_one_unknown_price_makes_the_sum_unknown_and_only_its_own(db: sqlite3.Connection) -> None:
    made = staged(db, 2, columns=2)
    for trial, cost in zip(made.trials, (0.5, None, 0.25, 0.25), strict=True):
        finish(db, trial, score(), cost=cost)
    total, columns = board(db, made.run)
    assert total.cost_usd is None
    assert (columns[0].cost_usd, columns[1].cost_usd) == (0.75, None)


def test_estimates_stand_in_for_what_no_endpoint_told(db: sqlite3.Connection) -> None:
    made = staged(db, 3, columns=2)
    told = [(0.5, None), (0.5, None), (0.25, None), (None, None), (None, 0.125), (None, 0.125)]
    for trial, (cost, about) in zip(made.trials, told, strict=True):
        estimate = None if about is None else Estimate(10, about)
        finish(db, trial, score(), cost=cost, estimate=estimate)
    total, columns = board(db, made.run)
    first, second = columns[0], columns[1]
    assert (first.cost_usd, first.known_usd, first.about_usd) == (None, 0.75, 0.875)
    assert (second.cost_usd, second.known_usd, second.about_usd) == (None, 0.5, 0.625)
    assert (first.unestimated, second.unestimated, total.unestimated) == (False, True, True)
    assert (total.known_usd, total.about_usd) == (1.25, 1.5)


def test_a_call_that_timed_out_is_one_that_was_never_answered(db: sqlite3.Connection) -> None:
    made = staged(db, 2)
    for trial, kind in zip(made.trials, ("timeout", "rate_limit"), strict=True):
        attempt = do(
            db, partial(attempt_writes.start_attempt, trial=trial, queue_s=None, wait_s=None)
        )
        assert attempt is not None
        failure = Failure(kind, "no answer")
        do(db, partial(attempt_writes.fail_attempt, attempt=attempt, failure=failure, call_s=1.0))
    assert spending(db, made.run)[0].unanswered == 1
    do(db, lambda tx: tx.db.execute("UPDATE columns SET source = 'asked'"))
    for trial in made.trials:
        finish(db, trial, score(), cost=0.25)
    total = board(db, made.run)[0]
    assert (total.cost_usd, total.known_usd, total.unestimated) == (None, 0.5, True)
    assert (total.attempts, total.retries, total.lost) == (4, 2, 0)
    do(db, lambda tx: tx.db.execute("UPDATE attempts SET input_tokens = 1 WHERE call_s = 1.0"))
    assert board(db, made.run)[0].cost_usd == 0.5, "its endpoint said what it took"
