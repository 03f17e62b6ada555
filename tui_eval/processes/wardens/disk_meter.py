"""What a folder occupies, found a few milliseconds at a time."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Final

from tui_eval.processes.workspace.walk import walk

_PAUSE_S: Final = 2.0
"""Seconds between two walks, at least."""
_REST: Final = 10
"""How many times a walk's own length is waited after it."""
_BLOCK: Final = 512


class DiskMeter:
    """Bytes that the files of a folder really occupy; a sparse file has only what was written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._walk: Iterator[int] | None = None
        self._sum = 0
        self._began = self._next = 0.0
        self.bytes: int | None = None
        """As the last whole walk found; None before there was one."""

    @property
    def least(self) -> int:
        """What it occupies at least: the last walk's sum, or that of the present one."""
        return max(self.bytes or 0, self._sum)

    def step(self, seconds: float) -> None:
        """Go on with a walk, or begin one where it is time to, for so many seconds."""
        now = monotonic()
        if self._walk is None:
            if now < self._next:
                return
            self._walk, self._sum, self._began = _occupied(self._folder), 0, now
        until = now + seconds
        try:
            for occupied in self._walk:
                self._sum += occupied
                if monotonic() > until:
                    return
        except OSError:
            pass  # moved away meanwhile; what was found counts, and the next walk finds it again
        now = monotonic()
        self.bytes, self._sum, self._walk = self._sum, 0, None
        self._next = now + max(_PAUSE_S, _REST * (now - self._began))

    def finish(self, seconds: float) -> None:
        """Walk once more, now that nothing changes, as far as the seconds go."""
        self._walk, self._next = None, 0.0
        self.step(seconds)


def _occupied(folder: Path) -> Iterator[int]:
    for entry in walk(folder):
        if not entry.left and entry.error is None:
            yield (
                entry.status.st_blocks
                * _BLOCK
                // max(1, entry.status.st_nlink if entry.is_file else 1)
            )
