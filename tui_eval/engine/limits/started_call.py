"""What a limiter gives to whoever makes a call, and what it tells of its limit."""

from dataclasses import dataclass

from tui_eval.engine.limits.admission import ProgramHold
from tui_eval.engine.limits.gradient import RoundPosition
from tui_eval.model.runs.endpoint_event import EndpointEvent


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A call in flight: the handle that `heard` and `end` take."""

    streak: int
    """How many streaks of refusals there had been."""
    place: RoundPosition | None
    """Where it stands in its round; None: the ceiling is fixed."""
    hold: ProgramHold | None = None
    """What is kept for it of this machine; None: it takes nothing of it."""


@dataclass(frozen=True, slots=True)
class LimitChange:
    """The limit from now on, and why it moved."""

    endpoint: str
    concurrency: int
    event: EndpointEvent
