"""What a trial's program left in its workspace: found, listed, and made again in a folder."""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tui_eval.format import many, size
from tui_eval.model.case import Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.changes import WorkspaceChanges
from tui_eval.processes.workspace.manifest import EntryKind, ManifestEntry
from tui_eval.processes.workspace.rebuilding import (
    FixtureError,
    RebuiltWorkspace,
    apply_kept,
    rebuild_workspace,
)
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.processes.workspace.source import WorkspaceSource
from tui_eval.store.files import FileStore
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import attempt_queries, trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.suites.frozen_suite import readable_suite
from tui_eval.suites.templates.template import TemplateError
from tui_eval.targets import build

ADDED, CHANGED, REMOVED = "added", "changed", "removed"
_SIGNS: Mapping[str, str] = {ADDED: "+", CHANGED: "*", REMOVED: "-"}
ALONE = "--changes-only writes what was changed, alone"


@dataclass(frozen=True, slots=True)
class LeftFile:
    """One thing that is not as it was."""

    change: str
    """`added`, `changed` or `removed`."""
    path: bytes
    entry: ManifestEntry | None
    """What it is now; None: it is there no more."""

    @property
    def sign(self) -> str:
        """`+` added, `*` changed, `-` removed."""
        return _SIGNS[self.change]

    @property
    def name(self) -> str:
        """Its path as text; what is no UTF-8 in it becomes lone surrogates."""
        return _as_text(self.path)

    @property
    def size(self) -> str:
        """Its size in words; empty: it has none."""
        entry = self.entry
        return "" if entry is None or entry.kind is not EntryKind.FILE else size(entry.size)

    @property
    def what(self) -> str:
        """What is to be known beside sign and size; empty: nothing. Foreign."""
        entry = self.entry
        if entry is None:
            return ""
        match entry.kind:
            case EntryKind.LINK:
                return f"link to {_as_text(entry.target or b'?')}"
            case EntryKind.FOLDER:
                return "folder"
            case EntryKind.OTHER:
                return "no file: FIFO, socket or device"
            case EntryKind.FILE:
                if entry.error is not None:
                    return f"not kept: {entry.error}"
                return "executable" if entry.mode & 0o111 else ""

    def as_json(self) -> JsonObject:
        """Return the form that `show --files --json` prints."""
        entry = self.entry
        told: JsonObject = {"path": self.name, "change": self.change}
        if not _is_text(self.path):
            told["path_hex"] = self.path.hex()
        if entry is None:
            return told
        target: Json = None
        if entry.target is not None:
            target = _as_text(entry.target)
        return {
            **told,
            "kind": entry.kind,
            "mode": f"{entry.mode:04o}",
            "bytes": entry.size if entry.kind is EntryKind.FILE else None,
            "sha256": None if entry.digest is None else entry.digest.hex(),
            "target": target,
            "not_kept": entry.error,
        }


def changes_of(db: sqlite3.Connection, files: FileStore, trial: int) -> WorkspaceChanges | None:
    """Return what was changed in a trial's workspace; None: it had none, or nothing is known yet.

    Raises:
        MissingFileError: the list of changes is not beside the store.
        OSError: it cannot be read.
    """
    workspace = attempt_queries.of_trial(db, trial).workspace
    return None if workspace is None else files.changes(workspace)


def left_files(changes: WorkspaceChanges) -> list[LeftFile]:
    """Return all changes in order of their paths."""
    found = [LeftFile(ADDED, path, entry) for path, entry in changes.added]
    found += [LeftFile(CHANGED, path, entry) for path, entry in changes.changed]
    found += [LeftFile(REMOVED, path, None) for path in changes.removed]
    return sorted(found, key=lambda one: one.path)


def file_lines(changes: WorkspaceChanges) -> Iterator[str]:
    """Yield a line for each change, for people: sign, path and bytes; the last sums them up."""
    for one in left_files(changes):
        about = ", ".join(word for word in (one.size, visible_line(one.what)) if word)
        yield f"{one.sign} {visible_line(one.name)}{about and f'  {about}'}"
    if changes.incomplete is not None:
        yield f"there may be more: {changes.incomplete}"
    yield counted(changes)


def counted(changes: WorkspaceChanges) -> str:
    """Return how many of each, and their bytes, in words."""
    counts = (
        (len(changes.added), ADDED),
        (len(changes.changed), CHANGED),
        (len(changes.removed), REMOVED),
    )
    said = ", ".join(f"{n:,} {word}" for n, word in counts if n) or "nothing changed"
    return f"{said}, {size(changes.bytes)}" if changes.bytes else said


def source_of(db: sqlite3.Connection, run: int, trial: TrialRow) -> WorkspaceSource | None:
    """Return where the files come from that a trial began with; None: from nowhere.

    Raises:
        WorkspaceError: they cannot be found any more, with the reason.
    """
    suite = readable_suite(db, run)
    if suite is None:
        raise WorkspaceError("a newer tui-eval has made the run")
    column = next(one for one in run_queries.columns(db, run) if one.index == trial.col)
    asked = Column(column.index, column.name, column.target, column.prompt)
    try:
        target = build(suite)[column.target]
        return target.workspace_source(asked, trial_rows.case(db, run, trial.seq))
    except (TemplateError, WorkspaceError, ValueError) as error:
        raise WorkspaceError(str(error)) from error


def write_workspace(
    folder: Path, source: WorkspaceSource | None, changes: WorkspaceChanges, files: FileStore
) -> list[LeftFile]:
    """Make a workspace as a program left it: what it began with, and its changes in it.

    Args:
        folder: Not there yet; nothing is left of it where this raises.
        source: What it began with.
        changes: What was changed.
        files: Where changed files are kept.

    Returns:
        What is not in it, because it was not kept.

    Raises:
        WorkspaceError: what it began with is not what it was, or a file is not beside the store.
        OSError: the folder cannot be made.
    """
    try:
        made = rebuild_workspace(folder, source, changes, files.folder)
    except FixtureError as error:
        raise WorkspaceError(f"{error}; {ALONE}") from error
    return _left_out(changes, made)


def write_changes(folder: Path, changes: WorkspaceChanges, files: FileStore) -> list[LeftFile]:
    """Make a folder with nothing but what was added or changed; as in `write_workspace`."""
    folder.mkdir(mode=0o700)
    try:
        return _left_out(changes, apply_kept(folder, changes, files.folder))
    except BaseException:
        remove_folder(folder)
        raise


def _left_out(changes: WorkspaceChanges, made: RebuiltWorkspace) -> list[LeftFile]:
    names = set(made.left_out)
    return [one for one in left_files(changes) if one.path in names and one.entry is not None]


def said_of(out: list[LeftFile]) -> str:
    """Say what is not in a folder that was written, because it was not kept."""
    names = ", ".join(visible_line(one.name, 80) for one in out[:3])
    return f"{many(len(out), 'thing')} not kept: {names}{' …' if len(out) > 3 else ''}"


def _as_text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def _is_text(path: bytes) -> bool:
    try:
        path.decode()
    except UnicodeDecodeError:
        return False
    return True
