"""Why an engine leaves its run, what it leaves behind, and which of several reasons counts."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from tui_eval.model.outputs.output import Failure
from tui_eval.model.states import BULK, RunState, StartRefusal
from tui_eval.store.tx import Fact


class Urgency(IntEnum):
    """How calls in flight end once an engine is to leave."""

    PATIENT = 0
    """All of them end by themselves."""
    GRACE = 1
    """Those that take longer than a grace period are dropped."""
    AT_ONCE = 2
    """They are dropped."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A reason to begin no new call, to let those in flight end, and to let go of the run.

    From the first one on an engine only leaves. Further ones may come meanwhile: of two the more
    urgent counts, of equally urgent ones a cancelled run's, else the first (`joined`).
    """

    state: RunState
    """The state that the run is left in; a run that is cancelled in the store stays so."""
    reason: str | None
    """For a person."""
    stopped_by: str | None
    """A stable word for the same."""
    urgency: Urgency = Urgency.PATIENT
    at_cap: bool = False
    """Whether a cap is reached: where no trial is open by then, the run is done all the same."""
    fact: Fact | None = None
    """What is written down as the run is let go of."""

    def joined(self, later: "Departure") -> "Departure":
        """Return which of the two counts."""
        return max(self, later, key=lambda one: (one.urgency, one.state is RunState.CANCELLED))


DONE: Final = Departure(RunState.DONE, None, None)
"""Nothing is left to do."""
STOPPED: Final = Departure(RunState.INTERRUPTED, "stopped", "person", Urgency.GRACE)
"""A person stops the run; it can be resumed."""
ABORTED: Final = Departure(RunState.INTERRUPTED, "stopped", "person", Urgency.AT_ONCE)
"""A person does not even wait for what is in flight."""
CALLER_GONE: Final = Departure(
    RunState.INTERRUPTED,
    "the Python program has ended whose functions the run calls: go on where they are",
    "caller",
    Urgency.AT_ONCE,
)
"""What was in flight may never come back."""
SUBMITTED: Final = Departure(
    RunState.PAUSED, "sent in bulk: resume waits for it, resume --collect takes what is done", BULK
)
"""All that is left is to wait for providers, and nobody is to wait here."""
CANCELLED: Final = Departure(RunState.CANCELLED, "stopped", "person", Urgency.AT_ONCE)
"""A person has cancelled the run."""


def refused(reason: str, stopped_by: StartRefusal) -> Departure:
    """Return the departure from a run that cannot, or may not, even begin."""
    return Departure(RunState.INTERRUPTED, reason, stopped_by)


def halted(failure: Failure, fact: Fact | None = None) -> Departure:
    """Return the departure from a run that cannot go on, or is not to before a person has looked.

    Args:
        failure: What every further trial would meet, or what the person is to look at.
        fact: What is written down as the run pauses.
    """
    return Departure(RunState.PAUSED, failure.message, failure.kind, fact=fact)


def capped(failure: Failure) -> Departure:
    """Return the departure from a run that has reached a cap."""
    return Departure(RunState.PAUSED, failure.message, failure.kind, at_cap=True)
