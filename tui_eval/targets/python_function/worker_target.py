"""What targets have in common that are called in workers."""

import asyncio
import os
from abc import abstractmethod
from types import TracebackType
from typing import Any, Final

from tui_eval.isolated.one_call import minimal_environment
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.attempt_record import (
    AttemptProgress,
    AttemptRecord,
    ProgramExit,
    ResourceFigures,
)
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.program import EndCause, ProgramLimits
from tui_eval.providers import keys
from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.spec.targets.python import WorkerTargetSpec
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.python_function.function_pool import (
    CallRefusal,
    CallReply,
    FunctionPool,
    WorkerEnd,
)
from tui_eval.targets.python_function.reply_output import ISOLATION, kept_prints, reply_output
from tui_eval.targets.python_function.worker_process import CalledFunction

_TOLD_AFTER_S: Final = 1.0
"""Seconds a call takes before it is told that it runs."""


class WorkerTarget(Target):
    """Is called in workers; a crash, a hang or a flood of prints harms the one call."""

    def __init__(self, spec: WorkerTargetSpec, context: BuildContext, called: str) -> None:
        """Make the target; nothing is started, and none of its code is run.

        Args:
            spec: What the suite says of it.
            context: The suite around it.
            called: What is called, for people.
        """
        super().__init__(spec, context.renderer)
        self._limited = spec
        self._context = context
        self._called = called
        named = spec.concurrency or fixed(context.suite.run.concurrency)
        self.default_concurrency = named or spec.workers or os.cpu_count() or 1
        self.most_concurrency = spec.workers or self.most_concurrency
        self._pool: FunctionPool | None = None

    async def prepare(self) -> None:
        """Have a first worker load the function, before anything is staged.

        Raises:
            UnavailableError: it cannot be called, saying why.
        """
        refused = await self._opened().check(self._context.suite.run.timeout)
        if isinstance(refused, CallRefusal):
            raise UnavailableError(self._refusal(refused))
        if refused is not None:
            late = f" within {self._context.suite.run.timeout:g} s" if refused.timed_out else ""
            raise UnavailableError(
                f"target {self.name!r}: {self._called} could not be loaded{late}: "
                f"{refused.in_words()}"
            )

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Call the function once."""
        seconds = self._seconds(attempt)
        args, kwargs = self._arguments_of(request, seconds)
        told = asyncio.get_running_loop().call_later(
            _TOLD_AFTER_S, attempt.progress, AttemptProgress("running")
        )
        try:
            came = await self._opened().call(args, kwargs, seconds, attempt.folder)
        finally:
            told.cancel()
        match came:
            case CallReply():
                return await asyncio.to_thread(self._read, came) if came.large else self._read(came)
            case CallRefusal():
                record = AttemptRecord(isolation=ISOLATION, printed=kept_prints(came.printed))
                return Failure("unavailable", self._refusal(came), fatal=True, record=record)
            case WorkerEnd():
                return _ended(came)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the workers."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    def _seconds(self, attempt: AttemptContext) -> float:
        wall = self._limited.limits.wall
        return attempt.left_s if wall is None else min(wall, attempt.left_s)

    def _opened(self) -> FunctionPool:
        if self._pool is None:
            processes = self._context.processes
            assert processes is not None, "functions are called by engines alone"
            self._pool = FunctionPool(processes, self._function(), self._changed)
        return self._pool

    @abstractmethod
    def _function(self) -> CalledFunction:
        """Return what workers call.

        Raises:
            UnavailableError: it cannot be called, saying why.
        """

    @abstractmethod
    def _changed(self) -> bool:
        """Return whether its code is no longer what it was; blocking."""

    def _arguments_of(self, request: JsonObject, _seconds: float) -> tuple[list[Any], JsonObject]:
        """Return what a request is called with, by place and by name."""
        args, kwargs = request["args"], request["kwargs"]
        assert isinstance(args, list)
        assert isinstance(kwargs, dict)
        return args, kwargs

    def _read(self, came: CallReply) -> Output | Failure:
        """Return what came of a call."""
        return reply_output(came, ISOLATION)

    def _limits(self) -> ProgramLimits:
        limits = self._limited.limits
        return ProgramLimits(memory=limits.memory, processes=limits.processes, output=limits.output)

    def _environment(self) -> dict[str, str]:
        """Return the environment of workers.

        Raises:
            UnavailableError: a key is not set.
        """
        needed_by = f"target {self.name!r}"
        handed = {name: keys.resolve(name, needed_by) for name in self._limited.key_names}
        return {**minimal_environment(), **handed}

    def _refusal(self, refused: CallRefusal) -> str:
        return f"target {self.name!r}: {keys.redact(refused.message)}"


def _ended(came: WorkerEnd) -> Output | Failure:
    """Return what a call is that ended with its worker: cut short by a limit, or a failure."""
    ending = came.ending
    record = AttemptRecord(isolation=ISOLATION, printed=kept_prints(came.printed))
    if ending is not None:
        took = ending.resources
        own_end = not came.timed_out and ending.cause is EndCause.EXITED
        record = AttemptRecord(
            exit=ProgramExit(ending.exit_code, ending.signal) if own_end else None,
            isolation=ISOLATION,
            resources=ResourceFigures(
                peak_rss_bytes=took.peak_memory, peak_processes=took.peak_processes
            ),
            printed=record.printed,
        )
    limit = "wall" if came.timed_out else None if ending is None else ending.limit
    if limit is not None:
        return Output(None, finish_reason=f"limit:{limit}", record=record)
    passes = ending is not None and ending.oom
    return Failure("exit", f"{came.in_words()} in the call", retryable=passes, record=record)
