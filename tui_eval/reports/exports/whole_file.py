"""Files that are written whole or not at all."""

import os
import re
import socket
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TextIO, TypeAlias

import psutil

from tui_eval.reports.exports.put_aside import PutAsideError
from tui_eval.suites.data.files import real_path

Pieces: TypeAlias = Iterator[str] | Iterator[bytes] | Iterator[str | bytes]
"""A file's content, one piece after the other; text is written as UTF-8."""


def to_file(path: Path, pieces: Pieces) -> None:
    """Write a file whole or not at all: it is written beside its place and then put there.

    A symbolic link stays one; a device or a pipe is written to as it is.

    Raises:
        PutAsideError: what is put aside meanwhile cannot be written, see `put_aside`.
        OSError: it cannot be written; what stood at `path` still does.
    """
    try:
        _write(path, pieces)
    except PutAsideError:
        raise  # of another file, which it names
    except OSError as error:
        # a file beside it is nobody's business; what has no room names no file
        if isinstance(error, FileNotFoundError) and not path.parent.is_dir():
            raise FileNotFoundError(error.errno, "no such folder", str(path.parent)) from error
        raise OSError(error.errno, error.strerror, str(path)) from error


def to_stream(stream: TextIO, pieces: Pieces) -> None:
    """Write to a stream of text, as far as it comes; bytes go to what is below it."""
    for piece in pieces:
        if isinstance(piece, str):
            stream.write(piece)
        else:
            stream.buffer.write(piece)
    stream.flush()


def _write(path: Path, pieces: Pieces) -> None:
    if path.exists() and not path.is_file():
        with path.open("wb") as device:
            device.writelines(map(_bytes, pieces))
        return
    path = real_path(path)
    _remove_left(path)
    with tempfile.NamedTemporaryFile(
        dir=path.parent,
        prefix=f".{path.name}.{_host()}-{os.getpid()}.",
        delete=False,
    ) as file:
        written = Path(file.name)
        try:
            file.writelines(map(_bytes, pieces))
            file.flush()
            os.fsync(file.fileno())
            written.chmod(_mode(path))
            written.replace(path)
        except BaseException:
            written.unlink(missing_ok=True)
            raise


def _remove_left(path: Path) -> None:
    """Remove what processes left beside a file that were killed while they wrote it."""
    begun = re.compile(re.escape(f".{path.name}.{_host()}-") + r"(\d+)\.[^.]+")
    with suppress(OSError):  # where it cannot be seen or removed, it only takes room
        for beside in path.parent.iterdir():
            found = begun.fullmatch(beside.name)
            if found is not None and not psutil.pid_exists(int(found.group(1))):
                beside.unlink(missing_ok=True)


def _host() -> str:
    """Return a short name of this host: in a shared folder, processes of others live unseen."""
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _mode(path: Path) -> int:
    """Return who may do what: as with the file that is there, else as with any new one."""
    with suppress(FileNotFoundError):
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _bytes(piece: str | bytes) -> bytes:
    return piece.encode() if isinstance(piece, str) else piece
