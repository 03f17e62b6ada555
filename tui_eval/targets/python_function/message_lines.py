"""Messages of JSON, a line each, between the engine and whatever calls functions for it."""

import asyncio
import json
from contextlib import suppress
from typing import Any, Final

from tui_eval.isolated.function_worker import MOST_REPLY
from tui_eval.model.json import JsonObject

_CHUNK: Final = 1 << 16
LARGE: Final = 100_000
"""Bytes of a message from which on it is not read on the loop."""
_LINE: Final = MOST_REPLY + 1_000_000


class WorkerLostError(Exception):
    """A worker has ended, or says what none of ours says."""


class MessageLines:
    """Both directions of a socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take a socket that is open."""
        self._reader, self._writer = reader, writer
        self._rest = bytearray()
        self.size = 0
        """Bytes of the message that was received last."""

    @property
    def has_more(self) -> bool:
        """Whether something has come behind the message that was received last."""
        return bool(self._rest)

    async def send(self, message: JsonObject) -> None:
        """Send a message.

        Raises:
            WorkerLostError: nobody is there.
        """
        try:
            self._writer.write(json.dumps(message).encode() + b"\n")
            await self._writer.drain()
        except OSError as error:
            raise WorkerLostError from error

    async def receive(self) -> JsonObject:
        """Return the next message.

        Raises:
            WorkerLostError: nobody is there, or it is none.
        """
        end = self._rest.find(b"\n")
        while end < 0:
            data = b""
            with suppress(OSError):
                data = await self._reader.read(_CHUNK)
            if not data or len(self._rest) > _LINE:
                raise WorkerLostError
            place = len(self._rest)
            self._rest += data
            end = self._rest.find(b"\n", place)
        self.size = end
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        try:
            message = await _parsed(line)
        except (ValueError, RecursionError) as error:
            raise WorkerLostError from error
        if not isinstance(message, dict):
            raise WorkerLostError
        return message

    def close(self) -> None:
        """Let go of the socket."""
        self._writer.close()


async def _parsed(line: bytes) -> Any:  # noqa: ANN401 - whatever JSON it is
    # the loop has calls in flight: what is large is read beside it
    return json.loads(line) if len(line) < LARGE else await asyncio.to_thread(json.loads, line)
