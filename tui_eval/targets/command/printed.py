"""What a program printed, as far as it was kept."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.visible import visible_line
from tui_eval.processes.program import CapturedStream, ProgramEnding
from tui_eval.providers import keys

_PIECE: Final = 1 << 20
_LAST: Final = 4_000
"""Bytes of the end that last lines are looked for in."""
_LINES: Final = 3
_LONGEST: Final = 300
_LONGEST_KEY: Final = 4_000
"""Bytes beyond a cut that are looked at for a key which it goes through."""
PARTIAL: Final = 64_000
"""How much of what a program printed is kept where it is no output."""


def pieces(path: Path, stream: CapturedStream) -> Iterator[bytes]:
    """Yield a stream as it was kept; where some of it is missing a line says so.

    Raises:
        OSError: its file cannot be read.
    """
    with path.open("rb") as file:
        yield from _read(file.fileno(), stream.head)
        if stream.left_out > 0:
            yield f"\n[{stream.left_out:,} bytes were left out]\n".encode()
        yield from _read(file.fileno(), stream.tail)


def text(path: Path, stream: CapturedStream) -> str:
    """Return a stream as text; what is no UTF-8 is replaced.

    Raises:
        OSError: its file cannot be read.
    """
    return b"".join(pieces(path, stream)).decode("utf-8", "replace")


def begun(path: Path, at_most: int = PARTIAL) -> str | None:
    """Return the first that was printed, while it is or afterwards; None: nothing."""
    try:
        with path.open("rb") as file:
            said = file.read(at_most + _LONGEST_KEY)
    except OSError:
        return None
    found = keys.redact_answer(said.decode("utf-8", "replace"))
    return found[: len(found) - max(0, len(said) - at_most)] or None


def both_ends(path: Path, stream: CapturedStream) -> str | None:
    """Return the beginning and the end of a stream that has ended; None: there is nothing."""
    try:
        whole = keys.redact_answer(text(path, stream))  # before it is cut, perhaps amid a key
    except OSError:
        return None
    if len(whole) > PARTIAL:
        half = PARTIAL // 2
        whole = f"{whole[:half]}\n[…]\n{whole[-half:]}"
    return whole or None


def last_lines(folder: Path, ending: ProgramEnding, instead: str | None = None) -> str:
    """Return the last lines that a program printed, its errors first, on one line.

    Args:
        folder: Where they were written.
        ending: How it ended.
        instead: What says more than its standard output, where that is a transcript.
    """
    for name, stream in (("err", ending.err), ("out", ending.out)):
        if name == "out" and instead is not None:
            return visible_line(keys.redact(instead), _LONGEST)
        try:
            with (folder / name).open("rb") as file:
                kept = stream.head + stream.tail
                file.seek(max(0, kept - _LAST))
                said = file.read(_LAST).decode("utf-8", "replace")
        except OSError:
            continue
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        if lines:
            return visible_line(keys.redact(" | ".join(lines[-_LINES:])), _LONGEST)
    return "it printed nothing"


def _read(descriptor: int, size: int) -> Iterator[bytes]:
    while size > 0:
        piece = os.read(descriptor, min(size, _PIECE))
        if not piece:
            return
        size -= len(piece)
        yield piece
