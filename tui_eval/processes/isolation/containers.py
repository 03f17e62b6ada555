"""Containers of podman and docker, through their command lines.

The image has the system; readable and writable folders have the paths that they have outside, and
the working folder too, unless the sandbox says where it is found inside. A container is no
descendant: it is removed by its name once the program has ended, and, where a warden was killed, by
its label when a target of containers is opened (`sweep`).
"""

import os
from collections.abc import Iterator
from typing import Final

from tui_eval.processes.isolation.execution import CannotStartError, Execution, find_tool
from tui_eval.processes.program import LimitName, Program, StartFailure

CONTAINERS: Final = ("podman", "docker")
LABEL: Final = "tui-eval.owner"
"""Its value is the program's folder, in which a warden that works has its socket; for a container
that is only looked into, the id of the process that does."""
_NOT_PASSED: Final = frozenset({"PATH"})
"""The image has its own."""


class Container:
    """The program in a container of an image."""

    watches: frozenset[LimitName] = frozenset({"wall", "memory", "disk", "processes"})

    def __init__(self, name: str) -> None:
        self.name = name
        """Of the level, and of the command."""

    def available(self, program: Program) -> str | None:
        """Return why it cannot be had: it is not installed. A trial start asks its engine."""
        if find_tool(self.name, program) is None:
            return f"{self.name} is not installed"
        return None

    def explain(self, said: str) -> str:
        """Return the remedy for what the command said."""
        if "daemon" in said or "connect" in said:
            return f"start {self.name}'s engine: {said}"
        return said

    def prepare(self, program: Program) -> Execution:
        """Execute the command that runs a container."""
        tool = find_tool(self.name, program)
        if tool is None:
            raise CannotStartError(StartFailure.ISOLATION, str(self.available(program)))
        image = program.sandbox.image
        if image is None:
            raise CannotStartError(StartFailure.ISOLATION, f"{self.name} takes an `image`")
        container = f"tui-eval-{os.urandom(6).hex()}"
        client = dict(program.sandbox.client_env)
        inside = program.sandbox.workdir or program.cwd
        named, passed = _environment(program)
        command = (
            self.name,
            "run",
            "--interactive",
            f"--name={container}",
            f"--label={LABEL}={program.folder}",
            f"--workdir={inside}",
            *self._user(),
            *_bounds(program),
            *_volumes(program),
            *named,
            image,
            *program.command,
        )
        return Execution(
            tool,
            command,
            program.cwd,
            {**passed, **client},
            afterwards=((tool, "rm", "--force", container),),
            out_of_memory=(tool, "inspect", "--format={{.State.OOMKilled}}", container),
            descendants=False,
        )

    def _user(self) -> Iterator[str]:
        """Give what lets the files that are written belong to whoever runs this."""
        if os.getuid() != 0 and self.name == "podman":
            yield "--userns=keep-id"
        else:
            yield f"--user={os.getuid()}:{os.getgid()}"


def _bounds(program: Program) -> Iterator[str]:
    if program.sandbox.network == "none":
        yield "--network=none"
    if program.limits.memory is not None:
        yield f"--memory={program.limits.memory}"
    if program.limits.processes is not None:
        yield f"--pids-limit={program.limits.processes}"


def _volumes(program: Program) -> Iterator[str]:
    for path in program.sandbox.readable:
        yield f"--volume={path}:{path}:ro"
    yield f"--volume={program.cwd}:{program.sandbox.workdir or program.cwd}"
    for path in program.sandbox.writable:
        yield f"--volume={path}:{path}"
    for outside, inside in program.sandbox.mounts:
        yield f"--volume={outside}:{inside}"


def _environment(program: Program) -> tuple[list[str], dict[str, str]]:
    """Give the options that name variables, and the variables that the command is to pass on.

    By name alone, so that no key is in a command line; what the command itself reads stays its own
    and is passed with its value.
    """
    options, passed = [], {}
    for name, value in program.env.items():
        if name in _NOT_PASSED:
            continue
        if name in program.sandbox.client_env:
            options.append(f"--env={name}={value}")
        else:
            options.append(f"--env={name}")
            passed[name] = value
    return options, passed
