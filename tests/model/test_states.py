from collections.abc import Mapping
from typing import TypeVar

from tui_eval.model.states import (
    RUN_MOVES,
    TRIAL_MOVES,
    RunState,
    TrialState,
)

S = TypeVar("S")


def test_the_table_of_trial_moves_names_every_state() -> None:
    assert set(TRIAL_MOVES) == set(TrialState)


def test_the_table_of_run_moves_names_every_state() -> None:
    assert set(RUN_MOVES) == set(RunState)


def test_every_trial_state_is_reached_from_queued() -> None:
    assert _reached(TRIAL_MOVES, TrialState.QUEUED) == set(TrialState)


def test_every_run_state_is_reached_from_pending() -> None:
    assert _reached(RUN_MOVES, RunState.PENDING) == set(RunState)


def test_no_state_moves_to_itself() -> None:
    assert not any(state in targets for state, targets in TRIAL_MOVES.items())
    assert not any(state in targets for state, targets in RUN_MOVES.items())


def test_an_open_trial_may_always_be_cancelled_or_end_in_error() -> None:
    for state in TrialState:
        if not state.settled:
            assert {TrialState.CANCELLED, TrialState.ERROR} <= TRIAL_MOVES[state]


def test_a_settled_trial_leaves_its_state_only_by_a_retry_or_a_rescore() -> None:
    for state in TrialState:
        if state.settled:
            assert TRIAL_MOVES[state] == {TrialState.QUEUED, TrialState.SCORING}


def test_a_settled_run_is_left_to_run_again_or_to_be_cancelled_and_nothing_else() -> None:
    for state in RunState:
        if state.settled:
            assert RUN_MOVES[state] <= {RunState.RUNNING, RunState.CANCELLED}
    assert RUN_MOVES[RunState.CANCELLED] == {RunState.RUNNING}


def test_a_run_is_done_only_after_it_was_started() -> None:
    done_after = {state for state, targets in RUN_MOVES.items() if RunState.DONE in targets}
    assert done_after == {RunState.RUNNING, RunState.PAUSED}


def test_a_trial_is_done_only_after_scoring_or_with_the_output_that_was_scored() -> None:
    done_after = {state for state, targets in TRIAL_MOVES.items() if TrialState.DONE in targets}
    assert done_after == {TrialState.RUNNING, TrialState.SCORING}


def _reached(moves: Mapping[S, frozenset[S]], start: S) -> set[S]:
    seen, todo = {start}, [start]
    while todo:
        new = moves[todo.pop()] - seen
        seen |= new
        todo += new
    return seen
