"""JSON lines between an engine and a warden."""

import json
import os
import select
import socket
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

Message = dict[str, Any]

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), default=os.fspath)


def encode(message: Mapping[str, Any]) -> bytes:
    """Return a message as a line; paths in it may be no text."""
    return _ENCODER.encode(message).encode() + b"\n"


class LineAssembler:
    """Puts lines together from the pieces in which they come."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        """Give the messages that are whole by now."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            yield json.loads(line)


class WardenChannel:
    """A warden's end of the socket; it never blocks the warden."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.socket = connection
        self._reader = LineAssembler()
        self._ahead: list[Message] = []
        self._unsent = b""
        self._broken = False
        """Whether the engine has gone before it had taken all."""

    def receive(self) -> list[Message] | None:
        """Return the messages that have come; None where the engine has gone."""
        if self._ahead:
            ahead, self._ahead = self._ahead, []
            return ahead
        try:
            data = self.socket.recv(1 << 16)
            return list(self._reader.feed(data)) if data else None
        except BlockingIOError:
            return []
        except (ConnectionError, ValueError):
            return None

    def first(self) -> Message | None:
        """Wait for a message; None where the engine has gone."""
        while (messages := self.receive()) == []:
            _wait_for(self.socket, select.POLLIN, None)
        self._ahead = messages[1:] if messages else []
        return messages[0] if messages else None

    def send(self, message: Mapping[str, Any], droppable: bool = False) -> None:
        """Send a message, or as much as the engine takes now; drop one nobody has time for."""
        if not (droppable and self._unsent):
            self._unsent += encode(message)
            self._flush()

    def drain(self, seconds: float) -> bool:
        """Send the rest to an engine that takes it within the seconds; return whether it did."""
        ends = time.monotonic() + seconds
        while more := self._flush():
            if (left := ends - time.monotonic()) <= 0:
                break
            _wait_for(self.socket, select.POLLOUT, left)
        return not (more or self._broken)

    def _flush(self) -> bool:
        """Send what is taken; return whether there is more."""
        try:
            while self._unsent:
                self._unsent = self._unsent[self.socket.send(self._unsent) :]
        except BlockingIOError:
            return True
        except ConnectionError:
            self._unsent, self._broken = b"", True
        return False


def _wait_for(connection: socket.socket, event: int, seconds: float | None) -> None:
    poll = select.poll()
    poll.register(connection, event)
    poll.poll(None if seconds is None else seconds * 1000)
