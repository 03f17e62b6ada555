"""A warden's link to whichever engine there is: the one that started it, or one that came later."""

import os
import socket
import struct
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tui_eval.processes.channel import Message, WardenChannel
from tui_eval.processes.records import CONTROL
from tui_eval.processes.wardens.process_tree import is_descendant


class EngineLink:
    """One engine at a time; a further one is taken on where the former has gone.

    This process's working folder is the program's: so a socket's name in it fits into an address,
    however long the folder's own name is.
    """

    def __init__(self, channel: WardenChannel) -> None:
        self._channel: WardenChannel | None = channel
        self._listener: socket.socket | None = None

    @property
    def connection(self) -> socket.socket | None:
        """The socket of the engine that there is."""
        return None if self._channel is None else self._channel.socket

    def receive(self) -> list[Message] | None:
        """Return what the engine has said since; None where it has gone."""
        messages = None if self._channel is None else self._channel.receive()
        if messages is None and self._channel is not None:
            self._channel.socket.close()
            self._channel = None
        return messages

    def listen(self) -> int | None:
        """Begin to listen for a later engine; return the descriptor to watch, the first time.

        Where that cannot be had (a full disk, something else of that name), there is none, and a
        later engine finds the ending alone.
        """
        if self._listener is not None:
            return None
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.setblocking(False)
        with suppress(OSError):
            os.unlink(CONTROL)
        try:
            self._listener.bind(CONTROL)
            self._listener.listen()
        except OSError:
            return None
        return self._listener.fileno()

    def accept(self) -> bool:
        """Take on an engine that connects; return whether it was.

        Refused are a second engine beside one that is there, and the program's own processes.
        """
        assert self._listener is not None
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return False
        if self._channel is not None or is_descendant(_peer(connection), os.getpid()):
            connection.close()
            return False
        self._channel = WardenChannel(connection)
        return True

    def send(self, message: Mapping[str, Any], droppable: bool = False) -> None:
        """Tell the engine, where there is one."""
        if self._channel is not None:
            self._channel.send(message, droppable)

    def close(self, seconds: float) -> bool:
        """Send what is unsent, to an engine that reads it within the seconds, and close all.

        Returns:
            Whether an engine has been sent all that there was.
        """
        sent = False
        if self._channel is not None:
            sent = self._channel.drain(seconds)
            self._channel.socket.close()
        if self._listener is not None:
            self._listener.close()
            with suppress(OSError):
                os.unlink(CONTROL)
        return sent


def _peer(connection: socket.socket) -> int:
    """Return the process id of who connected; 0 where the system does not say."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return 0
    size = struct.calcsize("3i")
    return int(struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, size))[0])
