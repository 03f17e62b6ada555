"""Opening a file in the person's editor, at a line where the editor knows how."""

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textual.app import App, SuspendNotSupported

_PLUS = frozenset(
    ["vi", "vim", "nvim", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "mcedit"]
)
"""Editors that take `+LINE FILE`."""
_COLON = frozenset(["hx", "helix", "subl", "zed", "lapce", "amp"])
"""Editors that take `FILE:LINE`."""
_GOTO = frozenset(["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"])
"""Editors that take `--goto FILE:LINE`."""


class NoEditorError(Exception):
    """The file cannot be opened; the message says what would help."""


def command(
    file: Path, line: int | None = None, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """Give the command that opens a file.

    Args:
        file: The file.
        line: The line to stand on, from 1; None: wherever the editor does.
        environ: Where `VISUAL` and `EDITOR` are looked up.

    Raises:
        NoEditorError: what stands there is no command line.
    """
    named = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    try:
        words = shlex.split(named)
    except ValueError as error:
        raise NoEditorError(f"EDITOR={named}: {error}") from error
    name = Path(words[0]).name
    if line is None:
        return [*words, str(file)]
    if name in _PLUS:
        return [*words, f"+{line}", str(file)]
    if name in _COLON:
        return [*words, f"{file}:{line}"]
    if name in _GOTO:
        return [*words, "--goto", f"{file}:{line}"]
    return [*words, str(file)]


def edit(app: App[Any], file: Path, line: int | None = None) -> None:
    """Give the terminal to the editor until it ends.

    Raises:
        NoEditorError: there is no such program, or no terminal to give.
    """
    words = command(file, line)
    try:
        with app.suspend():
            subprocess.run(words, check=False)  # noqa: S603 - the person's own editor
    except SuspendNotSupported:
        raise NoEditorError("an editor needs a terminal of its own") from None
    except OSError as error:
        raise NoEditorError(
            f"{words[0]}: {error.strerror}; set EDITOR to a program that is there"
        ) from error
