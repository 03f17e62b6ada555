"""What a program changed in its workspace: found, kept by digest, and made again elsewhere."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.processes.workspace.bounds import DEFAULT_LIMITS, WorkspaceError, WorkspaceLimits
from tui_eval.processes.workspace.kept_content import (
    OtherContentError,
    kept_path,
    put_content,
    sync_names,
)
from tui_eval.processes.workspace.manifest import EntryKind, Manifest, ManifestEntry
from tui_eval.processes.workspace.removal import remove_entry
from tui_eval.processes.workspace.tree_files import (
    open_folder,
    open_regular,
    parent_of,
    pieces,
    write_pieces,
)

_MADE_AGAIN: Final = 0o777


@dataclass(frozen=True)
class WorkspaceChanges:
    """What is different between two manifests, each by path in order."""

    added: tuple[tuple[bytes, ManifestEntry], ...]
    changed: tuple[tuple[bytes, ManifestEntry], ...]
    """As they are afterwards: other content, another mode, or another kind of thing."""
    removed: tuple[bytes, ...]
    incomplete: str | None = None
    """Why there may be more."""
    base: bytes | None = None
    """Digest of the manifest that came before: what the changes are to be made in."""

    @property
    def bytes(self) -> int:
        """Size of the files that were added or changed."""
        return sum(entry.size for _, entry in (*self.added, *self.changed))


@dataclass(frozen=True)
class KeptFiles:
    """Which files of a workspace have been kept."""

    digests: frozenset[bytes]
    left_out: tuple[tuple[bytes, str], ...]
    """Paths of those that are not, and why."""


def compare(before: Manifest, after: Manifest) -> WorkspaceChanges:
    """Return what changed between two manifests of one folder."""
    paths = sorted(after.entries)
    return WorkspaceChanges(
        added=tuple((path, after.entries[path]) for path in paths if path not in before.entries),
        changed=tuple(
            (path, after.entries[path])
            for path in paths
            if path in before.entries and not after.entries[path].same(before.entries[path])
        ),
        removed=()
        if after.incomplete
        else tuple(sorted(before.entries.keys() - after.entries.keys())),
        incomplete=before.incomplete or after.incomplete,
        base=before.digest(),
    )


def keep_files(
    root: Path,
    changes: WorkspaceChanges,
    store: Path,
    limits: WorkspaceLimits = DEFAULT_LIMITS,
) -> KeptFiles:
    """Copy the files that were added or changed to a store, each once, under its digest.

    All that is returned is on the disk: a file has its name only once it is whole and synced. What
    is not as the manifest says, any more, is left out.

    Raises:
        OSError: the store cannot be written to.
    """
    kept: set[bytes] = set()
    left_out: list[tuple[bytes, str]] = []
    left = limits.bytes
    with open_folder(root) as folder:
        for path, entry in (*changes.added, *changes.changed):
            if entry.kind is not EntryKind.FILE:
                continue
            if entry.digest is None or entry.size > left:
                left_out.append((path, entry.error or "more than is kept of a workspace"))
                continue
            if entry.digest not in kept and not kept_path(store, entry.digest).exists():
                left -= entry.size
                why = _keep(folder, path, entry, entry.digest, store)
                if why is not None:
                    left_out.append((path, why))
                    continue
            kept.add(entry.digest)
    sync_names(store, kept)
    return KeptFiles(frozenset(kept), tuple(left_out))


def _keep(root: int, path: bytes, entry: ManifestEntry, digest: bytes, store: Path) -> str | None:
    """Copy a file; return why it is not the one that was listed."""
    try:
        with parent_of(root, path) as (folder, name):
            source = open_regular(folder, name, unlock=True)
    except OSError as error:
        return error.strerror or str(error)
    try:
        put_content(store, digest, entry.size, pieces(source))
    except OtherContentError:
        return "it changed while it was kept"
    finally:
        os.close(source)
    return None


def apply_changes(root: Path, changes: WorkspaceChanges, store: Path) -> None:
    """Make in a copy of the original what was changed in another.

    What cannot be made (FIFOs, sockets, devices) is passed over, and no file runs as its owner for
    others (set-user-id bits). Links are made last, so that
    nothing is written through one.

    Raises:
        WorkspaceError: a file is not in the store, or the folder is not a copy of the original.
    """
    entries = (*changes.added, *changes.changed)
    try:
        with open_folder(root) as folder:
            for path in reversed(changes.removed):
                _clear(folder, path)
            for path, entry in changes.changed:
                _clear(folder, path, but_folders=entry.kind is EntryKind.FOLDER)
            for path, _ in _of(EntryKind.FOLDER, entries):
                _make_folder(folder, path)
            for path, entry in _of(EntryKind.FILE, entries):
                _write_file(folder, path, entry, store)
            for path, entry in _of(EntryKind.LINK, entries):
                with parent_of(folder, path, make=True) as (parent, name):
                    os.symlink(entry.target or b"", name, dir_fd=parent)
            for path, entry in reversed(list(_of(EntryKind.FOLDER, entries))):
                with parent_of(folder, path) as (parent, name):
                    os.chmod(name, entry.mode & _MADE_AGAIN, dir_fd=parent)
    except OSError as error:
        raise WorkspaceError(f"the workspace cannot be rebuilt: {error}") from error


def _of(
    kind: EntryKind, entries: Iterable[tuple[bytes, ManifestEntry]]
) -> Iterator[tuple[bytes, ManifestEntry]]:
    return ((path, entry) for path, entry in entries if entry.kind is kind)


def _clear(root: int, path: bytes, but_folders: bool = False) -> None:
    """Take away what was there."""
    with suppress(FileNotFoundError), parent_of(root, path) as (folder, name):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not (but_folders and stat.S_ISDIR(status.st_mode)):
            remove_entry(folder, name)


def _make_folder(root: int, path: bytes) -> None:
    with parent_of(root, path, make=True) as (folder, name), suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)


def _write_file(root: int, path: bytes, entry: ManifestEntry, store: Path) -> None:
    if entry.digest is None:
        raise WorkspaceError(f"{os.fsdecode(path)!r} was not kept: {entry.error}")
    with parent_of(root, path, make=True) as (folder, name):
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        target = os.open(name, flags, 0o600, dir_fd=folder)
        try:
            with kept_path(store, entry.digest).open("rb", buffering=0) as source:
                write_pieces(target, pieces(source.fileno()))
            os.fchmod(target, entry.mode & _MADE_AGAIN)
        finally:
            os.close(target)
