"""A file that a trial's program changed, as text before and after.

What a program wrote is foreign: names and texts may be of any bytes, and of each file no more is
read than a page shows.
"""

import sqlite3
from dataclasses import dataclass

from tui_eval.format import size
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.manifest import EntryKind
from tui_eval.processes.workspace.source import read_from
from tui_eval.reports.programs.left_files import ADDED, LeftFile, source_of
from tui_eval.store.files import FileStore
from tui_eval.store.rows import TrialRow

MOST_READ = 1_000_000
"""Bytes of a file that are read to be compared."""


@dataclass(frozen=True, slots=True)
class FileTexts:
    """A file before and after, as text to compare."""

    old_name: str
    old: str
    new: str


def file_texts(
    db: sqlite3.Connection, files: FileStore, run: int, trial: TrialRow, file: LeftFile
) -> FileTexts:
    """Return the texts of a file before and after; of a long one its beginning.

    Raises:
        WorkspaceError: they are not there, or are no texts; the message says which.
        OSError: they cannot be read.
    """
    added, entry = file.change == ADDED, file.entry
    if entry is not None and entry.kind is not EntryKind.FILE:
        raise WorkspaceError(f"there is nothing to compare: {file.what}")
    new, new_cut = "", False
    if entry is not None:
        if entry.digest is None:
            raise WorkspaceError(f"it was not kept: {entry.error}")
        new, new_cut = _text(files.get(entry.digest, MOST_READ + 1), entry.size)
    old, old_cut = ("", False) if added else _before(db, run, trial, file)
    cut = f" (the first {size(MOST_READ)} of each)" if new_cut or old_cut else ""
    return FileTexts(f"{'nothing' if added else 'before'}{cut}", old, new)


def _before(db: sqlite3.Connection, run: int, trial: TrialRow, file: LeftFile) -> tuple[str, bool]:
    source = source_of(db, run, trial)
    if source is None:
        raise WorkspaceError("it was made by the commands of setup: how it was is not known")
    try:
        return _text(read_from(source, file.path, MOST_READ + 1), None)
    except FileNotFoundError as error:
        raise WorkspaceError(
            "it is not in the fixture: setup made it, or the fixture has changed since"
        ) from error


def _text(data: bytes, whole: int | None) -> tuple[str, bool]:
    """Return bytes as text, and whether that is not all of it."""
    cut = len(data) > MOST_READ
    data = data[:MOST_READ]
    length = size(whole) if whole is not None else f"{'over ' if cut else ''}{size(len(data))}"
    if b"\0" in data:
        raise WorkspaceError(f"it is binary, {length}: there is no text to compare")
    try:
        return data.decode(), cut
    except UnicodeDecodeError as error:
        if cut and error.start > len(data) - 4:  # in the midst of a character
            return data[: error.start].decode(), cut
        raise WorkspaceError(f"it is binary, {length}: there is no text to compare") from error
