"""Where the files of a workspace come from: a folder, or a tree of git without its history."""

import errno
import os
import re
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Protocol

from tui_eval.processes.workspace.bounds import (
    DEFAULT_LIMITS,
    RoomLeft,
    WorkspaceError,
    WorkspaceLimits,
)
from tui_eval.processes.workspace.manifest import take_manifest
from tui_eval.processes.workspace.tree_files import open_regular, parent_of, pieces, write_file
from tui_eval.processes.workspace.walk import walk

_GIT_ENVIRONMENT: Final = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ALLOW_PROTOCOL": "",  # nothing is fetched, whatever the repository's settings say
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_TREE_LINE: Final = re.compile(rb"(\d{6}) (\w+) ([0-9a-f]+)\t(.+)", re.DOTALL)
_NOT_IN_A_TREE: Final = frozenset({b"", b".", b"..", b".git"})


class WorkspaceSource(Protocol):
    """Where the files of a workspace come from; equal ones are one source."""

    def write(self, target: Path, limits: WorkspaceLimits) -> None:
        """Write its files into an empty folder; `make_workspace` has made it.

        Raises:
            WorkspaceError: it is not there, or has more than the limits allow.
            OSError: the folder cannot be written to.
        """

    def digest(self, limits: WorkspaceLimits) -> bytes:
        """Return what is the same as long as it has the same files; see `source_digest`."""

    def read(self, path: bytes, at_most: int) -> bytes:
        """Return the beginning of a regular file of it; see `read_from`."""


@dataclass(frozen=True)
class FolderSource:
    """All files, folders and links of a folder."""

    path: Path

    @property
    def place(self) -> Path:
        """Where it is on the disk."""
        return self.path

    def write(self, target: Path, limits: WorkspaceLimits) -> None:
        """Copy the folder."""
        _copy(self, target, limits)

    def digest(self, limits: WorkspaceLimits) -> bytes:
        """Return the digest of the list of its files."""
        try:
            manifest = take_manifest(self.path, limits)
        except OSError as error:
            raise WorkspaceError(f"{self.path}: {error.strerror}") from error
        if manifest.incomplete is not None:
            raise WorkspaceError(f"{self.path}: {manifest.incomplete}")
        return manifest.digest()

    def read(self, path: bytes, at_most: int) -> bytes:
        """Read a file of the folder."""
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with parent_of(folder, path) as (parent, name):
                opened = open_regular(parent, name)
        finally:
            os.close(folder)
        with open(opened, "rb") as file:
            return file.read(at_most)


@dataclass(frozen=True)
class GitSource:
    """The files of a commit or tree, as they are stored: nothing is filtered, nothing left out."""

    repository: Path
    at: str

    @property
    def place(self) -> Path:
        """Where it is on the disk."""
        return self.repository

    def write(self, target: Path, limits: WorkspaceLimits) -> None:
        """Write the files of the tree."""
        _write_tree(self, target, limits)

    def digest(self, limits: WorkspaceLimits) -> bytes:
        """Return the id of the tree."""
        return bytes.fromhex(_tree(self))

    def read(self, path: bytes, at_most: int) -> bytes:
        """Read a blob of the tree."""
        return _read_blob(self, path, at_most)


def make_workspace(
    target: Path, source: WorkspaceSource | None, limits: WorkspaceLimits = DEFAULT_LIMITS
) -> None:
    """Make a folder that is only its owner's, with the files of a source.

    Raises:
        WorkspaceError: the source is not there, or has more than the limits allow.
        OSError: the folder cannot be written to.
    """
    target.mkdir(mode=0o700)
    if source is not None:
        source.write(target, limits)


def source_digest(source: WorkspaceSource, limits: WorkspaceLimits = DEFAULT_LIMITS) -> bytes:
    """Return what is the same as long as a source has the same files.

    Raises:
        WorkspaceError: the source is not there, or too large to be known.
    """
    return source.digest(limits)


def read_from(source: WorkspaceSource, path: bytes, at_most: int) -> bytes:
    """Return the beginning of a regular file of a source.

    Args:
        source: The source.
        path: Of the file in it.
        at_most: Bytes to read.

    Raises:
        WorkspaceError: the source is not there.
        FileNotFoundError: there is no such file in it.
        OSError: it cannot be read.
    """
    return source.read(path, at_most)


