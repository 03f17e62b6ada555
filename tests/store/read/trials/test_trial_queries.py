import sqlite3

from tests.store.fates import PASSED
from tests.support import Staged, case, output
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import trial_queries


def test_errors_are_counted_by_kind(db: sqlite3.Connection, made: Staged) -> None:
    assert trial_queries.error_kinds(db, made.run) == [("timeout", 1)]


def test_a_trial_is_given_with_everything(db: sqlite3.Connection, made: Staged) -> None:
    found = trial_queries.whole(db, made.run, made.trials[PASSED])
    assert found is not None
    assert found.case == case(PASSED)
    assert found.output == output("Paris", cost=0.3, latency_s=2.0)
    assert found.trial.state is TrialState.DONE
    assert (len(found.scores), len(found.attempts)) == (1, 1)
    assert trial_queries.whole(db, made.run, 10**6) is None
