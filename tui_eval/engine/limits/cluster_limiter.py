"""How many programs of one target may run at once at workers: as many as those have processors."""

from collections.abc import Callable, Mapping

from tui_eval.engine.limits.admission import NO_LIMITS
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.runs.endpoint_event import BY_HAND, EndpointEvent, EndpointEventKind


class ClusterLimiter(Limiter):
    """A ceiling on programs that run at workers, until a person sets it.

    It follows the processors of the machines that have a worker, as those join and are lost; what
    else they have room for is not known here. While there is none it stays.
    """

    def __init__(
        self,
        endpoint: str,
        on_change: Callable[[LimitChange], None],
        *,
        processors: Callable[[], int],
        rpm: int | None = None,
        tpm: int | None = None,
        most: int = MOST_CALLS,
    ) -> None:
        """Make a limiter.

        Args:
            endpoint: Whom it is for.
            on_change: Told of every change.
            processors: Gives those of all workers by now; 0: there is no worker.
            rpm: Programs that begin in a minute at most; None: no budget.
            tpm: Tokens in a minute at most, by their own word; None: no budget.
            most: Where its ceiling ends, whoever sets it.
        """
        first = max(1, min(processors(), most))
        super().__init__(endpoint, first, on_change, rpm=rpm, tpm=tpm, most=most)
        self._processors = processors
        self._follows = True

    @property
    def follows_machine(self) -> bool:
        """Whether its ceiling may move because there are more processors, or fewer."""
        return self._follows

    def set(self, concurrency: int) -> bool:
        """Set a fixed ceiling; False where it was so already, below 1 or above `most`."""
        if concurrency == self.concurrency and self._follows:
            self._follows = False
            self.tell(BY_HAND)
            return True
        changed = super().set(concurrency)
        self._follows = self._follows and not changed
        return changed

    def wanted(self, now: float, case_limits: Mapping[str, int] = NO_LIMITS) -> None:
        """Move the ceiling to what the workers have by now, as a program is ready to begin."""
        there = self._processors()
        if self._follows and there:
            why = EndpointEvent(EndpointEventKind.WORKERS, what=str(there))
            self._move(min(there, self.most), why)
