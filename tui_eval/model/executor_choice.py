"""Where a run's attempts are made, where that is not the engine's own process."""

from dataclasses import dataclass


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
