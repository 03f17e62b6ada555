"""How often a provider is asked how far a consignment is."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from tui_eval.model.outputs.output import Failure

_GROWTH: Final = 1.5

Wait: TypeAlias = Callable[[asyncio.Event, float], Awaitable[None]]
"""Waits until an event is set, or for so many seconds."""


async def _wait(changed: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await changed.wait()


@dataclass(frozen=True, slots=True)
class BulkPolling:
    """The pauses between two looks: each longer than the last, up to a limit."""

    first_s: float = 15.0
    most_s: float = 300.0
    patience_s: float = 600.0
    """Seconds to try again for where a provider does not answer (`[run] patience`)."""
    wait: Wait = _wait
    """Lets the time pass; a test's own need not."""

    def next_s(self, seconds: float) -> float:
        """Return the pause after one of so many seconds."""
        return min(self.most_s, seconds * _GROWTH)


@dataclass(slots=True)
class Pauses:
    """The pauses between calls about one consignment."""

    polling: BulkPolling
    unanswered_s: float = 0.0
    """Seconds that were waited since the provider last answered."""
    _next_s: float | None = None
    """None: no pause was made yet."""

    def after_answer(self) -> float:
        """Return the seconds until it is asked again."""
        self.unanswered_s = 0.0
        return self._longer()

    def after_failure(self, failure: Failure) -> float | None:
        """Return the seconds until the call is made again; None: it has been made long enough.

        The last call is made when patience ends, or when the provider said.
        """
        if failure.fatal or self.unanswered_s >= self.polling.patience_s:
            return None
        left_s = self.polling.patience_s - self.unanswered_s
        pause_s = min(self._longer(), left_s)
        pause_s = max(pause_s, failure.retry_after_s or 0.0)
        self.unanswered_s += pause_s
        return pause_s

    def given_up(self, failure: Failure) -> Failure:
        """Return a failure after which no further call is made, with for how long they were."""
        if failure.fatal:
            return failure
        told = f"{failure.message}; so it was for {self.unanswered_s:,.0f} s"
        return replace(failure, message=told)

    def _longer(self) -> float:
        before_s = self._next_s
        after_s = self.polling.first_s if before_s is None else self.polling.next_s(before_s)
        self._next_s = after_s
        return after_s
