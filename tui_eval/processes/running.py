"""A program that runs, as the engine sees it."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tui_eval.processes.capture import surviving_stream
from tui_eval.processes.channel import LineAssembler, Message, encode
from tui_eval.processes.program import (
    ERR,
    OUT,
    EndCause,
    NotStarted,
    ProgramEnding,
    ResourceSample,
    ResourceUse,
    StartFailure,
)
from tui_eval.processes.records import read_ending
from tui_eval.processes.thinning import Thinned
from tui_eval.processes.zygote_client import WardenGone

Talk = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class RunningProgram:
    """A program with its warden; as a context, it ends with the block.

    One task follows it, from the start to the end. Whoever waits for the end and is cancelled has
    the tree ended; the ending is then what `ended` gives when it is awaited again.
    """

    def __init__(
        self,
        connection: socket.socket,
        folder: Path,
        isolation: str,
        gone: asyncio.Future[WardenGone] | None = None,
        talk: Talk | None = None,
    ) -> None:
        """Begin to follow a warden; to be called on an event loop.

        Args:
            connection: To the warden.
            folder: The program's.
            isolation: The level, for an ending that the warden cannot write any more.
            gone: Done when nothing of the warden is left; None: another engine has started it.
            talk: To the program itself.
        """
        self.folder = folder
        self.talk = talk
        """The program's stdout and stdin, where that was asked for."""
        self.latest: ResourceSample | None = None
        """The newest sample."""
        self.pid: int | None = None
        self.started_at = time.time()
        """The time of day."""
        self.connection = connection
        """To its warden."""
        self._isolation = isolation
        self._gone = gone
        self._samples: Thinned[ResourceSample] = Thinned()
        self._not_started: NotStarted | None = None
        self._ending: ProgramEnding | None = None
        self._left = False
        self._changed = asyncio.Event()
        self._following = asyncio.create_task(self._follow(), name=f"program in {folder.name}")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cancel()
        await self.ended()

    async def started(self) -> Self | NotStarted:
        """Wait until it has started; return itself, or why it has not."""
        while self.pid is None and not self._following.done():
            await self._changed.wait()
        if self.pid is not None:
            return self
        await self._following
        assert self._not_started is not None, "what neither runs nor was refused was killed"
        return self._not_started

    async def samples(self) -> AsyncIterator[ResourceSample]:
        """Give the newest sample whenever there is one, until the program has ended."""
        seen: ResourceSample | None = None
        while True:
            changed = self._changed
            if self.latest is not None and self.latest is not seen:
                seen = self.latest
                yield seen
            elif self._following.done():
                return
            else:
                await changed.wait()

    def cancel(self, grace: float | None = None) -> None:
        """Ask for the end of its tree, in the program's grace or a shorter one."""
        with suppress(OSError):
            self.connection.send(encode({"end": grace}))

    def leave(self) -> None:
        """Hang up, as an engine does that ends: `Program.orphans` says what becomes of it.

        `ended` is not to be awaited any more.
        """
        self._left = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    async def ended(self) -> ProgramEnding:
        """Wait until nothing of it is left; return how it ended.

        Whoever is cancelled here has its end asked for.
        """
        try:
            await asyncio.shield(self._following)
        except asyncio.CancelledError:
            self.cancel()
            raise
        assert self._ending is not None, "it has not started, or was left"
        return self._ending

    async def followed(self) -> None:
        """Wait until there is nothing more to follow, whether it had started or not."""
        await asyncio.shield(self._following)

    def when_followed(self, call: Callable[[Self], object]) -> None:
        """Have something called once there is nothing more to follow."""
        self._following.add_done_callback(lambda _: call(self))

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        reader = LineAssembler()
        try:
            with suppress(ConnectionError):
                while data := await loop.sock_recv(self.connection, 1 << 16):
                    for message in reader.feed(data):
                        self._take(message)
            if not self._left:
                self._conclude(WardenGone(True) if self._gone is None else await self._gone)
        finally:
            self.connection.close()
            if self.talk is not None:
                self.talk[1].close()
            self._change()

    def _conclude(self, gone: WardenGone) -> None:
        """Say what came of it where its warden had no time to, or nobody who listened."""
        if self.pid is None:
            refused = "its supervising process was killed before it started"
            if gone.refused is not None:
                refused = f"no process can be started: {gone.refused}"
            self._not_started = self._not_started or NotStarted(StartFailure.OTHER, refused)
        elif self._ending is None:
            # of a warden that was killed, what stands in the folder may be anybody's
            written = written_ending(self.folder) if gone.concluded else None
            self._ending = written or lost_ending(
                self.folder, self.started_at, self._isolation, self._samples.kept
            )

    def _take(self, message: Message) -> None:
        if "sample" in message:
            self.latest = ResourceSample(**message["sample"])
            self._samples.add(self.latest)
        elif "started" in message:
            self.pid = message["started"]["pid"]
            self.started_at = message["started"]["at"]
        elif "not_started" in message:
            told = message["not_started"]
            self._not_started = NotStarted(StartFailure(told["failure"]), told["reason"])
        elif "ended" in message:
            self._ending = ProgramEnding.from_json(message["ended"])
        self._change()

    def _change(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def written_ending(folder: Path) -> ProgramEnding | None:
    """Return the ending that a warden has written; None where there is none that can be read."""
    try:
        return read_ending(folder)
    except (OSError, ValueError):
        return None


def lost_ending(
    folder: Path, started_at: float, isolation: str, samples: list[ResourceSample]
) -> ProgramEnding:
    """Return what is known of a program whose warden was killed."""
    out, err = surviving_stream(folder / OUT), surviving_stream(folder / ERR)
    last = samples[-1] if samples else ResourceSample(0.0, 0.0, None, None, None, 0)
    return ProgramEnding(
        cause=EndCause.LOST,
        limit=None,
        exit_code=None,
        signal=None,
        started_at=started_at,
        ended_at=time.time(),
        resources=ResourceUse(
            wall_s=last.at,
            cpu_s=last.cpu_s,
            peak_memory=max((one.memory for one in samples if one.memory), default=None),
            peak_processes=max((one.processes for one in samples if one.processes), default=None),
            disk=last.disk,
            output=out.size + err.size,
        ),
        out=out,
        err=err,
        samples=tuple(samples),
        isolation=isolation,
    )
