"""Which keys of a run do something now, and why the others do not."""

from dataclasses import replace
from pathlib import Path

from tests.support import reading
from tests.ui.playing import plain_run
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trials import trial_rows
from tui_eval.ui.run.actions.availability import RunSituation, Selection, situation, why_not


def standing(
    store: Path, *, state: RunState, trial: TrialState, total: Counts | None = None, marked: int = 0
) -> RunSituation:
    made = plain_run(store, 2)
    with reading(store) as db:
        run = replace(run_queries.run(db, made.run), state=state)
        row = trial_rows.trial(db, made.trials[0])
    assert row is not None
    return situation(
        run,
        total or Counts(total=2, done=2, passed=2),
        Selection(replace(row, state=trial), marked, listed=2),
    )


def test_settled_trials_can_be_retried_and_open_ones_cancelled(store: Path) -> None:
    done = standing(store, state=RunState.DONE, trial=TrialState.DONE)
    assert why_not("retry", done) is None
    assert why_not("rescore", done) is None
    assert why_not("cancel", done) == "it is settled already (done)"
    queued = standing(store, state=RunState.RUNNING, trial=TrialState.QUEUED)
    assert why_not("retry", queued) == "it is on its way already (queued); c cancels it first"
    assert why_not("rescore", queued) == "it has no output yet (queued)"
    assert why_not("cancel", queued) is None


def test_marked_trials_can_be_acted_on_whatever_the_one_under_the_cursor_is(store: Path) -> None:
    many = standing(store, state=RunState.DONE, trial=TrialState.QUEUED, marked=3)
    assert why_not("retry", many) is None
    assert why_not("cancel", many) is None


def test_without_an_engine_there_is_nothing_to_stop_or_pause(store: Path) -> None:
    gone = standing(store, state=RunState.RUNNING, trial=TrialState.QUEUED)
    for action in ("stop_run", "pause", "limit"):
        assert why_not(action, gone), action


def test_a_run_that_is_stopping_is_left_to_stop(store: Path) -> None:
    now = replace(
        standing(store, state=RunState.RUNNING, trial=TrialState.QUEUED), live=True, stopping=True
    )
    for action in ("stop_run", "pause", "resume"):
        assert "stopping" in str(why_not(action, now)), action


def test_resume_makes_sense_where_something_is_missing(store: Path) -> None:
    finished = standing(store, state=RunState.DONE, trial=TrialState.DONE)
    assert why_not("resume", finished) == "everything is finished"
    errors = Counts(total=2, done=1, error=1)
    broken = standing(store, state=RunState.DONE, trial=TrialState.DONE, total=errors)
    assert why_not("resume", broken) is None
    assert why_not("retry_all", broken) is None
    cancelled = standing(store, state=RunState.CANCELLED, trial=TrialState.DONE, total=errors)
    assert "cancelled" in str(why_not("resume", cancelled))


def test_where_there_is_no_trial_nothing_is_done_to_it(store: Path) -> None:
    empty = replace(standing(store, state=RunState.DONE, trial=TrialState.DONE), trial=None)
    for action in ("cancel", "retry", "rescore", "mark", "mark_all", "copy", "zoom"):
        assert why_not(action, empty), action
    for action in ("filter", "sort", "find", "turn_tab"):
        assert why_not(action, empty) is None, action
