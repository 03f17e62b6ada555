"""The lines of a file that arrives bit by bit, each within bounds."""

from collections.abc import AsyncIterable, AsyncIterator
from typing import Final, NamedTuple

MOST_LINE: Final = 32 * 1024 * 1024
"""Bytes of a line that are kept: as much as an answer to a single call may have."""
HEAD: Final = 4096
"""Bytes of a longer one that are kept: the id stands there."""


class NumberedLine(NamedTuple):
    """A line, without its end."""

    number: int
    """From 1."""
    content: bytes
    whole: bool = True
    """Whether its end has come; else the file ends there, so far."""
    cut: int = 0
    """Its bytes, where it is longer than is kept: the content is its beginning then."""


async def lines_of(
    parts: AsyncIterable[bytes], most: int = MOST_LINE
) -> AsyncIterator[NumberedLine]:
    """Yield each line that is not empty; of one that is too long the beginning.

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
                yield NumberedLine(number, _head([*rest, part[start:end]]), cut=size)
            elif content := b"".join([*rest, part[start:end]]).strip():
                yield NumberedLine(number, content)
            rest, size, start = [], 0, end + 1
        size += len(part) - start
        if size > most:
            rest = [_head([*rest, part[start:]])]  # what else comes of it is only counted
        elif start < len(part):
            rest.append(part[start:])
    if size > most:
        yield NumberedLine(number + 1, _head(rest), whole=False, cut=size)
    elif content := b"".join(rest).strip():
        yield NumberedLine(number + 1, content, whole=False)


def _head(parts: list[bytes]) -> bytes:
    """Return what is kept of a line that is too long."""
    return b"".join(part[:HEAD] for part in parts)[:HEAD]
