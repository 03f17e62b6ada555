"""How often a person asked to stop, whatever number of signals that took."""

TOGETHER_S = 0.2
"""Signals that come so close are one: shells, `timeout` and package runners send theirs to the
process and to its group, and no person presses twice so fast."""


class StopSignals:
    """Counts what a person did, not what arrived."""

    def __init__(self) -> None:
        self._count = 0
        self._at = 0.0

    def count(self, now: float) -> int | None:
        """Take a signal.

        Args:
            now: The present moment, in seconds of any clock that only goes forward.

        Returns:
            How often somebody asked by now; None: this one belongs to the one before it.
        """
        if self._count and now - self._at < TOGETHER_S:
            return None
        self._count += 1
        self._at = now
        return self._count
