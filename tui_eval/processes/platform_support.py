"""System calls that Python has no names for, and what is missing where there are none such."""

import ctypes
import errno
import os
import sys
from contextlib import suppress
from typing import Final

LINUX: Final = sys.platform == "linux"

_SET_PDEATHSIG: Final = 1
_SET_DUMPABLE: Final = 4
_CAPBSET_DROP: Final = 24
_SET_CHILD_SUBREAPER: Final = 36
_SET_NO_NEW_PRIVS: Final = 38
_MOST_CAPABILITIES: Final = 64
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def become_subreaper() -> None:
    """Become the parent of all descendants whose own has ended; nothing where there is no such."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def forbid_inspection() -> None:
    """Keep other processes of the same user from reading this one's memory and environment."""
    _prctl(_SET_DUMPABLE, 0)


def signal_when_parent_dies(number: int) -> None:
    """Have a signal sent to this process when the one that forked it ends."""
    _prctl(_SET_PDEATHSIG, number)


def forbid_new_privileges() -> None:
    """Let no program from here on gain privileges, as `sudo` does."""
    _prctl(_SET_NO_NEW_PRIVS, 1)


def forbid_capabilities() -> None:
    """Leave no program from here on a capability, not even root's: some read others' memory."""
    if os.geteuid() == 0:
        for capability in range(_MOST_CAPABILITIES):
            with suppress(OSError):  # this kernel does not know it, or it was taken already
                _prctl(_CAPBSET_DROP, capability)


def system_call(number: int, *arguments: object) -> int:
    """Make a system call by number.

    Raises:
        OSError: it failed.
    """
    result = int(_libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        raise _last_error()
    return result


def _prctl(option: int, value: int) -> None:
    if LINUX and _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise _last_error()


def _last_error() -> OSError:
    number = ctypes.get_errno() or errno.EINVAL
    return OSError(number, os.strerror(number))
