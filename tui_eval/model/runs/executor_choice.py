"""Where a run's attempts are made, where that is not the engine's own process."""

from dataclasses import dataclass
from typing import Final

LOCAL: Final = "local"
"""What a person calls the engine itself, where an executor is named."""


@dataclass(frozen=True, slots=True)
class ExecutorChoice:
    """An executor, as a launch names it; never named by a suite."""

    kind: str
    """Which one: a name of `engine.executors.EXECUTORS`."""
    address: str | None = None
    """Where its cluster is; None: as the executor finds it on this machine."""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return self.kind if self.address is None else f"{self.kind} at {self.address}"


@dataclass(frozen=True, slots=True)
class NamedExecutor:
    """What a person says of an executor, starting a run or taking one up again."""

    kind: str | None = None
    """A name of `engine.executors.EXECUTORS`, or `LOCAL`; None: the one that the run has."""
    address: str | None = None
    """Where its cluster is; None: where the run has it, or as a newly named one finds it."""

    @property
    def says_nothing(self) -> bool:
        """Whether all is to be as it was."""
        return self.kind is None and self.address is None

    def in_place_of(self, before: ExecutorChoice | None) -> ExecutorChoice | None:
        """Return what holds from now on; None: the engine makes the attempts itself.

        Args:
            before: What the run has; None: likewise, or there is no run yet.

        Raises:
            ValueError: there is an address, and nobody says of what.
        """
        if self.says_nothing:
            return before
        kind = self.kind or (None if before is None else before.kind)
        if kind in (None, LOCAL):
            if self.address is not None:
                raise ValueError("an address says where an executor is, and none is named")
            return None
        return ExecutorChoice(kind, self.address)


AS_BEFORE: Final = NamedExecutor()
"""Nobody has said anything."""
