"""The folder beside the store: what attempts left, each content once, under its digest.

What is put is on the disk before the commit that names it. Three rules keep the two together:

- Whoever puts files **holds** the folder until that commit is over (`FileStore.hold`).
- A file is removed only while nobody holds the folder, and only if the store does not name it by
  then. So a file that was found there, and was therefore not written anew, stays.
- What a crash left between the two is named by nobody: the next engine's `sweep` takes it away.

The store may be somewhere without its folder: whoever reads is told what is missing.
"""

import errno
import fcntl
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tui_eval.model.outputs.attempt_record import ChangeCounts, KeptFile
from tui_eval.processes.workspace.bounds import (
    DEFAULT_LIMITS,
    WorkspaceError,
    WorkspaceLimits,
)
from tui_eval.processes.workspace.change_list import dump_changes, load_changes
from tui_eval.processes.workspace.changes import WorkspaceChanges, keep_files
from tui_eval.processes.workspace.kept_content import kept_path, put_content, sync_names
from tui_eval.processes.workspace.manifest import ManifestEntry
from tui_eval.processes.workspace.tree_files import pieces
from tui_eval.store.location import kept_files

_PATIENCE_S: Final = 1.0
"""How long whoever removes files waits for those who hold the folder."""
_PAUSE_S: Final = 0.01
_CHUNK: Final = 500


class MissingFileError(WorkspaceError):
    """A file that the store names is not beside it, or is not what it was."""


@dataclass(frozen=True, slots=True)
class KeptWorkspace:
    """What was kept of a workspace: for `Output.workspace` and the attempt's record."""

    digest: bytes
    """Of the list of changes, which is kept as the files are."""
    counts: ChangeCounts
    files: tuple[KeptFile, ...]
    """All that was kept, the list included: what the store has to name."""
    left_out: tuple[tuple[bytes, str], ...]
    """Paths of files that are not kept, and why."""


@dataclass(frozen=True, slots=True)
class FolderSize:
    """How much is in the folder, and what of it nobody needs or somebody misses."""

    files: int = 0
    bytes: int = 0
    unnamed: int = 0
    """Files that the store does not name: the next engine takes them away."""
    missing: int = 0
    """Files that the store names and that are not there."""


class Hold:
    """Keeps everybody from removing files until it is released; releasing twice is harmless."""

    def __init__(self, folder: int) -> None:
        self._folder: int | None = folder

    def release(self) -> None:
        """Let files be removed again."""
        folder, self._folder = self._folder, None
        if folder is not None:
            os.close(folder)

    def __enter__(self) -> Self:
        """Hold it meanwhile."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release it."""
        self.release()


