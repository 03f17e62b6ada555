import sqlite3

import pytest

from tests.support import do, staged
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.write.people import notes


def note_of(db: sqlite3.Connection, trial: int) -> str | None:
    row = trial_rows.trial(db, trial)
    assert row is not None
    return row.note


def test_the_newest_note_counts_an_empty_one_takes_it_away_and_all_stay_in_the_history(
    db: sqlite3.Connection,
) -> None:
    run = staged(db, 3)
    first, second, third = run.trials
    do(db, lambda tx: notes.write(tx, {first: "odd", second: "odd"}))
    do(db, lambda tx: notes.write(tx, {first: "a typo in the \ud800 case"}))
    do(db, lambda tx: notes.write(tx, {second: ""}))
    assert note_of(db, first) == "a typo in the \ud800 case"
    assert note_of(db, second) is None
    assert notes.of(db, run.trials) == {first: "a typo in the \ud800 case"}
    assert note_of(db, third) is None
    assert db.execute("SELECT count(*) FROM notes").fetchone() == (4,)


def test_a_note_is_a_change_of_its_trial_alone(db: sqlite3.Connection) -> None:
    run = staged(db, 3)
    before = run_queries.change(db)
    do(db, lambda tx: notes.write(tx, {run.trials[1]: "look here"}))
    changed = trial_rows.trials_changed(db, run.run, before)
    assert [trial.id for trial in changed] == [run.trials[1]]


def test_a_note_that_is_too_long_is_refused_and_nothing_written(db: sqlite3.Connection) -> None:
    run = staged(db, 2)
    texts = {run.trials[0]: "fine", run.trials[1]: "x" * (notes.LONGEST + 1)}
    with pytest.raises(ValueError, match="at most 2000"):
        do(db, lambda tx: notes.write(tx, texts))
    assert notes.of(db, run.trials) == {}
