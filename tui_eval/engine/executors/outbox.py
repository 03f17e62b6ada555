"""Puts messages together that are to be sent at about the same time."""

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from tui_eval.engine.executors.handful import HANDFUL

M = TypeVar("M")


class Outbox(Generic[M]):
    """Sends what is put into it at once where nothing was sent lately, else in handfuls.

    What each sending costs is the same for one message as for many: so there are few where there
    are many messages, and nobody waits where there are few.
    """

    def __init__(self, send: Callable[[list[M]], None], pause_s: Callable[[], float]) -> None:
        """Make one that is empty, for the running loop.

        Args:
            send: Sends messages; it does not wait.
            pause_s: Gives the seconds between two sendings, where no handful is together sooner.
        """
        self._send = send
        self._pause_s = pause_s
        self._messages: list[M] = []
        self._sent_at = 0.0
        self._due: asyncio.Handle | None = None

    def put(self, message: M) -> None:
        """Have a message sent, after all those before it."""
        self._messages.append(message)
        if len(self._messages) >= HANDFUL:
            self.flush()
        elif self._due is None:
            wait = self._sent_at + self._pause_s() - time.monotonic()
            loop = asyncio.get_running_loop()
            # not before the others that come in this turn of the loop are here too
            self._due = (
                loop.call_later(wait, self.flush) if wait > 0 else loop.call_soon(self.flush)
            )

    def flush(self) -> None:
        """Send what there is, now."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        messages, self._messages = self._messages, []
        if messages:
            self._sent_at = time.monotonic()
            self._send(messages)

    def drop(self) -> None:
        """Send nothing of what is left."""
        self._messages.clear()
        self.flush()
