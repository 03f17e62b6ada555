"""How often a provider is asked how far a consignment is."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

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
    wait: Wait = _wait
    """Lets the time pass; a test's own need not."""

    def next_s(self, seconds: float) -> float:
        """Return the pause after one of so many seconds."""
        return min(self.most_s, seconds * _GROWTH)
