"""Bubblewrap: its own mounts and process ids, and no network at all where none is asked for."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.processes.isolation.execution import (
    CannotStartError,
    Execution,
    find_executable,
    find_tool,
)
from tui_eval.processes.isolation.none import WATCHED_TREE
from tui_eval.processes.isolation.reach import own_roots, system_roots
from tui_eval.processes.platform_support import LINUX
from tui_eval.processes.program import Program, StartFailure

_OWN_MOUNTS: Final = (Path("/proc"), Path("/dev"), Path("/tmp"))  # noqa: S108 - one of its own
_ALWAYS: Final = (
    "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL",
)  # fmt: skip
_WRAPPERS: Final = 2
"""Its own processes: the one that waits outside, and the first one inside."""


class Bubblewrap:
    """The program within `bwrap`, as the same files' paths."""

    name = "bwrap"
    watches = WATCHED_TREE

    def available(self, program: Program) -> str | None:
        """Return why it cannot be had: it is not installed. A trial start asks the kernel."""
        if not LINUX:
            return "bubblewrap is there on Linux alone"
        if find_tool("bwrap", program) is None:
            return "bwrap is not installed: apt install bubblewrap, or dnf install bubblewrap"
        return None

    def explain(self, said: str) -> str:
        """Return the remedy for what `bwrap` said."""
        if "namespace" in said or "uid map" in said or "ermission" in said or "permitted" in said:
            return (
                f"{said}: the kernel refuses user namespaces; allow them "
                "(on Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0), "
                "or use landlock"
            )
        return said

    def prepare(self, program: Program) -> Execution:
        """Execute `bwrap`, which executes the command."""
        tool = find_tool("bwrap", program)
        if tool is None:
            raise CannotStartError(StartFailure.ISOLATION, str(self.available(program)))
        find_executable(program)  # what is not there is told as such, and not by bwrap
        arguments = [*_ALWAYS, *_mounts(program), "--chdir", os.fspath(program.cwd), "--"]
        if program.sandbox.network == "none":
            arguments.insert(0, "--unshare-net")
        command = ("bwrap", *arguments, *program.command)
        return Execution(tool, command, program.cwd, program.env, wrappers=_WRAPPERS)


def _mounts(program: Program) -> Iterator[str]:
    for path in system_roots(program):
        if path not in _OWN_MOUNTS:
            yield from _read_only(path)
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108
    for path in own_roots(program):
        yield from _read_only(path)
    for path in (program.cwd, *program.sandbox.writable):
        yield from ("--bind", os.fspath(path), os.fspath(path))
    for outside, inside in program.sandbox.mounts:
        yield from ("--bind", os.fspath(outside), os.fspath(inside))


def _read_only(path: Path) -> Iterator[str]:
    if path.is_symlink():  # as /bin is one to usr/bin, which is mounted
        yield from ("--symlink", os.readlink(path), os.fspath(path))
    else:
        yield from ("--ro-bind-try", os.fspath(path), os.fspath(path))
