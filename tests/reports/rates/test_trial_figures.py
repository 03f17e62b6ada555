import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fresh_store import fresh_store
from tests.store.fates import RUNNING, UNGRADED, finish, one_of_each
from tests.support import do, new_run, score, staged, writing
from tui_eval.model.case import Case
from tui_eval.model.score import Tally
from tui_eval.model.states import Verdict
from tui_eval.reports.rates import trial_figures
from tui_eval.store.search import views
from tui_eval.store.search.views import Condition, FilterKind, View
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, score_writes, trial_moves, trial_verbs
from tui_eval.store.write.run_writes import NewTrial


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    path = tmp_path / "store.sqlite3"
    fresh_store(path)
    with writing(path) as connection:
        yield connection


def median(db: sqlite3.Connection, run: int, column: int) -> float | None:
    times = trial_figures.call_times(db, run).get(column)
    return None if times is None else times.p50


def test_tags_are_counted(db: sqlite3.Connection) -> None:
    run = new_run(db, columns=1)

    def unit(tx: Tx) -> None:
        tagged = [
            Case(i, f"c{i}", {}, tags=("hard", "all") if i < 2 else ("all",)) for i in (0, 1, 2)
        ]
        run_writes.add_cases(tx, run, [*tagged, Case(3, "untagged", {})])
        run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, None) for i in range(4)])

    do(db, unit)
    assert trial_figures.tags(db, run, 10) == [("all", 3), ("hard", 2)]
    assert trial_figures.tags(db, run, 1) == [("all", 3)]


def test_a_scorer_that_was_taken_away_fails_nobody(db: sqlite3.Connection) -> None:
    made = staged(db, 1)
    (trial,) = made.trials
    finish(db, trial, score(False, "old"), score(False, "new"))
    assert trial_figures.failing(db, made.run) == [("new", 1), ("old", 1)]
    do(db, lambda tx: trial_verbs.rescore(tx, trial))
    do(db, lambda tx: score_writes.add_scores(tx, trial, [score(False, "new")], fresh=False))
    do(db, lambda tx: trial_moves.settle(tx, trial, Tally(Verdict.FAIL, 0.0)))
    assert trial_figures.failing(db, made.run) == [("new", 1)]
    assert list(views.places(db, made.run, View((Condition(FilterKind.SCORER, "old"),)))) == []


def test_trials_that_back_off_are_counted(db: sqlite3.Connection) -> None:
    made = one_of_each(db)
    assert trial_figures.backing_off(db, made.run) == 0
    do(db, lambda tx: trial_moves.wait(tx, made.trials[RUNNING], "429", None))
    assert trial_figures.backing_off(db, made.run) == 1


def test_the_median_latency_is_of_what_is_done(db: sqlite3.Connection) -> None:
    made = one_of_each(db)
    assert median(db, made.run, 0) == 1.0
    db.execute("UPDATE trials SET latency_s = NULL WHERE place = ?", (UNGRADED,))
    assert median(db, made.run, 0) == 1.5
    assert median(db, made.run, 1) is None
