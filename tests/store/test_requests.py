import os
import sqlite3

import pytest

from tests.support import do, staged
from tui_eval.store import requests
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.write import request_moves, trial_verbs


@pytest.fixture
def run(db: sqlite3.Connection) -> int:
    return staged(db).run


def test_what_is_asked_waits_for_its_answer(db: sqlite3.Connection, run: int) -> None:
    number = do(db, lambda tx: requests.ask(tx, run, Verb.RETRY, {"which": "errors"}))
    (row,) = request_queries.requests(db, run)
    assert (row.id, row.verb, row.args) == (number, "retry", {"which": "errors"})
    assert (row.outcome, row.detail, row.answered_at) == (None, None, None)
    assert str(os.getpid()) in row.asked_by


def test_requests_are_answered_in_the_order_they_came(db: sqlite3.Connection, run: int) -> None:
    verbs = [Verb.PAUSE, Verb.CONTINUE, Verb.STOP]
    numbers = [do(db, lambda tx, v=verb: requests.ask(tx, run, v)) for verb in verbs]  # type: ignore[misc]
    assert [row.id for row in request_queries.requests(db, run)] == numbers
    assert [row.verb for row in request_queries.requests(db, run)] == verbs
    assert [row.args for row in request_queries.requests(db, run)] == [{}, {}, {}]


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_answered_request_is_pending_no_more(
    db: sqlite3.Connection, run: int, outcome: Outcome
) -> None:
    number = do(db, lambda tx: requests.ask(tx, run, Verb.PAUSE))
    do(db, lambda tx: requests.answer(tx, number, outcome, "3 trials"))
    assert request_queries.requests(db, run) == []
    row = request_queries.request(db, number)
    assert row is not None
    assert (row.outcome, row.detail) == (outcome, "3 trials")
    assert row.answered_at is not None
    assert request_queries.requests(db, run, pending=False) == [row]


def test_requests_of_another_run_are_not_this_ones(db: sqlite3.Connection, run: int) -> None:
    other = staged(db).run
    do(db, lambda tx: requests.ask(tx, other, Verb.PAUSE))
    assert request_queries.requests(db, run) == []
    assert len(request_queries.requests(db, other)) == 1


def test_asking_changes_no_trial_and_no_run(db: sqlite3.Connection, run: int) -> None:
    before = run_queries.change(db)
    do(db, lambda tx: requests.ask(tx, run, Verb.PAUSE))
    assert run_queries.change(db) == before


def test_what_a_request_has_moved_is_forgotten_with_it(db: sqlite3.Connection) -> None:
    made = staged(db, 2)
    number = do(db, lambda tx: requests.ask(tx, made.run, Verb.CANCEL))
    assert do(db, lambda tx: trial_verbs.cancel(tx, made.trials[0], number))
    assert request_moves.moved_count(db, number) == 1
    assert [*request_moves.not_moved_yet(db, number, made.trials)] == [made.trials[1]]
    do(db, lambda tx: requests.forget(tx, made.run))
    # its id is free again: another request must not begin where this one was
    assert do(db, lambda tx: requests.ask(tx, made.run, Verb.CANCEL)) == number
    assert request_moves.moved_count(db, number) == 0
    assert [*request_moves.not_moved_yet(db, number, made.trials)] == [*made.trials]
