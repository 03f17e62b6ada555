"""The exit codes of every command: one table."""

from collections.abc import Iterable
from enum import IntEnum


class ExitCode(IntEnum):
    """What a command says to whoever started it."""

    PASSED = 0
    """It finished, and its gate holds; without one, nothing errored or was left ungraded."""
    GATE_MISSED = 1
    """It finished, and its gate does not hold; this outranks what follows."""
    NOT_STARTED = 2
    """The command line, a suite, a key or trust is wrong: nothing was started."""
    INCOMPLETE = 3
    """Trials errored or are ungraded and no gate speaks of them, or it could not go on."""
    INTERRUPTED = 130
    """It was stopped by a signal; it can be resumed."""


_WORST_FIRST = (
    ExitCode.INTERRUPTED,
    ExitCode.NOT_STARTED,
    ExitCode.GATE_MISSED,
    ExitCode.INCOMPLETE,
)


def worst(codes: Iterable[int]) -> int:
    """Return the code of a command that did several things: of the one that needs a person most.

    What was not seen to its end outranks what was, and a gate that does not hold outranks one of
    which trials are missing, as within a run.
    """
    given = set(codes)
    return next((code for code in _WORST_FIRST if code in given), ExitCode.PASSED)
