"""A workspace made again as a program left it: what it began with, and what was changed in it."""

import os
import stat
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tui_eval.processes.workspace.bounds import DEFAULT_LIMITS, RoomLeft, WorkspaceError
from tui_eval.processes.workspace.changes import WorkspaceChanges, apply_changes
from tui_eval.processes.workspace.manifest import (
    EntryKind,
    Manifest,
    ManifestEntry,
    take_manifest,
)
from tui_eval.processes.workspace.path_patterns import PathPatterns
from tui_eval.processes.workspace.removal import remove_entry, remove_folder
from tui_eval.processes.workspace.source import WorkspaceSource, make_workspace
from tui_eval.processes.workspace.tree_files import (
    open_folder,
    open_regular,
    parent_of,
    pieces,
    write_file,
)
from tui_eval.processes.workspace.walk import walk

_BELOW = b"/x"
"""Stands for anything in what a program has put in a folder's place."""


class FixtureError(WorkspaceError):
    """What a workspace began with is not there any more, or is not what it was."""


@dataclass(frozen=True)
class RebuiltWorkspace:
    """What is not in a rebuilt workspace as the program left it."""

    left_out: tuple[bytes, ...]
    """Paths of what was not kept, or cannot be made."""
    restored: tuple[bytes, ...]
    """Protected paths that the program had changed: they are as they were before."""


def rebuild_workspace(
    folder: Path,
    source: WorkspaceSource | None,
    changes: WorkspaceChanges,
    store: Path,
    protected: Collection[str] = (),
) -> RebuiltWorkspace:
    """Make a workspace as a program left it. Blocking.

    Args:
        folder: Not there yet; nothing is left of it where this raises.
        source: What it began with.
        changes: What was changed.
        store: The folder with the files that were kept.
        protected: Patterns of paths that stay as they were.

    Raises:
        FixtureError: what it began with is not what it was.
        WorkspaceError: a file is not in the store.
        OSError: the folder cannot be made.
    """
    try:
        make_workspace(folder, source)
    except WorkspaceError as error:
        remove_folder(folder)
        raise FixtureError(str(error)) from error
    try:
        before = _manifest(folder, changes.base)
        kept, restored = _unprotected(changes, before, PathPatterns(protected))
        return replace(apply_kept(folder, kept, store), restored=restored)
    except BaseException:
        remove_folder(folder)
        raise


def _manifest(folder: Path, base: bytes | None) -> Manifest:
    found = take_manifest(folder)
    if base is not None and found.digest() != base:
        raise FixtureError("the files that it began with have changed since")
    return found


def apply_kept(folder: Path, changes: WorkspaceChanges, store: Path) -> RebuiltWorkspace:
    """Make in a folder what was changed, as far as it was kept; what was not is not there.

    Raises:
        WorkspaceError: a file is not in the store.
    """
    entries = (*changes.added, *changes.changed)
    out = {path for path, entry in entries if not _is_kept(entry)}
    kept = replace(
        changes,
        added=tuple(one for one in changes.added if one[0] not in out),
        changed=tuple(one for one in changes.changed if one[0] not in out),
        removed=tuple(sorted((*changes.removed, *(out & {path for path, _ in changes.changed})))),
    )
    apply_changes(folder, kept, store)
    return RebuiltWorkspace(tuple(sorted(out)), ())


def _is_kept(entry: ManifestEntry) -> bool:
    """Whether something can be made again."""
    if entry.kind is EntryKind.OTHER:
        return False
    return entry.kind is not EntryKind.FILE or (entry.digest is not None and entry.error is None)


def _unprotected(
    changes: WorkspaceChanges, before: Manifest, protected: PathPatterns
) -> tuple[WorkspaceChanges, tuple[bytes, ...]]:
    """Return the changes without those of protected paths, and which these are."""
    above = {
        path[:at]
        for path in before.entries
        if protected.match(path)
        for at, sign in enumerate(path)
        if sign == ord("/")
    }

    def is_protected(path: bytes, entry: ManifestEntry | None) -> bool:
        # what takes the place of a folder takes what is in it away, and a link brings other things
        if protected.match(path) or path in above:
            return True
        is_link = entry is not None and entry.kind is EntryKind.LINK
        return is_link and protected.match(path + _BELOW)

    entries = (*changes.added, *changes.changed)
    restored = {path for path, entry in entries if is_protected(path, entry)}
    restored |= {path for path in changes.removed if is_protected(path, None)}
    kept = replace(
        changes,
        added=tuple(one for one in changes.added if one[0] not in restored),
        changed=tuple(one for one in changes.changed if one[0] not in restored),
        removed=tuple(path for path in changes.removed if path not in restored),
    )
    return kept, tuple(sorted(restored))


