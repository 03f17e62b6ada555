"""How much of a workspace is looked at and kept, whatever has been put into it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class WorkspaceLimits:
    """What listing, keeping and copying a workspace may cost; what is beyond is told."""

    entries: int = 200_000
    """Files, folders and links that are listed."""
    bytes: int = 10_000_000_000
    """Bytes that are read; a file with more than are left is known by its size alone."""


DEFAULT_LIMITS: Final = WorkspaceLimits()


class WorkspaceError(Exception):
    """A workspace cannot be made, or not rebuilt; the message is for people."""


class RoomLeft:
    """What of a source may still be copied."""

    def __init__(self, limits: WorkspaceLimits, what: str) -> None:
        """Begin with all that the limits allow.

        Args:
            limits: The limits.
            what: The source, as people call it.
        """
        self._entries = limits.entries
        self._bytes = limits.bytes
        self._limits = limits
        self._what = what

    def take(self, size: int, entries: int = 1) -> None:
        """Count what is copied next.

        Raises:
            WorkspaceError: there is more than the limits allow.
        """
        self._entries -= entries
        self._bytes -= size
        if self._entries < 0 or self._bytes < 0:
            raise WorkspaceError(
                f"{self._what} has more than {self._limits.entries} entries "
                f"or {self._limits.bytes} bytes"
            )
