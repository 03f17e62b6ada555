"""The workers of one function: taken for a call, kept between calls, replaced when worn or lost."""

import asyncio
import signal
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from tui_eval.model.json import JsonObject
from tui_eval.processes.program import EndCause, NotStarted, ProgramEnding
from tui_eval.processes.supervisor import Processes
from tui_eval.targets.python_function.message_lines import WorkerLostError
from tui_eval.targets.python_function.worker_process import (
    CalledFunction,
    FunctionProcess,
    NotBegunError,
)

T = TypeVar("T")

_CHANGED: Final = (
    "its code has changed since the run began, and results of two codes would be one run's: start "
    "a new run, which reuses what is unchanged"
)

_ENDS_S: Final = 1.0
"""Seconds in which a worker ends by itself whose socket is closed, before it is ended."""
_TRIES: Final = 3
"""Workers that are taken for one call, where each had ended before it began."""


@dataclass(frozen=True)
class CallReply:
    """What came of a call."""

    reply: JsonObject
    printed: str
    large: bool
    """Whether it is too large to be looked at on the loop."""


@dataclass(frozen=True)
class CallRefusal:
    """The function cannot be called at all."""

    what: str
    """`module`, `function`, `args`, or `python` where no worker starts."""
    message: str
    printed: str = ""


@dataclass(frozen=True)
class WorkerEnd:
    """The worker ended with the call, or was ended."""

    ending: ProgramEnding | None
    """None: there was none yet."""
    printed: str
    timed_out: bool = False

    def in_words(self) -> str:
        """Say how it ended."""
        ended = self.ending
        if ended is None:
            return "no process was ready in time"
        if ended.cause is EndCause.CANCELLED:
            return "its process closed its socket, or wrote to it what is no reply"
        if ended.cause is EndCause.LIMIT:
            return f"its process was ended at its limit of {ended.limit}"
        if ended.signal is not None:
            name = signal.strsignal(ended.signal) or "unknown"
            oom = ": the machine ran out of memory" if ended.oom else ""
            return f"its process was ended by signal {ended.signal} ({name}){oom}"
        if ended.exit_code is not None:
            return f"its process ended with exit code {ended.exit_code}"
        return "its process was lost"


class FunctionPool:
    """At most as many workers as calls are made at the same time; each makes one at a time.

    Whoever is cancelled in a call has its worker killed: nobody waits for what it still does.
    """

    def __init__(
        self, processes: Processes, function: CalledFunction, changed: Callable[[], bool]
    ) -> None:
        """Make a pool; nothing is started yet.

        Args:
            processes: Runs the workers.
            function: What they call.
            changed: Says whether the function's code is no longer what it was; blocking.
        """
        self._processes = processes
        self._function = function
        self._changed = changed
        self._idle: list[FunctionProcess] = []
        self._ending: set[asyncio.Task[None]] = set()

    async def check(self, timeout_s: float) -> CallRefusal | WorkerEnd | None:
        """Have the function loaded by a worker, which is ended; return why it cannot be called."""
        with tempfile.TemporaryDirectory(prefix="tui-eval-", ignore_cleanup_errors=True) as folder:
            found = await self._in_time(partial(self._started, lambda: Path(folder)), timeout_s)
            if not isinstance(found, FunctionProcess):
                return found
            await self._retire(found)
            return None

    async def call(
        self, args: list[Any], kwargs: JsonObject, timeout_s: float, folder: Callable[[], Path]
    ) -> CallReply | CallRefusal | WorkerEnd:
        """Call the function in a worker; return what came of it.

        Args:
            args: By place.
            kwargs: By name.
            timeout_s: Seconds it may take.
            folder: Makes the folder for a worker that is started for it; removed with that worker.
        """
        return await self._in_time(partial(self._called, args, kwargs, folder), timeout_s)

    async def close(self) -> None:
        """End all workers, and wait until nothing of them is left."""
        idle, self._idle = self._idle, []
        for worker in idle:
            self._retire(worker)
        await asyncio.gather(*self._ending)

    async def _in_time(
        self, work: Callable[["_Use"], Awaitable[T]], timeout_s: float
    ) -> T | WorkerEnd:
        """Return what comes of work with a worker, or how that ended."""
        use = _Use()
        try:
            async with asyncio.timeout(timeout_s) as time:
                return await work(use)
        except TimeoutError:
            if not time.expired():
                raise
            return await self._over(use, timed_out=True)
        except WorkerLostError:
            return await self._over(use)
        except BaseException:
            if use.worker is not None:
                self._retire(use.worker)
            raise

    async def _called(
        self, args: list[Any], kwargs: JsonObject, folder: Callable[[], Path], use: "_Use"
    ) -> CallReply | CallRefusal:
        for _ in range(_TRIES):
            worker = self._idle.pop() if self._idle else await self._started(folder, use)
            if isinstance(worker, CallRefusal):
                return worker
            use.worker = worker
            try:
                reply, printed, large = await worker.call(args, kwargs)
            except NotBegunError:
                await self._retire(worker)  # the next one may get the same folder
                continue
            use.worker = None
            if worker.worn:
                self._retire(worker)
            else:
                self._idle.append(worker)
            return CallReply(reply, printed, large)
        return CallRefusal("python", f"{_TRIES} workers have ended before they were called")

    async def _started(
        self, made: Callable[[], Path], use: "_Use"
    ) -> FunctionProcess | CallRefusal:
        if await asyncio.to_thread(self._changed):
            return CallRefusal("module", _CHANGED)
        try:
            worker = await FunctionProcess.start(self._processes, self._function, made())
        except OSError as error:
            why = error.strerror or str(error)
            return CallRefusal("python", f"there can be no folder for its process: {why}")
        if isinstance(worker, NotStarted):
            return CallRefusal("python", worker.reason)
        use.worker = worker
        refused, printed = await worker.load(self._function)
        use.worker = None
        if refused is None:
            return worker
        self._retire(worker)
        trace = str(refused.get("traceback") or "")
        return CallRefusal(str(refused["what"]), str(refused["message"]), printed + trace)

    async def _over(self, use: "_Use", *, timed_out: bool = False) -> WorkerEnd:
        """Wait until a worker has ended; by itself if it does at once, else it is ended."""
        worker = use.worker
        if worker is None:
            return WorkerEnd(None, "", timed_out)  # no process could be started in time
        if timed_out:
            worker.kill(None)
        try:
            async with asyncio.timeout(_ENDS_S):
                ending = await worker.ended()
        except TimeoutError:  # which has asked for its end
            ending = await worker.ended()
        printed = worker.printed.of_ended(ending.err)
        worker.forget()
        return WorkerEnd(ending, printed, timed_out)

    def _retire(self, worker: FunctionProcess) -> asyncio.Task[None]:
        """Have a worker ended and its folder removed; return the task that does it."""

        async def end() -> None:
            await worker.end(0.0)
            worker.forget()

        task = asyncio.create_task(end(), name="ending worker")
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task


@dataclass(slots=True)
class _Use:
    """Which worker is at work, for whoever has to end it."""

    worker: FunctionProcess | None = None
