"""Which levels of isolation work on this machine, found by starting something on them."""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tui_eval.processes.isolation.containers import CONTAINERS
from tui_eval.processes.isolation.execution import CannotStartError, find_executable, find_tool
from tui_eval.processes.isolation.levels import LEVELS, STRONGEST_FIRST
from tui_eval.processes.isolation.reach import installation
from tui_eval.processes.program import (
    ERR,
    EndCause,
    NotStarted,
    Orphans,
    Program,
    ProgramEnding,
    ProgramLimits,
)
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes

AUTO: Final = "auto"
_TRIED_S: Final = 20.0
_READABLE: Final = 'p=$(command -v -- "$1") && exec 3<"$p"'
"""Succeeds where the program is found, and can be read, from where this runs."""
_THERE: Final = 'command -v -- "$1" > /dev/null'
"""Succeeds where the program is found; some shells have programs that are no files."""


@dataclass(frozen=True)
class LevelReport:
    """Whether a level works, or why it does not."""

    level: str
    works: bool
    why: str | None = None
    """What is missing, and what to do."""


@dataclass(frozen=True)
class IsolationChoice:
    """The level that a program is run on, and why the stronger ones are not it."""

    level: str | None
    """None: none of those that were asked for works."""
    tried: tuple[LevelReport, ...]


async def choose(processes: Processes, program: Program) -> IsolationChoice:
    """Choose the strongest level that works for a program, or see that the one it names does."""
    named = program.sandbox.level
    tried = []
    for level in STRONGEST_FIRST if named == AUTO else (named,):
        report = await try_level(processes, program, level)
        tried.append(report)
        if report.works:
            return IsolationChoice(level, tuple(tried))
    return IsolationChoice(None, tuple(tried))


async def try_level(processes: Processes, program: Program, level: str) -> LevelReport:
    """Start the very command line of a level, with a look for the program in the program's place.

    Everything else is the program's own: folders, environment, network. Nothing of it is run. Of
    containers without an image, their engine is asked.
    """
    if level not in LEVELS:
        return LevelReport(level, False, f"there is no such level; there are {', '.join(LEVELS)}")
    with tempfile.TemporaryDirectory(prefix="tui-eval-try-") as folder:
        try:
            trial = _trial(program, level, Path(folder))
        except CannotStartError as error:
            return LevelReport(level, False, str(error))
        started = await processes.start(trial)
        if isinstance(started, NotStarted):
            return LevelReport(level, False, started.reason)
        why = await _why_not(started, level, program.command[0])
    return LevelReport(level, why is None, why)


def _trial(program: Program, level: str, folder: Path) -> Program:
    limits = ProgramLimits(wall=_TRIED_S, output=10_000, grace=0.0)
    sandbox = replace(program.sandbox, level=level)
    if level not in CONTAINERS:
        # what is looked for is not what is executed, and has to be readable all the same
        sandbox = replace(sandbox, readable=(*sandbox.readable, *installation(program)))
        look = ("/bin/sh", "-c", _READABLE, "sh", find_executable(program))
    elif program.sandbox.image is not None:
        look = ("/bin/sh", "-c", _THERE, "sh", program.command[0])
    else:
        env = {**program.env, **program.sandbox.client_env}
        client = find_tool(level, program) or level
        return Program((client, "version"), folder, env, folder, limits=limits)
    return replace(
        program,
        command=look,
        folder=folder,
        stdin=None,
        talk=False,
        limits=limits,
        sandbox=sandbox,
        orphans=Orphans.END,
    )


async def _why_not(running: RunningProgram, level: str, name: str) -> str | None:
    ending: ProgramEnding = await running.ended()
    if ending.exit_code == 0:
        return None
    if ending.cause is EndCause.LIMIT:
        return f"a start takes longer than {_TRIED_S:g} s"
    said = (running.folder / ERR).read_text("utf-8", "replace").strip().splitlines()
    if not said or said[-1].startswith(("/bin/sh", "sh:")):
        if level in CONTAINERS:
            return f"{name} is not in the image, or not executable there: install it in the image"
        return f"{name} is not to be had from inside: name its folder among the readable ones"
    return LEVELS[level].explain(said[-1])
