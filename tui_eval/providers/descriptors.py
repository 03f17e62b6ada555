"""File descriptors: connections leave some for the store, and running out of them has a name."""

import errno
import os
import resource
import socket
from typing import Any, Final

_RESERVED: Final = 32
"""Descriptors that connections leave to the store, the logs and the files of a suite."""
_OUT: Final = frozenset({errno.EMFILE, errno.ENFILE})


def spare_socket(
    address: tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[Any, ...]],
) -> socket.socket:
    """Make a socket for an address, as long as enough descriptors are left beside it.

    The lowest free number is what a new descriptor gets, so it tells how many there are.

    Raises:
        OSError: `EMFILE` where there are too few, before the process has none at all.
    """
    family, kind, protocol, *_ = address
    made = socket.socket(family, kind, protocol)
    most, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY and made.fileno() >= most - min(_RESERVED, most // 4):
        made.close()
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
    return made


def descriptors_are_out(error: OSError) -> bool:
    """Return whether an error comes of too many open files, here or on the whole machine.

    A name that cannot be looked up may be for that reason, too, and does not say so.
    """
    if error.errno in _OUT:
        return True
    if not isinstance(error, socket.gaierror):
        return False
    try:
        os.close(os.dup(2))
    except OSError as now:
        return now.errno in _OUT
    return False
