"""Puts messages together that are to be sent at about the same time."""

import asyncio
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from tui_eval.engine.executors.handful import HANDFUL, HANDFUL_BYTES, Order, Return, packed

M = TypeVar("M", Order, Return)


class Outbox(Generic[M]):
    """Sends what is put into it at once where nothing was sent lately, else in handfuls.

    What each sending costs is the same for one message as for many: so there are few where there
    are many messages, and nobody waits where there are few, or for long ones.
    """

    def __init__(self, send: Callable[[bytes], None], pause_s: Callable[[], float]) -> None:
        """Make one that is empty, for the running loop.

        Args:
            send: Sends a handful; it does not wait.
            pause_s: Gives the seconds between two sendings, where no handful is together sooner.
        """
        self._send = send
        self._pause_s = pause_s
        self._messages: list[bytes] = []
        self._size = 0
        """Bytes of them."""
        self._sent_at = 0.0
        self._due: asyncio.Handle | None = None

    def put(self, message: M) -> None:
        """Have a message sent, after all those before it."""
        data = packed(message)
        if self._messages and self._size + len(data) > HANDFUL_BYTES:
            self.flush()
        self._messages.append(data)
        self._size += len(data)
        if len(self._messages) >= HANDFUL or self._size >= HANDFUL_BYTES:
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
        messages = self._messages
        self.drop()
        if messages:
            self._sent_at = time.monotonic()
            self._send(b"".join(messages))

    def drop(self) -> None:
        """Send nothing of what is left."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._messages, self._size = [], 0
