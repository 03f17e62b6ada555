"""A limit that stays where it is put: for measuring what an endpoint bears."""

from collections.abc import Callable

from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import LimitChange, StartedCall
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.runs.endpoint_event import EndpointEvent, EndpointEventKind


class SteadyLimiter(Limiter):
    """A ceiling that nothing but the next level of a sweep moves.

    It holds no budget, halves nothing, and never leaves the endpoint alone: refusals, time-outs and
    broken calls are what a sweep wants to see, at the concurrency that it is about.
    """

    def __init__(
        self, endpoint: str, on_change: Callable[[LimitChange], None], *, most: int
    ) -> None:
        """Make a limiter of one call at once.

        Args:
            endpoint: Whom it is for.
            on_change: Told of every change.
            most: How many calls the endpoint may have at once.
        """
        super().__init__(endpoint, 1, on_change, most=most)

    def set(self, concurrency: int) -> bool:
        """Go on to a level; False where it is the present one, below 1 or above `most`."""
        if not 1 <= concurrency <= self.most or concurrency == self.concurrency:
            return False
        self._move(concurrency, EndpointEvent(EndpointEventKind.SWEEP_LEVEL))
        self._ramp = concurrency
        return True

    def heard(
        self,
        reply: Output | Failure,
        now: float,
        *,
        begun: StartedCall | None = None,
        call_s: float | None = None,
        own: bool = False,
    ) -> None:
        """Count the answer, and learn nothing from it."""
        self.successes += isinstance(reply, Output)
