import itertools
import sqlite3
from functools import partial

import pytest

from tests.support import do, staged
from tui_eval.model.states import TRIAL_MOVES, TrialState
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.tx import Tx


def test_a_move_that_is_not_in_the_table_is_a_bug(db: sqlite3.Connection) -> None:
    trial = staged(db, 1).trials[0]
    for source, to in itertools.product(TrialState, TrialState):
        stays = source is to and not to.settled
        if to not in TRIAL_MOVES[source] and not stays:
            with pytest.raises(AssertionError, match="no legal move"):
                do(db, partial(Tx.move, trial=trial, to=to, of=(source,)))


def test_a_move_says_whether_the_trial_was_where_it_was_thought_to_be(
    db: sqlite3.Connection,
) -> None:
    trial = staged(db, 1).trials[0]
    assert not do(db, lambda tx: tx.move(trial, TrialState.SCORING, (TrialState.RUNNING,)))
    assert do(db, lambda tx: tx.move(trial, TrialState.RUNNING, (TrialState.QUEUED,)))
    row = trial_rows.trial(db, trial)
    assert row is not None
    assert row.state is TrialState.RUNNING


def test_what_is_done_apart_is_undone_alone(db: sqlite3.Connection) -> None:
    first, second = staged(db, 2).trials

    def unit(tx: Tx) -> int:
        try:
            with tx.apart():
                tx.move(second, TrialState.RUNNING, (TrialState.QUEUED,))
                tx.db.execute("not SQL")
        except sqlite3.OperationalError:
            tx.move(first, TrialState.RUNNING, (TrialState.QUEUED,))
        return tx.change

    change = do(db, unit)
    rows = [trial_rows.trial(db, trial) for trial in (first, second)]
    assert [row.state for row in rows if row] == [TrialState.RUNNING, TrialState.QUEUED]
    assert change == run_queries.change(db)
