"""Runs a program that decides something, in a folder of its own that goes with it."""

import asyncio
import errno
import itertools
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, ParamSpec, TypeVar

from tui_eval.engine.grading.grader import GradingError, GradingMeans
from tui_eval.model.json import JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.processes.isolation.choice import choose
from tui_eval.processes.isolation.execution import CannotStartError, find_executable
from tui_eval.processes.program import (
    OUT,
    EndCause,
    NotStarted,
    Program,
    ProgramEnding,
    ProgramLimits,
    Sandbox,
    StartFailure,
)
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.targets.command import printed
from tui_eval.targets.command.level_choice import base_environment
from tui_eval.targets.command.trial_folder import TrialFolder

P = ParamSpec("P")
T = TypeVar("T")

_PREFIX: Final = "grading"
_OUTPUT: Final = 1_000_000
"""Bytes that are kept of what a program prints: a reply has no more."""
_GRACE_S: Final = 0.5
_numbers = itertools.count()


def grading_prefix(run: int) -> str:
    """Return what the names of folders begin with in which programs decide about a run."""
    return f"{_PREFIX}-{run}-"


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """A program that has ended by itself."""

    folder: TrialFolder
    ending: ProgramEnding

    @property
    def last_lines(self) -> str:
        """The last lines that it printed, its errors first."""
        return printed.last_lines(self.folder.program, self.ending)

    def reply(self) -> str:
        """Return what it printed on its standard output. Blocking.

        Raises:
            GradingError: it ended with an error, or printed more than a reply.
        """
        if self.ending.exit_code != 0:
            raise GradingError(f"its program {_how(self.ending)}: {self.last_lines}")
        if self.ending.out.left_out:
            raise GradingError(
                f"its program printed {self.ending.out.size:,} bytes, more than the {_OUTPUT:,} "
                "of a reply: all else belongs on standard error"
            )
        return self.printed()

    def printed(self) -> str:
        """Return what it printed on its standard output, however it ended. Blocking.

        Raises:
            GradingError: it cannot be read.
        """
        try:
            return printed.text(self.folder.program / OUT, self.ending.out)
        except OSError as error:
            raise GradingError(f"what its program printed cannot be read: {error}") from error


def _how(ending: ProgramEnding) -> str:
    if ending.signal is not None:
        oom = ", as the machine ran out of memory" if ending.oom else ""
        return f"was ended by signal {ending.signal}{oom}"
    return f"ended with exit code {ending.exit_code}"


@dataclass(frozen=True, slots=True)
class GradingProgram:
    """What is run to decide something."""

    command: tuple[str, ...]
    limits: ProgramLimits
    sandbox: Sandbox
    """On the level `auto`, or the one it is to be."""
    stdin: JsonObject | None = None
    env: dict[str, str] | None = None
    """Variables beside the usual ones."""
    talk: bool = False
    """Whether its standard input and output are a socket, see `RunningProgram.talk`."""


def limits_of(settings: JsonObject) -> ProgramLimits:
    """Return the limits that the settings of `ProgramScorer` name."""
    seconds, memory = settings["timeout"], settings.get("memory")
    assert isinstance(seconds, float), "as `ProgramScorer.settle` has it"
    return ProgramLimits(
        wall=seconds,
        memory=memory if isinstance(memory, int) else None,
        output=_OUTPUT,
        grace=_GRACE_S,
    )


