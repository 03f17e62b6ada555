"""What is really executed for a program, and what a level of isolation has to answer."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from tui_eval.processes.program import LimitName, Program, StartFailure

SYSTEM_PATH: Final = ("/usr/bin", "/bin", "/usr/local/bin", "/opt/homebrew/bin", "/usr/sbin")
"""Where systems have the commands that levels need."""


class CannotStartError(Exception):
    """A program cannot be started; the message is for people."""

    def __init__(self, failure: StartFailure, reason: str) -> None:
        super().__init__(reason)
        self.failure = failure


@dataclass(frozen=True)
class Execution:
    """A call of `execve`, and what is done around it."""

    path: str
    command: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    enter: Callable[[], None] | None = None
    """Called in the new process right before: from there on it is confined."""
    afterwards: tuple[tuple[str, ...], ...] = ()
    """Commands that take away what is not a descendant, as a daemon's container."""
    out_of_memory: tuple[str, ...] = ()
    """A command that prints `true` where what runs elsewhere was killed at its limit of memory."""
    descendants: bool = True
    """Whether what runs are descendants, whose figures are those of the program."""
    wrappers: int = 0
    """How many generations of processes are the level's own, and would end the others at TERM."""


class IsolationLevel(Protocol):
    """One way to confine programs."""

    name: str
    watches: frozenset[LimitName]
    """The limits that can be held on this level."""

    def available(self, program: Program) -> str | None:
        """Return why this level cannot be had here, with the remedy; None where it may."""

    def explain(self, said: str) -> str:
        """Return what a person does about a trial start that failed and said this."""

    def prepare(self, program: Program) -> Execution:
        """Turn a program into what is executed.

        Raises:
            CannotStartError: it cannot be.
        """


def find_tool(name: str, program: Program) -> str | None:
    """Return the path of a command that a level needs; None where it is not installed.

    Looked for where the program's own commands are, and where systems have theirs.
    """
    folders = program.env.get("PATH", "").split(os.pathsep)
    for folder in (*folders, *SYSTEM_PATH):
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    return None


def find_executable(program: Program) -> str:
    """Return the path of a program's executable, as its own `PATH` has it.

    Raises:
        CannotStartError: there is none, or it may not be executed.
    """
    name = program.command[0]
    if "/" in name:
        candidates = [os.path.join(program.cwd, name)]
    else:
        folders = program.env.get("PATH", os.defpath).split(os.pathsep)
        candidates = [os.path.join(program.cwd, one, name) for one in folders]
    there = [one for one in candidates if os.path.isfile(one)]
    for candidate in there:
        if os.access(candidate, os.X_OK):
            return candidate
    if there:
        raise CannotStartError(
            StartFailure.NOT_EXECUTABLE, f"{there[0]} is not executable: chmod +x it"
        )
    where = "" if "/" in name else " on its PATH"
    raise CannotStartError(StartFailure.NOT_FOUND, f"{name} is not there{where}: install it")
