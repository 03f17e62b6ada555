"""Which of several reasons to leave a run counts, and how what is in flight ends then."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tui_eval.engine.departure import (
    ABORTED,
    CANCELLED,
    STOPPED,
    Departure,
    Urgency,
    capped,
    halted,
)
from tui_eval.engine.engine import Engine
from tui_eval.model.outputs.output import Failure
from tui_eval.model.states import RunState

HALTS = [halted(Failure("auth", "no key")), halted(Failure("min_agreement", "low"), lambda _: None)]
CAPS = [capped(Failure("max_cost_usd", "spent")), capped(Failure("max_errors", "3 errored"))]
REASONS = st.lists(st.sampled_from([*HALTS, *CAPS, STOPPED, ABORTED, CANCELLED]), min_size=1)


def of_all(reasons: list[Departure]) -> Departure:
    """Give what counts of reasons that came one after the other."""
    engine = Engine(Path("nowhere"), 1)
    for reason in reasons:
        engine.leave(reason)
    return engine._why


@given(REASONS)
def test_a_cancel_beats_an_abort_that_beats_a_stop_that_beats_a_halt_or_a_cap(
    reasons: list[Departure],
) -> None:
    found = of_all(reasons)
    if CANCELLED in reasons:
        assert (found.state, found.urgency) == (RunState.CANCELLED, Urgency.AT_ONCE)
    elif ABORTED in reasons:
        assert (found.state, found.urgency) == (RunState.INTERRUPTED, Urgency.AT_ONCE)
    elif STOPPED in reasons:
        assert (found.state, found.urgency) == (RunState.INTERRUPTED, Urgency.GRACE)
    else:
        assert found is reasons[0]  # what is told, and what is written with it, is the first's
        assert (found.state, found.urgency) == (RunState.PAUSED, Urgency.PATIENT)


@given(REASONS, REASONS)
def test_what_counts_of_some_counts_for_all_of_them(
    some: list[Departure], others: list[Departure]
) -> None:
    assert of_all([*some, *others]) == of_all([of_all(some), of_all(others)])
    assert of_all([*some, *some]) == of_all(some)


def test_only_a_cap_that_counts_lets_a_run_without_open_trials_be_done() -> None:
    assert of_all([CAPS[0], HALTS[0]]).at_cap
    assert not of_all([HALTS[0], CAPS[0]]).at_cap
    assert not of_all([CAPS[0], STOPPED]).at_cap
