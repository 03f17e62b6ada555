"""Where words go: results to stdout, everything else to stderr, all of it safe for a terminal."""

import errno
import os
import shutil
import sys
from collections.abc import Iterable
from typing import TextIO

import click

from tui_eval.model.visible import visible


def prepare() -> None:
    """Make both streams take any text, and be there at all.

    What is not a terminal gets UTF-8: exports and documents are UTF-8 wherever they go.
    """
    _fill_in_closed()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            encoding = None if stream.isatty() else "utf-8"
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


def _fill_in_closed() -> None:
    """Put nothing where a stream was closed; else the next file opened would be taken for it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - the process's
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - likewise


def nobody_listens(error: OSError) -> bool:
    """Say whether writing failed because the reader, or the terminal, has gone."""
    return error.errno in (errno.EPIPE, errno.EIO)


def silence(stream: TextIO | None = None) -> None:
    """Let nothing more be written to a stream (stdout), nor complained about at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, (stream or sys.stdout).fileno())
    os.close(nowhere)


def say(text: str) -> None:
    """Print a result; the text must be safe already."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()


def say_pieces(pieces: Iterable[str]) -> None:
    """Print a result that comes piece by piece; its text must be safe already."""
    for piece in pieces:
        sys.stdout.write(piece)
    sys.stdout.write("\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """Say something that is no result."""
    write_to_stderr(f"{visible(text)}\n")


def write_to_stderr(text: str) -> None:
    """Write to stderr as it is; a terminal that has gone away disturbs nobody."""
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except OSError:
        silence(sys.stderr)


def tell_usage(error: click.ClickException) -> None:
    """Say what is wrong with the command line, and where its help is."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        tell(error.format_message())
        return
    tell(f"error: {error.format_message()}")
    ctx = getattr(error, "ctx", None)
    if ctx is not None and ctx.command.hidden:  # nobody is meant to know of it
        ctx = ctx.parent
    if ctx is not None:
        tell(f"`{ctx.command_path} --help` says what there is")


def redrawable(stream: TextIO) -> bool:
    """Say whether a line can be drawn anew: there is a terminal, and it is not a dumb one."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width(stream: TextIO | None = None) -> int:
    """Return the cells of a line: of a terminal what it has, otherwise enough for anything."""
    if (stream or sys.stdout).isatty():
        return max(shutil.get_terminal_size().columns, 40)
    return 200


def coloured() -> bool:
    """Say whether colours are wanted: there is a terminal, and `NO_COLOR` is not set."""
    return not os.environ.get("NO_COLOR") and redrawable(sys.stdout)
