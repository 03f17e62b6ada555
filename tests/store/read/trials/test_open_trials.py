import sqlite3

import pytest

from tests.store.fates import finish
from tests.support import Staged, case, do, key, output, score, staged
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials.open_trials import open_count, open_work
from tui_eval.store.write import attempt_writes, trial_verbs

QUEUED, SCORING = TrialState.QUEUED, TrialState.SCORING


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    return staged(db, 4, columns=2)


def test_work_has_all_that_a_trial_needs(db: sqlite3.Connection, made: Staged) -> None:
    (work,) = open_work(db, made.run, [1], QUEUED, -1, 1)
    assert (work.trial, work.place, work.col, work.epoch) == (made.trials[1], 1, 1, 0)
    assert (work.key, work.case) == (key("capitals", 0, 1, 0), case(0))
    assert (work.output, work.kept) == (None, None)


def test_work_comes_in_dataset_order_piece_by_piece(db: sqlite3.Connection, made: Staged) -> None:
    assert [work.place for work in open_work(db, made.run, [0, 1], QUEUED, -1, 3)] == [0, 1, 2]
    assert [work.place for work in open_work(db, made.run, [0, 1], QUEUED, 2, 3)] == [3, 4, 5]
    assert [work.place for work in open_work(db, made.run, [1], QUEUED, 2, 9)] == [3, 5, 7]
    assert open_work(db, made.run, [0, 1], QUEUED, 7, 9) == []


def test_what_runs_or_is_settled_is_no_work(db: sqlite3.Connection, made: Staged) -> None:
    do(db, lambda tx: attempt_writes.start_attempt(tx, made.trials[0], queue_s=None, wait_s=None))
    finish(db, made.trials[1], score())
    do(db, lambda tx: trial_verbs.cancel(tx, made.trials[2]))
    assert [work.place for work in open_work(db, made.run, [0, 1], QUEUED, -1, 9)] == [
        3,
        4,
        5,
        6,
        7,
    ]


def test_a_trial_to_be_scored_brings_its_output(db: sqlite3.Connection, made: Staged) -> None:
    finish(db, made.trials[0], score(False), score(True, "regex"))
    do(db, lambda tx: trial_verbs.rescore(tx, made.trials[0], ["exact"]))
    (work,) = open_work(db, made.run, [0], SCORING, -1, 1)
    assert work.output == output()
    assert work.kept is not None
    assert [(kept.scorer, kept.grade.value) for kept in work.kept] == [("regex", 1.0)]


def test_a_rescore_of_all_keeps_a_persons_grade_alone(db: sqlite3.Connection, made: Staged) -> None:
    finish(db, made.trials[0], score(False), score(True, "regex", source="human", weight=2.0))
    do(db, lambda tx: trial_verbs.rescore(tx, made.trials[0]))
    (work,) = open_work(db, made.run, [0], SCORING, -1, 1)
    assert work.kept is not None
    assert [(kept.scorer, kept.source, kept.weight) for kept in work.kept] == [
        ("regex", "human", 2.0)
    ]


def test_a_retried_trial_keeps_nothing_but_is_not_new(db: sqlite3.Connection, made: Staged) -> None:
    finish(db, made.trials[0], score())
    do(db, lambda tx: trial_verbs.retry(tx, made.trials[0]))
    (work,) = open_work(db, made.run, [0], QUEUED, -1, 1)
    assert (work.output, work.kept) == (None, ())


def test_open_trials_are_counted_until_they_settle(db: sqlite3.Connection, made: Staged) -> None:
    assert open_count(db, made.run) == 8
    do(db, lambda tx: attempt_writes.start_attempt(tx, made.trials[0], queue_s=None, wait_s=None))
    assert open_count(db, made.run) == 8
    finish(db, made.trials[1], score())
    do(db, lambda tx: trial_verbs.cancel(tx, made.trials[0]))
    assert open_count(db, made.run) == 6
    assert open_count(db, 99) == 0


@pytest.mark.parametrize("state", [QUEUED, SCORING])
def test_open_trials_are_looked_up_in_an_index(
    db: sqlite3.Connection, made: Staged, state: TrialState
) -> None:
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    open_work(db, made.run, [0], state, 3, 2)
    db.set_trace_callback(None)
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {asked[0]}")]
    assert "SEARCH t USING INDEX trials_open (run=? AND state=? AND place>?)" in plan
