"""A Python function as a target."""

import asyncio
import json
import os
import shlex
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Final

from tui_eval.model.attempt_record import (
    AttemptProgress,
    AttemptRecord,
    ProgramExit,
    ResourceFigures,
)
from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.output import Failure, Output
from tui_eval.processes.program import EndCause, ProgramLimits
from tui_eval.providers import keys
from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.function_source import code_digest, local_code
from tui_eval.suites.spec import PythonTargetSpec
from tui_eval.targets.attempt_context import AttemptContext
from tui_eval.targets.base import NothingToSendError, Target
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.python_function import interpreters
from tui_eval.targets.python_function.call_arguments import CallArguments
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


_SHOWN: Final = 16
"""Digits of the code's digest by which people, and a run that goes on, know it."""


class PythonTarget(Target):
    """Calls a function in workers; a crash, a hang or a flood of prints harms the one call."""

    def __init__(self, spec: PythonTargetSpec, context: BuildContext) -> None:
        """Make the target; nothing is started, and nothing of the function's code is run."""
        super().__init__(spec, context.renderer)
        self._spec = spec
        self._context = context
        file = context.suite.file
        self._folder = Path(file).parent if file is not None else Path.cwd()
        self._arguments = CallArguments(_as_json(spec), spec.name)
        named = spec.concurrency or fixed(context.suite.run.concurrency)
        self.default_concurrency = named or spec.workers or os.cpu_count() or 1
        self.most_concurrency = spec.workers or self.most_concurrency
        self._pool: FunctionPool | None = None

    def problem(self) -> str | None:
        """Say that the interpreter is not there, or that a key is not set."""
        try:
            self._interpreter()
            self._environment()
        except UnavailableError as error:
            return str(error)
        return None

    def identity(self) -> JsonObject:
        """Return the function, the code beside the suite that it is made of, the interpreter."""
        known: JsonObject = {
            "kind": self.kind,
            "callable": self._spec.callable,
            "code": self._code,
            "python": interpreters.known_as(self._spec.python),
            "env": dict(self._spec.env),
            "keys": [*sorted(self._spec.key_names)],
        }
        if self._spec.version is not None:
            known["version"] = self._spec.version
        return known

    @property
    def version(self) -> str | None:
        """What its code beside the suite is; None: there is none."""
        return None if self._code is None else f"code {self._code[:_SHOWN]}"

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return what the function is called with, by place or by name."""
        return self._arguments.request(self._renderer, column, case)

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
                f"target {self.name!r}: {self._spec.callable} could not be loaded{late}: "
                f"{refused.in_words()}"
            )

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Call the function once."""
        args, kwargs = request["args"], request["kwargs"]
        assert isinstance(args, list)
        assert isinstance(kwargs, dict)
        told = asyncio.get_running_loop().call_later(
            _TOLD_AFTER_S, attempt.progress, AttemptProgress("running")
        )
        try:
            came = await self._opened().call(args, kwargs, self._seconds(attempt), attempt.folder)
        finally:
            told.cancel()
        match came:
            case CallReply():
                return (
                    await asyncio.to_thread(reply_output, came, ISOLATION)
                    if came.large
                    else reply_output(came, ISOLATION)
                )
            case CallRefusal():
                record = AttemptRecord(isolation=ISOLATION, printed=kept_prints(came.printed))
                return Failure("unavailable", self._refusal(came), fatal=True, record=record)
            case WorkerEnd():
                return _ended(came)

    def as_command(self, column: Column, case: Case) -> str:
        """Return a command that makes the same call and prints what comes of it.

        Raises:
            NothingToSendError: what it is called with cannot be rendered.
        """
        request = self.request(column, case)
        if isinstance(request, Failure):
            raise NothingToSendError(request.message)
        module, _, function = self._spec.callable.partition(":")
        code = (
            "import sys, json, inspect, asyncio, importlib; "
            f"sys.path.insert(0, '.'); f = importlib.import_module('{module}').{function}; "
            "a = json.loads(sys.argv[1]); r = f(*a['args'], **a['kwargs']); "
            "exec('async def wait(): return await r'); "
            "print(asyncio.run(wait()) if inspect.isawaitable(r) else r)"
        )
        words = [self._spec.python or "python", "-c", code, json.dumps(request)]
        return f"cd {shlex.quote(str(self._folder))} && {shlex.join(words)}"

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

    @cached_property
    def _code(self) -> str | None:
        """What its code was when this was made."""
        return self._present_code()

    def _present_code(self) -> str | None:
        module = self._spec.callable.partition(":")[0]
        return code_digest(local_code(module, self._folder), self._folder)

    def _changed(self) -> bool:
        return self._present_code() != self._code

    def _seconds(self, attempt: AttemptContext) -> float:
        wall = self._spec.limits.wall
        return attempt.left_s if wall is None else min(wall, attempt.left_s)

    def _opened(self) -> FunctionPool:
        if self._pool is None:
            processes = self._context.processes
            assert processes is not None, "functions are called by engines alone"
            self._pool = FunctionPool(processes, self._function(), self._changed)
        return self._pool

    def _function(self) -> CalledFunction:
        module, _, function = self._spec.callable.partition(":")
        limits = self._spec.limits
        return CalledFunction(
            module=module,
            function=function,
            folder=self._folder,
            interpreter=self._interpreter(),
            env=self._environment(),
            positional=self._arguments.positional,
            keywords=self._arguments.keywords,
            limits=ProgramLimits(
                memory=limits.memory, processes=limits.processes, output=limits.output
            ),
        )

    def _interpreter(self) -> str:
        wanted = self._spec.python
        found = interpreters.interpreter(wanted, self._folder)
        if found is None:
            raise UnavailableError(
                f"target {self.name!r}: there is no interpreter {wanted}: mend `python`, or leave "
                "it out for tui-eval's own"
            )
        return found

    def _environment(self) -> dict[str, str]:
        needed_by = f"target {self.name!r}"
        handed = {name: keys.resolve(name, needed_by) for name in self._spec.key_names}
        return {**interpreters.environment(), **self._spec.env, **handed}

    def _refusal(self, refused: CallRefusal) -> str:
        field = {"args": "args", "python": "python"}.get(refused.what, "callable")
        return f"target {self.name!r}: {field}: {keys.redact(refused.message)}"


def _as_json(spec: PythonTargetSpec) -> Json:
    args: Json = spec.model_dump(mode="json", include={"args"})["args"]
    return args


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
