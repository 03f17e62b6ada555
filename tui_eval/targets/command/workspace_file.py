"""A file in a folder in which anything may lie: links, pipes, devices."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tui_eval.processes.workspace.tree_files import open_regular, parent_of

_PIECE: Final = 4_000_000
"""Bytes of a file that are looked through at once."""


def content(root: Path, path: bytes, at_most: int, start: int = 0) -> bytes:
    """Return what a regular file holds; no link is followed, and nothing else is opened.

    Args:
        root: The folder.
        path: Of the file in it.
        at_most: Bytes to read.
        start: Where to begin.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with parent_of(folder, path) as (parent, name):
            opened = open_regular(parent, name)
    finally:
        os.close(folder)
    held = bytearray()
    try:
        os.lseek(opened, start, os.SEEK_SET)
        while len(held) < at_most and (piece := os.read(opened, min(at_most - len(held), 1 << 20))):
            held += piece
    finally:
        os.close(opened)
    return bytes(held)


def holds(root: Path, path: bytes, secrets: Sequence[bytes]) -> bool:
    """Say whether a file in a folder holds a secret, or cannot be looked through."""
    start, overlap = 0, max(map(len, secrets))
    while True:
        try:
            piece = content(root, path, _PIECE, start)
        except OSError:
            return True
        if any(secret in piece for secret in secrets):
            return True
        if len(piece) < _PIECE:
            return False
        start += _PIECE - overlap
