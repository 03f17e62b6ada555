"""Files below a folder opened by their names as bytes, with no link followed on the way."""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CHUNK: Final = 1 << 20
_ZEROS: Final = bytes(_CHUNK)


@contextmanager
def parent_of(root: int, path: bytes, make: bool = False) -> Iterator[tuple[int, bytes]]:
    """Open the folder that a path is in; give its descriptor and the name in it.

    Raises:
        OSError: a folder on the way is none, is a link, or is not there; or the path leaves the
            root.
    """
    *folders, name = path.split(b"/")
    if any(one in (b"", b".", b"..") for one in (*folders, name)):
        raise OSError(f"{os.fsdecode(path)!r} leaves its folder")
    here = os.dup(root)
    try:
        for folder in folders:
            if make:
                _make_folder(folder, here)
            below = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        yield here, name
    finally:
        os.close(here)


@contextmanager
def open_folder(root: Path) -> Iterator[int]:
    """Open a folder, to work on what is in it whatever becomes of its path."""
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_regular(folder: int, name: bytes, unlock: bool = False) -> int:
    """Open a regular file for reading, and nothing else.

    Args:
        folder: That it is in.
        name: In the folder.
        unlock: Make readable what its owner may not read; only for a folder in which nothing runs.

    Raises:
        OSError: it is something else, or may not be read.
    """
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except PermissionError:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not unlock or not stat.S_ISREG(status.st_mode):
            raise
        os.chmod(name, stat.S_IMODE(status.st_mode) | 0o400, dir_fd=folder)
        descriptor = os.open(name, _READ, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{os.fsdecode(name)!r} is not a regular file")
    return descriptor


def pieces(descriptor: int) -> Iterator[bytes]:
    """Give what a file holds, from where it is read."""
    while piece := os.read(descriptor, _CHUNK):
        yield piece


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def write_file(folder: int, name: bytes, mode: int, content: Iterator[bytes]) -> None:
    """Write a file that is not there yet.

    Raises:
        OSError: it is there, or cannot be written.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    target = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        write_pieces(target, content)
        os.fchmod(target, mode)
    finally:
        os.close(target)


def write_pieces(descriptor: int, content: Iterable[bytes]) -> None:
    """Write content to a new file; of pieces that are all zero it gets holes.

    So a copy of a sparse file costs no more than the file.
    """
    size = 0
    for piece in content:
        if _ZEROS.startswith(piece):
            os.lseek(descriptor, len(piece), os.SEEK_CUR)
        else:
            write_all(descriptor, piece)
        size += len(piece)
    os.ftruncate(descriptor, size)


def _make_folder(name: bytes, folder: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=folder)
