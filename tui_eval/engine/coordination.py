"""What the parts of an engine tell each other, and what they ask of each other."""

from typing import Protocol

from tui_eval.engine.departure import Departure


class Coordination(Protocol):
    """Is told what happens in one part, and has the others do what follows from it.

    The parts know this and not each other: who does what then stands in `Workers`.
    """

    def leave(self, why: Departure) -> None:
        """The run cannot go on, or is not to before a person has looked."""

    def pool_idle(self) -> None:
        """A pool of an endpoint has nothing left to do."""

    def judging_idle(self) -> None:
        """Nothing is left to grade, or nothing to audit for now."""

    def judging_has_room(self) -> None:
        """Trials that were left in the store can be taken by judges now."""

    def gold_graded(self) -> None:
        """Nothing has to be graded before targets are asked any more."""

    def calls_have_room(self) -> None:
        """Calls that a cap held back may perhaps begin."""

    def targets_held(self) -> None:
        """Caps hold targets' calls back: no output comes until others have ended."""

    @property
    def dispatching(self) -> bool:
        """Whether calls may begin: the run neither pauses nor ends."""

    @property
    def leaving(self) -> bool:
        """Whether the engine is to leave the run: nothing new is begun any more."""

    @property
    def stopping(self) -> bool:
        """Whether a person stops the run: what has not begun is left for another time."""

    @property
    def pools_idle(self) -> bool:
        """Whether no pool of an endpoint has anything left to do."""

    @property
    def outputs_rest(self) -> bool:
        """Whether no output comes for now: nothing is asked but of providers in bulk."""

    @property
    def ungraded(self) -> int:
        """Outputs that wait for a grade, or may once they are there."""

    @property
    def judges_rest(self) -> bool:
        """Whether no judge is asked for some time: nobody waits for its grades meanwhile."""
