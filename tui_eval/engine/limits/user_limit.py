"""How many calls to the simulated user are made at once."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tui_eval.engine.limits.call_permit import CallPermit, call_permit
from tui_eval.engine.limits.limiter import Limiter


class UserLimit:
    """Lets conversations wait for the simulated user, whose limit is its own as a judge's is."""

    def __init__(self, name: str, limiter: Limiter) -> None:
        """Begin with nobody waiting.

        Args:
            name: Who pays for the calls, in caps.
            limiter: Bounds them.
        """
        self.name = name
        self.limiter = limiter
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def call(self) -> AsyncIterator[CallPermit]:
        """Wait until a call may leave, and count it until the block ends."""
        while not self.limiter.may_start(now := time.monotonic()):
            again_at = self.limiter.again_at(now)
            timeout = None if again_at is None else max(0.0, again_at - now)
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._changed.wait()
        try:
            with call_permit(self.limiter) as permit:
                yield permit
        finally:
            self.staff()

    def staff(self) -> None:
        """Have those that wait look whether a call may leave now."""
        self._changed.set()
        self._changed = asyncio.Event()
