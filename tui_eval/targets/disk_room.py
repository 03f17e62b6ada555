"""Waiting for a disk that is full to have room again."""

import asyncio
import errno
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
_LOOK_S: Final = 0.5


class DiskRoom:
    """Has what does not fit onto a full disk wait until it does; one for all trials of an engine.

    Those that wait try again one at a time, in turn: together they would fill it again, and what
    never fits would keep it from those that do.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """Wait for room.

        Args:
            folder: Where room is to be made, for people; None: they know.
        """
        self._where = "" if folder is None else f" in {folder}"
        self.lacking: str | None = None
        """Why trials wait for room just now; None: none does."""
        self._waiting = 0
        self._turn = asyncio.Lock()

    async def patiently(self, write: Callable[[], Awaitable[T]]) -> T:
        """Return what a call returns, made again and again while the disk is full.

        Args:
            write: Writes something, or leaves nothing of it behind.

        Raises:
            OSError: it fails for another reason.
        """
        try:
            return await write()
        except OSError as error:
            why = self._why_full(error)
        self._waiting += 1
        self.lacking = self.lacking or why
        try:
            while True:
                async with self._turn:
                    try:
                        return await write()
                    except OSError as error:
                        self.lacking = self._why_full(error)
                # not while it has the turn: there may be room for the next one, who frees some
                await asyncio.sleep(_LOOK_S)
        finally:
            self._waiting -= 1
            if self._waiting == 0:
                self.lacking = None

    def _why_full(self, error: OSError) -> str:
        """Say where there is no room.

        Raises:
            OSError: the error, where it is about something else.
        """
        if error.errno not in _FULL:
            raise error
        return f"the files of trials cannot be written{self._where}: {error.strerror}; make room"
