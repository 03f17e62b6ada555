"""How a sweep drives an endpoint: which levels of concurrency, how many calls at each."""

from dataclasses import dataclass
from typing import Final

from tui_eval.model.frozen import frozen

LEVELS: Final = (1, 10, 50, 100)
"""Concurrencies that are measured where nobody names others."""
CASES: Final = 20
STOP_AT: Final = 0.05
_CALLS_A_SLOT: Final = 3


@dataclass(frozen=True, slots=True)
class SweepPlan:
    """What was chosen for a sweep."""

    levels: tuple[int, ...] = LEVELS
    """Concurrencies in ascending order, each once."""
    cases: int = CASES
    """Calls that are counted at a level at least."""
    stop_at: float = STOP_AT
    """The share of errors above which a level is too much, and the last one."""
    every_level: bool = False
    """Whether levels are measured after one that is too much."""

    def warm_up(self, level: int) -> int:
        """Return the calls that fill the slots of a level before any is counted."""
        return level

    def counted(self, level: int) -> int:
        """Return the calls that are counted at a level."""
        return max(self.cases, _CALLS_A_SLOT * level)

    @property
    def calls(self) -> int:
        """All calls of all levels, those that are not counted among them."""
        return sum(self.warm_up(level) + self.counted(level) for level in self.levels)


@frozen
class SweepCall:
    """One call of a level, as it went."""

    begun: float
    """When it left (seconds of any clock)."""
    took_s: float
    answered: bool
    refused: bool
    """Whether the endpoint said that it has too much to do (429, 503)."""
    output_tokens: int | None
    """None: nobody told."""
    counted: bool
    """Whether it came after the warm-up."""
