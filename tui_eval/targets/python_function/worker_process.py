"""One process that calls a function, as the engine sees it."""

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tui_eval.isolated import function_worker
from tui_eval.model.json import JsonObject
from tui_eval.processes.program import (
    ERR,
    NotStarted,
    Program,
    ProgramEnding,
    ProgramLimits,
)
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes
from tui_eval.targets.attempt.attempt_context import PROGRAM
from tui_eval.targets.python_function.call_prints import CallPrints
from tui_eval.targets.python_function.message_lines import LARGE, MessageLines, WorkerLostError

SCRIPT: Final = Path(function_worker.__file__)
_MOST_CALLS: Final = 1_000
"""Calls after which a worker is replaced, so that no slow leak adds up."""
_GROWN: Final = 1 << 29
"""Bytes by which a worker may grow from its first call on before it is replaced."""


@dataclass(frozen=True)
class CalledFunction:
    """Which function is called, and how."""

    module: str
    function: str
    folder: Path
    """The suite's: where the module is looked for first, and the working folder."""
    interpreter: str
    env: dict[str, str]
    positional: int
    keywords: tuple[str, ...]
    limits: ProgramLimits
    path: tuple[str, ...] | None = None
    """Where modules are looked for; None: beside the suite, then where the interpreter does."""
    offered: bool = False
    """Whether it takes of the keywords those that it has, and need not take all."""


class FunctionProcess:
    """A worker that runs; one call at a time."""

    def __init__(self, running: RunningProgram, folder: Path, limits: ProgramLimits) -> None:
        assert running.talk is not None
        self._running = running
        self._messages = MessageLines(*running.talk)
        self._folder = folder
        self._calls = 0
        self._first_memory: int | None = None
        self.printed = CallPrints(folder / PROGRAM / ERR, limits.output // 2)
        self.worn = False
        """Whether it is to be replaced before the next call."""

    @classmethod
    async def start(
        cls, processes: Processes, function: CalledFunction, folder: Path
    ) -> "FunctionProcess | NotStarted":
        """Start a worker; what it prints goes below the folder, which is its alone.

        Raises:
            OSError: there cannot be a folder.
        """
        records = folder / PROGRAM
        records.mkdir(mode=0o700)
        program = Program(
            command=(function.interpreter, "-u", "-B", str(SCRIPT)),
            cwd=function.folder,
            env=function.env,
            folder=records,
            talk=True,
            limits=function.limits,
        )
        running = await processes.start(program)
        if isinstance(running, NotStarted):
            shutil.rmtree(folder, ignore_errors=True)
            return running
        return cls(running, folder, function.limits)

    async def load(self, function: CalledFunction) -> tuple[JsonObject | None, str]:
        """Have the function loaded; return why it cannot be called, and what was printed by that.

        Raises:
            WorkerLostError: it ended meanwhile.
        """
        call = secrets.token_hex(16)
        wanted: JsonObject = {
            "id": call,
            "folder": str(function.folder),
            "path": None if function.path is None else [*function.path],
            "module": function.module,
            "function": function.function,
            "positional": function.positional,
            "keywords": [*function.keywords],
            "offered": function.offered,
        }
        await self._messages.send({"load": wanted})
        reply = await self._messages.receive()
        refused = reply.get("refused")
        if not isinstance(refused, dict) and "loaded" not in reply:
            raise WorkerLostError
        printed = await self._printed(call)
        return refused if isinstance(refused, dict) else None, printed

    async def call(self, args: list[Any], kwargs: JsonObject) -> tuple[JsonObject, str, bool]:
        """Call the function; return what came of it, what it printed, and whether that is large.

        Raises:
            NotBegunError: the worker had ended before: nothing was called.
            WorkerLostError: it ended meanwhile.
        """
        call = secrets.token_hex(16)
        self._calls += 1
        try:
            await self._messages.send({"call": call, "args": args, "kwargs": kwargs})
            began = await self._messages.receive()
        except WorkerLostError as error:
            raise NotBegunError from error
        if began.get("began") != call:
            raise WorkerLostError
        reply = await self._messages.receive()
        if reply.get("call") != call or self._messages.has_more:
            raise WorkerLostError
        self._look_whether_worn(reply)
        return reply, await self._printed(call), self._messages.size >= LARGE

    async def end(self, grace: float | None = None) -> ProgramEnding:
        """End it and all that it started; return how it ended, once nothing of it is left."""
        self._running.cancel(grace)
        return await self._running.ended()

    async def ended(self) -> ProgramEnding:
        """Wait until it has ended by itself; return how."""
        return await self._running.ended()

    def kill(self, grace: float | None) -> None:
        """Ask for its end without waiting for it."""
        self._running.cancel(grace)

    def forget(self) -> None:
        """Remove what it left in its folder; it has ended."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _look_whether_worn(self, reply: JsonObject) -> None:
        peak = reply.get("peak")
        memory = peak if isinstance(peak, int) else 0
        if self._first_memory is None:
            self._first_memory = memory
        grown = memory - self._first_memory > _GROWN
        self.worn = self._calls >= _MOST_CALLS or grown or reply.get("intact") is not True

    async def _printed(self, call: str) -> str:
        text = await self.printed.of_call(call)
        if text is None:  # so much that the file begins to go round, or its descriptors are gone
            self.worn = True
            text = self.printed.of_ended((await self.end()).err)
            text = text.removesuffix(f"\n{call}\n")
        return text


class NotBegunError(WorkerLostError):
    """A worker had ended before the function was called."""