class FileStore:
    """Files by digest in a folder that is its owner's alone; it is made at the first one.

    All of it blocks, and may take long: never to be called on an event loop.
    """

    def __init__(self, folder: Path) -> None:
        """Use a folder, which need not be there yet."""
        self.folder = folder

    @classmethod
    def beside(cls, store: Path) -> Self:
        """Return the files of a store."""
        return cls(kept_files(store))

    def hold(self) -> Hold:
        """Make the folder where it is not there, and keep everybody from removing files.

        Take it before the first `put`, and release it when the commit that names what was put is
        over, however it went.

        Raises:
            OSError: the folder cannot be made.
        """
        with suppress(FileExistsError):
            self.folder.mkdir(mode=0o700)
        folder = self._opened()
        try:
            fcntl.flock(folder, fcntl.LOCK_SH)
        except BaseException:
            os.close(folder)
            raise
        return Hold(folder)

    def put(self, data: bytes) -> KeptFile:
        """Keep bytes; they are on the disk when this returns. To be called under a `hold`.

        Raises:
            OSError: they cannot be written.
        """
        digest = hashlib.sha256(data).digest()
        if not kept_path(self.folder, digest).exists():
            put_content(self.folder, digest, len(data), (data,))
        sync_names(self.folder, (digest,))
        return KeptFile(digest, len(data))

    def keep_workspace(
        self, root: Path, changes: WorkspaceChanges, limits: WorkspaceLimits = DEFAULT_LIMITS
    ) -> KeptWorkspace:
        """Keep the files that were added or changed, and the list of all changes.

        To be called under a `hold`; all of it is on the disk when this returns. Files that cannot
        be kept are in the list, with the reason.

        Raises:
            OSError: the folder cannot be written to; what was put is found again by the next try.
        """
        kept = keep_files(root, changes, self.folder, limits)
        why = dict(kept.left_out)

        def told(
            entries: Iterable[tuple[bytes, ManifestEntry]],
        ) -> tuple[tuple[bytes, ManifestEntry], ...]:
            return tuple(
                (path, replace(entry, error=why[path]) if path in why else entry)
                for path, entry in entries
            )

        listed = replace(changes, added=told(changes.added), changed=told(changes.changed))
        listing = self.put(dump_changes(listed))
        sizes = {
            entry.digest: entry.size
            for _, entry in (*changes.added, *changes.changed)
            if entry.digest in kept.digests
        }
        files = [KeptFile(digest, size) for digest, size in sizes.items() if digest is not None]
        counts = ChangeCounts(
            len(changes.added), len(changes.changed), len(changes.removed), changes.bytes
        )
        return KeptWorkspace(listing.digest, counts, (listing, *files), kept.left_out)

    def changes(self, workspace: bytes) -> WorkspaceChanges:
        """Return what was changed in a workspace, by the digest of the list.

        Raises:
            MissingFileError: the list is not here, or is damaged.
            OSError: it cannot be read.
        """
        return load_changes(self.get(workspace))

    def get(self, digest: bytes, at_most: int | None = None) -> bytes:
        """Return what a file holds.

        Args:
            digest: The file's.
            at_most: Bytes of its beginning; None: all, and it is compared with its digest.

        Raises:
            MissingFileError: it is not here, or is damaged.
            OSError: it cannot be read.
        """
        with self.opened(digest) as descriptor:
            if at_most is not None:
                return os.read(descriptor, at_most)
            data = b"".join(pieces(descriptor))
        if hashlib.sha256(data).digest() != digest:
            raise MissingFileError(
                f"{kept_path(self.folder, digest)}: damaged; restore it from a copy of the folder"
            )
        return data

    @contextmanager
    def opened(self, digest: bytes) -> Iterator[int]:
        """Open a file for reading; give its descriptor.

        Raises:
            MissingFileError: it is not here.
            OSError: it cannot be opened.
        """
        try:
            descriptor = os.open(kept_path(self.folder, digest), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise self._missing(digest) from error
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def size(self, digest: bytes) -> int | None:
        """Return how many bytes a file has; None where it is not here."""
        try:
            return kept_path(self.folder, digest).stat().st_size
        except FileNotFoundError:
            return None

    def remove_unnamed(self, db: sqlite3.Connection, digests: Collection[bytes]) -> bool:
        """Remove those of these files that the store does not name (any more).

        Args:
            db: A connection to the store, in no transaction.
            digests: Of files that may have become nobody's.

        Returns:
            False where somebody held the folder all the time: a later `sweep` removes them.
        """
        rest = list(digests)
        while rest and self.folder.exists():
            chosen, rest = rest[:_CHUNK], rest[_CHUNK:]
            with self._alone(_PATIENCE_S) as alone:
                if not alone:
                    return False
                named = _named(db, chosen)
                for digest in chosen:
                    if digest not in named:
                        kept_path(self.folder, digest).unlink(missing_ok=True)
        return True

    def sweep(
        self, db: sqlite3.Connection, stopped: Callable[[], bool] = lambda: False
    ) -> tuple[int, int]:
        """Remove what nobody names: left by a crash between a put and its commit.

        Where somebody holds the folder, the rest is left to the next time.

        Args:
            db: A connection to the store, in no transaction.
            stopped: Asked now and then whether to leave it there.

        Returns:
            How many files were removed, and their bytes.

        Raises:
            OSError: the folder cannot be read, or a file not be removed.
        """
        count = size = 0
        for below in self._parts():
            if stopped():
                break
            with self._alone(0) as alone:
                if not alone:
                    break
                for path, found in self._unnamed(db, below):
                    path.unlink(missing_ok=True)
                    count += 1
                    size += found
        return count, size

    def measure(self, db: sqlite3.Connection) -> FolderSize:
        """Count what is in the folder, what of it nobody names, and what is missing.

        Raises:
            OSError: the folder cannot be read.
        """
        files = size = unnamed = 0
        there: set[bytes] = set()
        for below in self._parts():
            for _, digest, found in _listed(below):
                files += 1
                size += found
                if digest is not None:
                    there.add(digest)
            unnamed += sum(1 for _ in self._unnamed(db, below))
        missing = sum(
            digest not in there for (digest,) in db.execute("SELECT digest FROM kept_files")
        )
        return FolderSize(files, size, unnamed, missing)

    def _unnamed(self, db: sqlite3.Connection, below: Path) -> Iterator[tuple[Path, int]]:
        listed = list(_listed(below))
        named = _named(db, [digest for _, digest, _ in listed if digest is not None])
        return ((path, size) for path, digest, size in listed if digest not in named)

    def _parts(self) -> list[Path]:
        """Return the folders that files are in."""
        try:
            return sorted(below for below in self.folder.iterdir() if below.is_dir())
        except FileNotFoundError:
            return []

    def _missing(self, digest: bytes) -> MissingFileError:
        if not self.folder.is_dir():
            return MissingFileError(
                f"{self.folder}: not there: files that runs of this store left are in it; put it "
                "back beside the store"
            )
        return MissingFileError(
            f"{kept_path(self.folder, digest)}: not there; restore it from a copy of the folder"
        )

    @contextmanager
    def _alone(self, patience_s: float) -> Iterator[bool]:
        """Give whether nobody holds the folder, and keep it so meanwhile."""
        folder = self._opened()
        try:
            until = time.monotonic() + patience_s
            while not (alone := _locked(folder)) and time.monotonic() < until:
                time.sleep(_PAUSE_S)
            yield alone
        finally:
            os.close(folder)

    def _opened(self) -> int:
        return os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)


def _locked(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        return False
    return True


def _listed(below: Path) -> Iterator[tuple[Path, bytes | None, int]]:
    """Give the files of a part: path, digest (None: no whole one), bytes."""
    with os.scandir(below) as entries:
        for entry in entries:
            try:
                digest = bytes.fromhex(below.name + entry.name)
            except ValueError:
                digest = None
            with suppress(FileNotFoundError):
                yield Path(entry.path), digest, entry.stat(follow_symlinks=False).st_size


def _named(db: sqlite3.Connection, digests: Collection[bytes]) -> set[bytes]:
    """Return which of these files the store names."""
    found: set[bytes] = set()
    wanted = list(digests)
    for start in range(0, len(wanted), _CHUNK):
        some = wanted[start : start + _CHUNK]
        marks = ",".join("?" * len(some))
        rows = db.execute(f"SELECT digest FROM kept_files WHERE digest IN ({marks})", some)
        found.update(digest for (digest,) in rows)
    return found
