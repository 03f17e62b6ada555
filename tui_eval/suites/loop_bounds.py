"""Bounds for work on an engine's loop: done within milliseconds there, or elsewhere.

A caller with requests in flight sets a bound (`within`). Work that could take longer checks it on
the way (`left`) or before it begins (`allow`) and raises `NotAtOnceError`; the caller then has it
done from its beginning in another process.
"""

import time
from contextvars import ContextVar


class NotAtOnceError(Exception):
    """The work takes longer than it may here."""


_until: ContextVar[float | None] = ContextVar("_until", default=None)


class within:  # noqa: N801 - used like a function
    """Makes the work inside raise `NotAtOnceError` where it takes about longer than some seconds.

    No generator: each trial enters several.
    """

    __slots__ = ("_seconds", "_token")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        self._token = _until.set(time.monotonic() + self._seconds)

    def __exit__(self, *_: object) -> None:
        _until.reset(self._token)


def asked() -> bool:
    """Return whether the current work has such a bound."""
    return _until.get() is not None


def left() -> float | None:
    """Return the seconds that are left; None: it need not be done at once.

    Raises:
        NotAtOnceError: none are left.
    """
    until = _until.get()
    if until is None:
        return None
    seconds = until - time.monotonic()
    if seconds <= 0:
        raise NotAtOnceError
    return seconds


def allow(size: int, most: int) -> None:
    """Check that work that grows with a size may begin here.

    Raises:
        NotAtOnceError: it is larger than what is done at once.
    """
    if size > most and asked():
        raise NotAtOnceError
