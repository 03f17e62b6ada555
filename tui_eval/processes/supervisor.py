"""Start programs, each with a warden, and leave none behind."""

import asyncio
import os
import socket
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tui_eval.processes.capture import is_captured
from tui_eval.processes.channel import encode
from tui_eval.processes.platform_support import LINUX, forbid_inspection
from tui_eval.processes.program import OUT, NotStarted, Program, ProgramEnding, StartFailure
from tui_eval.processes.records import CONTROL
from tui_eval.processes.running import RunningProgram, Talk, lost_ending, written_ending
from tui_eval.processes.zygote_client import ZygoteClient

_AGAIN_S: Final = 0.05


class Processes:
    """All programs of an engine; as a context, which ends those that still run when it is left.

    One loop's alone. From the first start on, this process's memory and environment are closed to
    other processes of its user: the programs that it starts are such.
    """

    def __init__(self) -> None:
        self._zygote: ZygoteClient | None = None
        self._followed: set[RunningProgram] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def zygote_pid(self) -> int | None:
        """The process id of the zygote, where there is one."""
        return None if self._zygote is None else self._zygote.pid

    async def start(self, program: Program) -> RunningProgram | NotStarted:
        """Start a program; return it, or why it did not start.

        Whoever is cancelled here waits until nothing of it is left.
        """
        try:
            running = await self._warden(program)
        except OSError as error:
            return NotStarted(
                StartFailure.OTHER, f"no process can be started: {error.strerror or error}"
            )
        try:
            loop = asyncio.get_running_loop()
            with suppress(OSError):  # where the warden has gone, that is told by what follows it
                await loop.sock_sendall(running.connection, encode({"program": program.as_json()}))
            return await running.started()
        except asyncio.CancelledError:
            running.cancel()
            await running.followed()
            raise

    async def adopt(self, folder: Path) -> RunningProgram | ProgramEnding | None:
        """Take over a program that an engine which has gone had started.

        Args:
            folder: The program's, as `Program.folder` was.

        Returns:
            Its ending where it has ended; the program where it still runs, or is being ended; None
            where none was ever started there.
        """
        while (ending := written_ending(folder)) is None:
            connection = await _connected(folder)
            if connection is None:
                if not has_warden(folder):
                    break
                await asyncio.sleep(_AGAIN_S)  # its former engine is there, or has just gone
                continue
            running = self._follow(RunningProgram(connection, folder, "unknown"))
            started = await running.started()
            if isinstance(started, RunningProgram):
                return started
            await asyncio.sleep(_AGAIN_S)  # it had just ended, or another engine has it
        return ending or written_ending(folder) or _lost(folder)

    async def close(self, grace: float | None = None) -> None:
        """End all that still runs, in its grace or a shorter one; wait until nothing is left."""
        for running in list(self._followed):
            running.cancel(grace)
        await asyncio.gather(*(running.followed() for running in list(self._followed)))
        zygote, self._zygote = self._zygote, None
        if zygote is not None:
            await zygote.close()

    async def _warden(self, program: Program) -> RunningProgram:
        zygote = self._living_zygote()
        ours, theirs = socket.socketpair()
        talk: Talk | None = None
        sockets = [theirs]
        try:
            if program.talk:
                talk_ours, talk_theirs = socket.socketpair()
                sockets.append(talk_theirs)
                talk = await asyncio.open_connection(sock=talk_ours)
            gone = await zygote.fork(sockets)
        except BaseException:
            ours.close()
            if talk is not None:
                talk[1].close()
            raise
        finally:
            for one in sockets:
                one.close()
        ours.setblocking(False)
        level = program.sandbox.level
        return self._follow(RunningProgram(ours, program.folder, level, gone, talk))

    def _living_zygote(self) -> ZygoteClient:
        if self._zygote is not None and not self._zygote.alive:
            self._zygote = None  # it was killed; its wardens end what they watch
        if self._zygote is None:
            forbid_inspection()
            self._zygote = ZygoteClient()
        return self._zygote

    def _follow(self, running: RunningProgram) -> RunningProgram:
        self._followed.add(running)
        running.when_followed(self._followed.discard)
        return running


def has_warden(folder: Path) -> bool:
    """Return whether a warden works in a program's folder."""
    return is_captured(folder / OUT)


async def _connected(folder: Path) -> socket.socket | None:
    """Connect to the warden of a folder; None where none listens there."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
    # an address has room for a hundred characters; a folder's path may be longer
    address = f"/proc/self/fd/{descriptor}/{CONTROL}" if LINUX else str(folder / CONTROL)
    connection = socket.socket(socket.AF_UNIX)
    connection.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(connection, address)
    except OSError:
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    return connection


def _lost(folder: Path) -> ProgramEnding | None:
    try:
        began = (folder / OUT).stat().st_mtime
    except OSError:
        return None
    return lost_ending(folder, began, "unknown", [])
