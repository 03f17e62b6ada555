"""The trials that a person has scored again, and waits for."""

from collections.abc import Sequence
from typing import Final

_MOST: Final = 1000
"""Of one request: its last ones. Those before them fill batches, which need not be hurried."""


class RescoredTrials:
    """Which trials' questions are not to wait for company; some thousand, whatever a run's size."""

    def __init__(self) -> None:
        self._alone: set[int] = set()
        self._hurried: set[int] = set()

    def __len__(self) -> int:
        return len(self._alone) + len(self._hurried)

    def add(self, trials: Sequence[int]) -> None:
        """Take in those of a request, in the order they are scored; a single one goes alone."""
        of = self._alone if len(trials) == 1 else self._hurried
        of.update(trials[-_MOST:])

    def alone(self, trial: int) -> bool:
        """Return whether a person asked for just this one: it is graded in requests of its own."""
        return trial in self._alone

    def hurried(self, trial: int) -> bool:
        """Return whether its questions leave sooner than others."""
        return trial in self._hurried

    def discard(self, trial: int) -> None:
        """Forget one that is graded."""
        self._alone.discard(trial)
        self._hurried.discard(trial)