def _read_blob(source: GitSource, path: bytes, at_most: int) -> bytes:
    tree = _tree(source)
    listed = _git(source, "ls-tree", "-z", "--full-tree", tree, "--", b":(top,literal)" + path)
    blobs = [name for _, kind, name, _ in map(_tree_entry, filter(None, listed.split(b"\0")))
             if kind == b"blob"]  # fmt: skip
    if not blobs:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fsdecode(path))
    command = [*_command(source), "cat-file", "blob", blobs[0].decode()]
    with subprocess.Popen(  # noqa: S603 - git alone, with no settings but the repository's
        command, env=_environment(source), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as git:
        assert git.stdout is not None
        data = git.stdout.read(at_most)
        git.stdout.close()  # of a longer one the rest is not wanted
    return data


def _copy(source: FolderSource, target: Path, limits: WorkspaceLimits) -> None:
    left = RoomLeft(limits, str(source.path))
    root = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for entry in walk(source.path):
            if entry.error is not None:
                raise WorkspaceError(f"{source.path}: {os.fsdecode(entry.path)!r}: {entry.error}")
            mode = stat.S_IMODE(entry.status.st_mode)
            with parent_of(root, entry.path) as (folder, name):
                if entry.left:
                    os.chmod(name, mode, dir_fd=folder)
                elif entry.is_folder:
                    left.take(0)
                    os.mkdir(name, 0o700, dir_fd=folder)
                elif stat.S_ISLNK(entry.status.st_mode):
                    left.take(0)
                    os.symlink(os.readlink(entry.name, dir_fd=entry.folder), name, dir_fd=folder)
                elif entry.is_file:
                    left.take(entry.status.st_size)
                    opened = open_regular(entry.folder, entry.name)
                    try:
                        write_file(folder, name, mode, pieces(opened))
                    finally:
                        os.close(opened)
    except OSError as error:
        if error.filename in (source.path, os.fsencode(source.path)):
            raise WorkspaceError(f"{source.path}: {error.strerror}") from error
        raise
    finally:
        os.close(root)


def _write_tree(source: GitSource, target: Path, limits: WorkspaceLimits) -> None:
    """Write the blobs of a tree; links last, so that nothing is written through one."""
    left = RoomLeft(limits, f"{source.repository} at {source.at}")
    listed = _git(source, "ls-tree", "-r", "-z", "--full-tree", _tree(source)).split(b"\0")
    links: list[tuple[bytes, bytes]] = []
    root = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    command = [*_command(source), "cat-file", "--batch"]
    try:
        with subprocess.Popen(  # noqa: S603 - git alone, with no settings but the repository's
            command, env=_environment(source), stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as git:
            assert git.stdin is not None
            assert git.stdout is not None
            for line in filter(None, listed):
                mode, kind, name, path = _tree_entry(line)
                left.take(0)
                with parent_of(root, path, make=True) as (folder, last):
                    if kind == b"commit":
                        os.mkdir(last, 0o700, dir_fd=folder)  # a submodule: its place alone
                        continue
                    git.stdin.write(name + b"\n")
                    git.stdin.flush()
                    blob = _blob(git.stdout, left)
                    if mode == b"120000":
                        links.append((path, b"".join(blob)))
                    else:
                        write_file(folder, last, 0o755 if mode == b"100755" else 0o644, blob)
            git.stdin.close()
        for path, to in links:
            with parent_of(root, path, make=True) as (folder, last):
                os.symlink(to, last, dir_fd=folder)
    finally:
        os.close(root)


def _tree(source: GitSource) -> str:
    """Return the id of the tree that is meant."""
    if source.at.startswith("-"):
        raise WorkspaceError(f"{source.at!r} is no commit")
    return _git(source, "rev-parse", "--verify", f"{source.at}^{{tree}}").decode()


def _tree_entry(line: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    match = _TREE_LINE.fullmatch(line)
    if match is None:
        raise WorkspaceError(f"git lists what is no entry of a tree: {line[:80]!r}")
    mode, kind, name, path = match.groups()
    if any(part.lower() in _NOT_IN_A_TREE for part in path.split(b"/")):
        raise WorkspaceError(f"the tree has a path that leaves it: {os.fsdecode(path)!r}")
    return mode, kind, name, path


def _blob(stream: IO[bytes], left: RoomLeft) -> Iterator[bytes]:
    """Give what a blob holds; its size counts before any of it is read."""
    head = stream.readline().split()
    if len(head) != 3:
        raise WorkspaceError("git cannot read a file of the tree: the repository is damaged")
    size = int(head[2])
    left.take(size, entries=0)
    return _read(stream, size)


def _read(stream: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0:
        piece = stream.read(min(size, 1 << 20))
        if not piece:
            raise WorkspaceError("git ended while it was read")
        size -= len(piece)
        yield piece
    stream.read(1)  # the line's end


def _git(source: GitSource, *arguments: str | bytes) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - as above
            [*_command(source), *arguments],
            env=_environment(source),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise WorkspaceError("a workspace from git takes git: install it") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise WorkspaceError(f"{source.repository} at {source.at}: {said}")
    return done.stdout.strip(b"\n")


def _command(source: GitSource) -> list[str]:
    return ["git", "-c", "safe.directory=*", "-C", os.fspath(source.repository)]


def _environment(source: GitSource) -> dict[str, str]:
    above = os.path.dirname(os.path.realpath(source.repository))
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        **_GIT_ENVIRONMENT,
        "GIT_CEILING_DIRECTORIES": above,  # a repository that the folder lies in is not meant
    }
