"""What a process gives up before it runs what nobody trusts."""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from contextlib import suppress

_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36
_SET_NO_NEW_PRIVS = 38
_CAPSET = 126 if os.uname().machine == "x86_64" else 91
_VERSION_3 = 0x20080522
_BESIDE = 1 << 30
"""Bytes of addresses beside the memory that may be used: of libraries, of stacks."""


def forbid_inspection() -> None:
    """Keep other processes of the same user from this one's memory and descriptors. Linux."""
    _prctl(_SET_DUMPABLE, 0)


def inherit_orphans() -> None:
    """Become the parent of all descendants whose own parent ends. Linux."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def confine(memory: int) -> None:
    """Take the capabilities of root and the way to new ones from this process; bound its memory.

    Args:
        memory: Bytes.
    """
    _prctl(_SET_NO_NEW_PRIVS, 1)
    if sys.platform == "linux" and os.geteuid() == 0:
        header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
        none = (ctypes.c_uint32 * 6)()
        ctypes.CDLL(None).syscall(ctypes.c_long(_CAPSET), header, none)
    _prctl(_SET_DUMPABLE, 1)
    bound(memory)


def bound(memory: int) -> None:
    """Bound the memory of this process and of all that it starts; have none of them dump a core.

    Args:
        memory: Bytes.
    """
    with suppress(ValueError, OSError):  # a lower limit holds already, or this system has none
        resource.setrlimit(resource.RLIMIT_AS, (memory + _BESIDE, memory + _BESIDE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)