def lay_over(root: Path, name: bytes, source: Path) -> None:
    """Put a file or folder into a folder in which nothing runs, whatever stands there.

    A folder is laid over one that is there: what else is in that stays.

    Args:
        root: The folder.
        name: Where in it; what is on the way and no folder is taken away.
        source: What is copied; no link in it is followed.

    Raises:
        WorkspaceError: it is neither a file nor a folder, cannot be read, or has too much.
        OSError: it cannot be written.
    """
    left = RoomLeft(DEFAULT_LIMITS, str(source))
    make_way(root, name if source.is_dir() else name.rpartition(b"/")[0])
    with open_folder(root) as folder:
        try:
            if source.is_dir():
                _lay_folder(folder, name, source, left)
            else:
                _lay_file(folder, name, source, left)
        except FileNotFoundError as error:
            raise WorkspaceError(f"{source}: {error.strerror}") from error


def clear_way(root: Path, name: bytes) -> None:
    """Have nothing stand at a path of a folder, and folders on the way to it.

    Raises:
        OSError: it cannot be done.
    """
    make_way(root, name.rpartition(b"/")[0])
    with open_folder(root) as folder, parent_of(folder, name) as (parent, last):
        _remove(parent, last)


def make_way(root: Path, name: bytes) -> None:
    """Have a folder stand at a path of a folder; what is there and is none is taken away.

    Raises:
        OSError: it cannot be done.
    """
    parts = name.split(b"/") if name else []
    with open_folder(root) as folder:
        for at in range(1, len(parts) + 1):
            _room_for_folder(folder, b"/".join(parts[:at]))


def _lay_folder(root: int, name: bytes, source: Path, left: RoomLeft) -> None:
    for entry in walk(source):
        if entry.error is not None:
            raise WorkspaceError(f"{source}: {os.fsdecode(entry.path)!r}: {entry.error}")
        path, mode = name + b"/" + entry.path, stat.S_IMODE(entry.status.st_mode)
        with parent_of(root, path) as (folder, last):
            if entry.left:
                os.chmod(last, mode | stat.S_IRWXU, dir_fd=folder)
                continue
            left.take(entry.status.st_size if entry.is_file else 0)
            if entry.is_folder:
                _room_for_folder(root, path)
                continue
            _remove(folder, last)
            if stat.S_ISLNK(entry.status.st_mode):
                os.symlink(os.readlink(entry.name, dir_fd=entry.folder), last, dir_fd=folder)
            elif entry.is_file:
                _write(folder, last, mode, open_regular(entry.folder, entry.name))


def _lay_file(root: int, name: bytes, source: Path, left: RoomLeft) -> None:
    status = source.stat()
    if not stat.S_ISREG(status.st_mode):
        raise WorkspaceError(f"{source} is neither a file nor a folder")
    left.take(status.st_size)
    opened = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with parent_of(root, name) as (folder, last):
        _remove(folder, last)
        _write(folder, last, stat.S_IMODE(status.st_mode), opened)


def _write(folder: int, name: bytes, mode: int, opened: int) -> None:
    try:
        write_file(folder, name, mode, pieces(opened))
    finally:
        os.close(opened)


def _room_for_folder(root: int, path: bytes) -> None:
    """Have a folder stand at a path whose parent is there, one that may be written to."""
    with parent_of(root, path) as (folder, name):
        try:
            status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            status = None
        if status is not None and stat.S_ISDIR(status.st_mode):
            os.chmod(name, stat.S_IMODE(status.st_mode) | stat.S_IRWXU, dir_fd=folder)
            return
        _remove(folder, name)
        os.mkdir(name, 0o755, dir_fd=folder)


def _remove(folder: int, name: bytes) -> None:
    with suppress(FileNotFoundError):
        remove_entry(folder, name)
