"""A trial that the engine has taken, until the commit that closes it."""

import asyncio
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from tui_eval.engine.limits.call_permit import CallHistory
from tui_eval.store.read.trials.open_trials import OpenTrial
from tui_eval.store.tx import Tx
from tui_eval.store.write import trial_moves
from tui_eval.store.write.trial_moves import AsTaken
from tui_eval.targets.attempt.attempt_context import AttemptContext


class Phase(Enum):
    """How far a pool has come with a trial."""

    READY = auto()
    """Read ahead, not taken by a worker."""
    STARTING = auto()
    """Its attempt is being written down."""
    CALLING = auto()
    WAITING = auto()
    """It backs off, without a worker."""
    CLOSING = auto()
    """What came of it is being written down."""
    SCORING = auto()
    """Its output is scored off the loop, without a worker."""
    JUDGING = auto()
    """It waits for judges, without a worker."""


@dataclass(slots=True, eq=False)
class TrialInFlight:
    """What the engine remembers of an open trial; the store knows the rest."""

    work: OpenTrial
    phase: Phase = Phase.READY
    tries: CallHistory = field(default_factory=CallHistory)
    """What came of asking since it was taken."""
    consigned: bool = False
    """Whether it is asked in bulk: it is tried again from the queue, in a further consignment."""
    waited_s: float | None = None
    """Seconds it was told to wait before the next attempt; None: it was not."""
    task: "asyncio.Task[Any] | None" = None
    """What waits for the call in flight, for its target to open before it, or for scores made off
    the loop."""
    ended: bool = False
    """Whether that was ended from outside."""
    sent_at: float | None = None
    """When the last call left (monotonic seconds); None: it has not."""
    context: AttemptContext | None = None
    """Of the attempt that is made, or was made last; None: it has made none yet."""
    withdrawn: bool = False
    """Nobody waits for what comes of it any more: its cancellation is written down, or the trial
    was found to be opened anew. What may be written is decided by `stands`, not by this."""

    @property
    def as_taken(self) -> AsTaken:
        """What must hold of the trial in the store for what came of it to be written."""
        return AsTaken(self.work.opening)

    def stands(self, tx: Tx) -> bool:
        """Return whether the trial is still open as it was taken.

        To be asked in the transaction that writes what came of it: where it was cancelled and
        opened anew, its present opening is another's.
        """
        return trial_moves.stands(tx, self.work.trial, self.work.opening)

    def withdraw(self) -> None:
        """Let go of the trial; what is under way for it ends."""
        self.withdrawn = True
        self.end()

    def end(self) -> None:
        """End a call in flight, or the wait for scores; whoever waited goes on."""
        if self.task is not None and not self.ended:
            self.ended = True
            self.task.cancel()
