"""What a person is asked to grade."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GradingChoice:
    """By whose question a person grades, and how many outputs are drawn."""

    scorer: str | None = None
    """The scorer; None: the person chooses where there are several."""
    n: int = 50
    """Outputs that are drawn in all."""
    person: str | None = None
    """Who grades; None: who did last, or the person is asked."""
