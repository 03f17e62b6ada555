"""An engine's end of its zygote."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tui_eval
from tui_eval.processes.channel import LineAssembler
from tui_eval.processes.platform_support import LINUX
from tui_eval.processes.wardens.zygote import REQUEST

_RUN: Final = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from tui_eval.processes.wardens.zygote import main; main(int(sys.argv[2]))"
)
_PASSED_ON: Final = ("LD_LIBRARY_PATH",)
"""Of the environment, what Python itself may need to start; there may be keys in the rest."""
_LOOK_S: Final = 1.0
"""Between two looks whether somebody has stopped it."""


@dataclass(frozen=True)
class WardenGone:
    """Nothing of a warden is left, nor of what it watched; or the zygote itself has gone."""

    concluded: bool = False
    """Whether it had done its work: the ending in its program's folder is its own."""
    refused: str | None = None
    """Why there never was one."""


class ZygoteClient:
    """A zygote that was started; it ends once this end is closed and no warden is left."""

    def __init__(self) -> None:
        """Start it; to be called on an event loop.

        Raises:
            OSError: no process can be started.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            root = Path(tui_eval.__file__).parents[1]
            try:
                self._process = subprocess.Popen(  # noqa: S603 - this very Python
                    [sys.executable, "-I", "-S", "-c", _RUN, str(root), str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,  # Ctrl+C is for the engine
                )
            except OSError:
                ours.close()
                raise
        ours.setblocking(False)
        self._socket = ours
        self._number = 0
        self._wardens: dict[int, asyncio.Future[WardenGone]] = {}
        self._listening = asyncio.create_task(self._listen(), name="zygote")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended, as far as is known."""
        return not self._listening.done()

    async def fork(self, sockets: Sequence[socket.socket]) -> asyncio.Future[WardenGone]:
        """Have a warden forked that gets the sockets.

        The future that is returned is done once nothing of the warden is left: it has ended, and
        where it was killed, all that it watched; or the zygote itself has gone.

        Raises:
            ConnectionError: the zygote has gone.
        """
        self._number += 1
        number = self._number
        gone = asyncio.get_running_loop().create_future()
        self._wardens[number] = gone
        request = number.to_bytes(REQUEST, "little")
        descriptors = [one.fileno() for one in sockets]
        try:
            while True:
                try:
                    socket.send_fds(self._socket, [request], descriptors)
                except BlockingIOError:
                    await _writable(self._socket)
                else:
                    return gone
        except BaseException:
            self._wardens.pop(number, None)
            raise

    async def close(self) -> None:
        """Let it end, and wait until it has: which is when its wardens have."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        await self._listening

    async def _listen(self) -> None:
        loop = asyncio.get_running_loop()
        reader = LineAssembler()
        self._keep_going()
        try:
            with suppress(ConnectionError):
                while data := await loop.sock_recv(self._socket, 1 << 12):
                    for message in reader.feed(data):
                        self._resolve(message.pop("gone"), WardenGone(**message))
        finally:
            self._socket.close()
            for number in list(self._wardens):
                self._resolve(number, WardenGone())
        try:
            await asyncio.to_thread(self._process.wait)
        finally:
            self._looking.cancel()

    def _keep_going(self) -> None:
        """Continue it where somebody has stopped it: nothing starts or is ended meanwhile."""
        if LINUX:
            with suppress(ChildProcessError):  # it has ended
                if os.waitid(os.P_PID, self.pid, os.WSTOPPED | os.WNOHANG) is not None:
                    os.kill(self.pid, signal.SIGCONT)
        self._looking = asyncio.get_running_loop().call_later(_LOOK_S, self._keep_going)

    def _resolve(self, number: int, how: WardenGone) -> None:
        gone = self._wardens.pop(number, None)
        if gone is not None and not gone.done():
            gone.set_result(how)


async def _writable(connection: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(connection, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(connection)
