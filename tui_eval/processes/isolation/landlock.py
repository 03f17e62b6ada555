"""Landlock: the kernel confines the program and all it starts; nothing has to be installed.

Writes: the working folder and the writable ones. Reads: those, the system's folders, and the
readable ones; not the homes. Signals and ptrace reach only what the program itself has started, so
that `/proc` gives away nothing of others; of root's capabilities none is left, because some go
beyond that. TCP is off with `network = "none"`; UDP stays, and so do Unix sockets that have a path.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from tui_eval.processes.isolation.execution import CannotStartError, Execution, find_executable
from tui_eval.processes.isolation.none import NO_MOUNTS, WATCHED_TREE
from tui_eval.processes.isolation.reach import own_roots, system_roots
from tui_eval.processes.platform_support import (
    LINUX,
    forbid_capabilities,
    forbid_new_privileges,
    system_call,
)
from tui_eval.processes.program import Network, Program, StartFailure

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_VERSION: Final = 1
_PATH_BENEATH: Final = 1

# rights of the kernel's interface (linux/landlock.h), by the version that brought them
_EXECUTE: Final = 1 << 0
_WRITE_FILE: Final = 1 << 1
_READ_FILE: Final = 1 << 2
_READ_FOLDER: Final = 1 << 3
_FIRST_FS: Final = (1 << 13) - 1
_REFER: Final = 1 << 13
_TRUNCATE: Final = 1 << 14
_IOCTL_DEVICE: Final = 1 << 15
_TCP: Final = 0b11
_SCOPE: Final = 0b11
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ: Final = _EXECUTE | _READ_FILE | _READ_FOLDER
_TCP_SINCE: Final = 4
_SCOPE_SINCE: Final = 6
_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


class Landlock:
    """Confinement by the kernel's own module, from 5.13 on."""

    name = "landlock"
    watches = WATCHED_TREE

    def available(self, program: Program) -> str | None:
        """Return why it cannot be had: the kernel, or what it does not yet know."""
        version = abi()
        if version == 0:
            return "this kernel has no landlock: it takes Linux 5.13 or later with it enabled"
        if program.sandbox.network == "none" and version < _TCP_SINCE:
            return "this kernel's landlock cannot take the network away: it takes Linux 6.7"
        return None if not program.sandbox.mounts else NO_MOUNTS

    def explain(self, said: str) -> str:
        """Return it as it is."""
        return said

    def prepare(self, program: Program) -> Execution:
        """Execute the command itself, confined right before."""
        why_not = self.available(program)
        if why_not is not None:
            raise CannotStartError(StartFailure.ISOLATION, why_not)
        sandbox = program.sandbox
        readable = (*system_roots(program), *own_roots(program))
        writable = (program.cwd, *sandbox.writable)
        return Execution(
            find_executable(program),
            program.command,
            program.cwd,
            program.env,
            enter=lambda: restrict(abi(), readable, writable, sandbox.network),
        )


@cache
def abi() -> int:
    """Return the version of the kernel's interface; 0 where there is none."""
    if not LINUX:
        return 0
    try:
        return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    except OSError:
        return 0


def restrict(
    version: int, readable: Iterable[Path], writable: Iterable[Path], network: Network
) -> None:
    """Confine this process, and all it starts, for good.

    Raises:
        OSError: the kernel refused.
    """
    rights = _FIRST_FS
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEVICE)):
        rights |= right if version >= since else 0
    tcp = _TCP if network == "none" and version >= _TCP_SINCE else 0
    scope = _SCOPE if version >= _SCOPE_SINCE else 0
    size = 24 if version >= _SCOPE_SINCE else 16 if version >= _TCP_SINCE else 8
    attributes = struct.pack("=QQQ", rights, tcp, scope)[:size]
    rules = system_call(
        _CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0)
    )
    try:
        for path in readable:
            _allow(rules, path, _READ & rights)
        for path in writable:
            _allow(rules, path, rights)
        for name in _DEVICES:
            use = _READ_FILE | _WRITE_FILE | _READ_FOLDER | _TRUNCATE | _IOCTL_DEVICE
            _allow(rules, Path("/dev", name), use & rights)
        forbid_new_privileges()
        forbid_capabilities()
        system_call(_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow(rules: int, path: Path, rights: int) -> None:
    with suppress(FileNotFoundError, PermissionError):  # what we cannot reach, it cannot either
        beneath = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
        try:
            if not stat.S_ISDIR(os.fstat(beneath).st_mode):
                rights &= _OF_FILES
            rule = struct.pack("=Qi", rights, beneath)
            system_call(
                _ADD_RULE,
                ctypes.c_int(rules),
                ctypes.c_int(_PATH_BENEATH),
                ctypes.c_char_p(rule),
                ctypes.c_uint32(0),
            )
        finally:
            os.close(beneath)
