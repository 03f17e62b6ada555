"""File descriptors: one resource of the process, that the calls to all endpoints share."""

import asyncio
import errno
import os
import resource
import socket
import weakref
from collections import deque
from types import TracebackType
from typing import Any, Final, Protocol

_RESERVED: Final = 32
"""Descriptors that connections leave to the store, the logs and the files of a suite."""
_OUT: Final = frozenset({errno.EMFILE, errno.ENFILE})


_ALONE_S: Final = 0.1
"""Seconds after which a call tries again that finds no descriptor though no other has any."""


class ConnectionPool(Protocol):
    """What keeps connections that nobody uses."""

    def close_unused(self) -> bool:
        """Close them; False where there are none."""


class CallPlaces:
    """How many calls may be under way at once, to whatever endpoint: as many as have a connection.

    There are no more places than the process may open files beside those that connections leave to
    others. Should that be too many, for others have more open, a call that finds no descriptor has
    connections closed that nobody uses, or where there are none takes a place away and waits like
    all others. Places come back, one with every round of calls.

    `async with` holds a place, as often at once as there are places.
    """

    def __init__(self, most: int) -> None:
        """Make places.

        Args:
            most: How many there are.
        """
        self._most = most
        self._now = float(most)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pools: weakref.WeakSet[ConnectionPool] = weakref.WeakSet()

    def join(self, pool: ConnectionPool) -> None:
        """Have a pool give up what nobody uses where others need it."""
        self._pools.add(pool)

    async def __aenter__(self) -> None:
        """Take a place; wait for it first, behind those that wait already."""
        if self._waiting or self._taken >= int(self._now):
            await self._turn()
        else:
            self._taken += 1

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give it back."""
        self._leave()

    def found(self) -> None:
        """Learn that a call had its connection."""
        self._now = min(self._most, self._now + 1 / self._now)

    async def short(self) -> bool:
        """Make room where a call that holds a place found no descriptor.

        Returns:
            Whether there was something to be done, so that it is to try again; False: others have
            them all, and it waited a moment.
        """
        closed = [pool.close_unused() for pool in self._pools]
        if any(closed):
            await asyncio.sleep(0)  # their sockets are closed in the loop's next turn
            return True
        self._now = float(max(1, min(int(self._now), self._taken - 1)))
        if self._taken > 1:
            return True
        await asyncio.sleep(_ALONE_S)
        return False

    async def _turn(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._leave()  # the place was given already
            raise

    def _leave(self) -> None:
        """Give a place back, and those that wait longest as many as there are."""
        self._taken -= 1
        while self._waiting and self._taken < int(self._now):
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)


def _spare() -> int:
    """Return how many descriptors connections may have."""
    most, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 1_000_000 if most == resource.RLIM_INFINITY else max(1, most - _reserved(most))


def _reserved(most: int) -> int:
    return min(_RESERVED, most // 4)


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
    if most != resource.RLIM_INFINITY and made.fileno() >= most - _reserved(most):
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


PLACES: Final = CallPlaces(_spare())
"""Those of this process."""
