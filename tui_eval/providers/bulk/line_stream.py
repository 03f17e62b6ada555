"""The lines of a file that arrives bit by bit, each within bounds."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Final, NamedTuple

MOST_LINE: Final = 32 * 1024 * 1024
"""Bytes of a line that are kept: as much as an answer to a single call may have."""


class NumberedLine(NamedTuple):
    """A line, without its end."""

    number: int
    """From 1."""
    content: bytes | None
    """None: it is longer than is kept."""
    whole: bool = True
    """Whether its end has come; else the file ends there, so far."""


async def lines_of(
    parts: AsyncIterable[bytes], most: int = MOST_LINE
) -> AsyncIterator[NumberedLine]:
    """Yield each line that is not empty; of one that is too long only that it is there.

    Args:
        parts: Of the file; where one ends says nothing.
        most: Bytes of a line that are kept.
    """
    number = 0
    rest: list[bytes] = []
    size = 0
    async for part in parts:
        start = 0
        while (end := part.find(b"\n", start)) >= 0:
            number += 1
            size += end - start
            if size > most:
                yield NumberedLine(number, None)
            elif content := b"".join([*rest, part[start:end]]).strip():
                yield NumberedLine(number, content)
            rest, size, start = [], 0, end + 1
        size += len(part) - start
        if size > most:
            rest.clear()  # what else comes of it is only counted
        elif start < len(part):
            rest.append(part[start:])
    if size > most:
        yield NumberedLine(number + 1, None, whole=False)
    elif content := b"".join(rest).strip():
        yield NumberedLine(number + 1, content, whole=False)