class ProgramRunner:
    """Runs programs in folders of their own, on the strongest level of isolation that works."""

    def __init__(self, means: GradingMeans) -> None:
        """Begin with no level known to work."""
        self._means = means
        self._levels: dict[tuple[object, ...], str] = {}
        self._choosing = asyncio.Lock()

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[TrialFolder]:
        """Give a folder for one grading, with an empty workspace; it is gone afterwards.

        Raises:
            GradingError: it cannot be made.
        """
        name = f"{grading_prefix(self._means.run)}{os.getpid()}-{next(_numbers)}"
        folder = TrialFolder(self._means.attempts / name)
        try:
            await self._means.room.patiently(partial(self.off_loop, _make, folder))
            yield folder
        except OSError as error:
            raise GradingError(f"its files cannot be written: {error}") from error
        finally:
            await self.off_loop(_remove, folder)

    async def run(self, folder: TrialFolder, program: GradingProgram) -> ProgramResult:
        """Run a program in a folder's workspace to its end.

        Raises:
            GradingError: it did not start, or was ended at a limit.
        """
        async with self.started(folder, program) as running:
            ending = await running.ended()
        return ProgramResult(folder, _whole(folder, ending, program.limits))

    @asynccontextmanager
    async def started(
        self, folder: TrialFolder, program: GradingProgram
    ) -> AsyncIterator[RunningProgram]:
        """Give a program that runs in a folder's workspace; nothing of it is left afterwards.

        Raises:
            GradingError: it did not start.
        """
        stdin = None
        if program.stdin is not None:
            stdin = folder.stdin
            said = json.dumps(program.stdin)  # in ASCII: half characters are escaped
            await self._means.room.patiently(partial(self.off_loop, stdin.write_text, said))
        here = program.sandbox.workdir or folder.workspace
        own = {"HOME": str(folder.home), "TMPDIR": str(folder.tmp), "PWD": str(here)}
        writable = (*program.sandbox.writable, folder.home, folder.tmp)
        made = Program(
            command=program.command,
            cwd=folder.workspace,
            env={**base_environment(), **own, **(program.env or {})},
            folder=folder.program,
            stdin=stdin,
            talk=program.talk,
            limits=program.limits,
            sandbox=replace(program.sandbox, writable=writable),
        )
        level = await self._level(made)
        running = await self._means.room.patiently(
            partial(self._started, replace(made, sandbox=replace(made.sandbox, level=level)))
        )
        try:
            yield running
        finally:
            running.cancel(0.0)
            await running.followed()

    async def _started(self, program: Program) -> RunningProgram:
        started = await self._means.processes.start(program)
        if not isinstance(started, NotStarted):
            return started
        if started.failure is StartFailure.NO_ROOM:
            raise OSError(errno.ENOSPC, started.reason)
        raise GradingError(f"its program cannot be started: {started.reason}")

    async def _level(self, program: Program) -> str:
        """Return the level that a program is run on.

        Raises:
            GradingError: none works, or the program is not there.
        """
        sandbox = program.sandbox
        if sandbox.image is not None:
            return sandbox.level
        try:
            executable = find_executable(program)
        except CannotStartError as error:
            raise GradingError(f"its program cannot be started: {error}") from error
        known = (sandbox.level, sandbox.network, bool(sandbox.mounts), executable)
        async with self._choosing:
            if known not in self._levels:
                self._levels[known] = await self._chosen(program)
        return self._levels[known]

    async def _chosen(self, program: Program) -> str:
        choice = await choose(self._means.processes, program)
        if choice.level is None:
            why = "; ".join(f"{one.level}: {one.why}" for one in choice.tried)
            raise GradingError(f"its isolation cannot be had: {visible_line(why, 500)}")
        return choice.level

    async def off_loop(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do what blocks in a thread; whoever is cancelled waits for it all the same."""
        future = asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs))
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            await asyncio.wait([future])
            raise


def _whole(folder: TrialFolder, ending: ProgramEnding, limits: ProgramLimits) -> ProgramEnding:
    """Return an ending that is the program's own.

    Raises:
        GradingError: something else ended it.
    """
    last = printed.last_lines(folder.program, ending)
    match ending.cause:
        case EndCause.EXITED:
            return ending
        case EndCause.LIMIT if ending.limit == "wall":
            raise GradingError(f"its program took longer than {limits.wall:g} s: {last}")
        case EndCause.LIMIT:
            raise GradingError(f"its program reached its limit of `{ending.limit}`: {last}")
        case _:
            raise GradingError("its program was ended from outside")


def _make(folder: TrialFolder) -> None:
    try:
        for path in (folder.root, folder.home, folder.tmp, folder.program, folder.workspace):
            path.mkdir(mode=0o700, parents=True)
    except BaseException:
        _remove(folder)
        raise


def _remove(folder: TrialFolder) -> None:
    with suppress(OSError):  # what stays is taken away by a later engine
        remove_folder(folder.root)
