"""How many may be at something at once, where that number may change meanwhile."""

import asyncio
from collections import deque
from collections.abc import Callable
from types import TracebackType


class Turns:
    """A semaphore whose size may change: as a context, whoever is in it has a turn.

    Those who wait get theirs in their order. A greater size is noticed as the next one comes or
    leaves; of a smaller one nobody's turn is ended.
    """

    def __init__(self, most: Callable[[], int]) -> None:
        """Begin with nobody.

        Args:
            most: Gives how many may have a turn at once by now; one may, whatever it gives.
        """
        self._most = most
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        """Wait for a turn."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._hand_out()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave()  # it was given just then
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the turn to the next."""
        self._leave()

    def _leave(self) -> None:
        self._taken -= 1
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting and self._taken < max(1, self._most()):
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._taken += 1
                turn.set_result(None)
