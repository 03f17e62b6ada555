"""Paths of data: which files a path or glob stands for, and how they are opened."""

import errno
import os
import re
import stat
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Final, TypeAlias

from tui_eval.suites.data.unpacking import PACKED

_TEXTS: Final = (".jsonl", ".json", ".csv", ".tsv")
"""The formats of data that may be compressed."""
_BINARY: Final = ".parquet"

Opener: TypeAlias = Callable[[Path], BufferedReader]
"""Opens a file for reading; raises OSError where it may not, or cannot, be read."""

_MAGIC: Final = re.compile(r"[*?\[]")
_MOST: Final = 64_000_000
"""Bytes of a file that becomes part of a suite."""


def formats() -> str:
    """Return the endings data may have, as messages list them."""
    return f"{', '.join(_TEXTS)} (also {' or '.join(PACKED)} of these) or {_BINARY}"


def data_suffixes(path: Path) -> tuple[str, str]:
    """Return the endings of a data file: its format's, and its compression's or none."""
    last = path.suffix.lower()
    return (Path(path.stem).suffix.lower(), last) if last in PACKED else (last, "")


def is_data(path: Path) -> bool:
    """Return whether a file's name says that it holds data in a format that is read."""
    form, packed = data_suffixes(path)
    return form in _TEXTS or (form == _BINARY and not packed)


def real_path(path: Path) -> Path:
    """Return a path with links resolved; unchanged where they form a loop.

    `Path.resolve` raises there, in some versions of Python, and anybody's folder may hold such.
    """
    return Path(os.path.realpath(path))


def is_glob(path: Path) -> bool:
    """Return whether a path is a glob; a file of that very name is none."""
    return _MAGIC.search(str(path)) is not None and not path.exists()


def trouble_with(path: Path) -> str | None:
    """Return why a path is invalid; None: it is valid, whether or not it exists."""
    if "\0" in str(path):
        return "holds a NUL character"
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass  # told where it is looked for
    except OSError as error:
        return (error.strerror or "cannot be looked at").lower()
    if is_glob(path):
        try:
            next(Path(os.devnull, "none").glob(_pattern(path)), None)
        except ValueError as error:
            return f"is no pattern: {error}"
    return None


def fixed_part(path: Path) -> Path:
    """Return the folder a glob starts from: the part of it before the first `*`, `?` or `[`."""
    return Path(*_until_magic(path))


def matches(path: Path) -> list[Path]:
    """Return the regular files a path or glob stands for, sorted by name; none: an empty list."""
    if not is_glob(path):
        return [path] if path.is_file() else []
    return sorted(file for file in fixed_part(path).glob(_pattern(path)) if file.is_file())


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file for reading; refuse anything else (pipes, devices) without blocking.

    Raises:
        OSError: it cannot be opened, or is a pipe, a device, a folder.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        raise OSError(errno.EINVAL, "is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_whole(file: BufferedReader, most: int = _MOST) -> bytes:
    """Return the bytes of a file that becomes part of a suite.

    Raises:
        OSError: it cannot be read, or is larger than `most` bytes.
    """
    raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"is larger than {most // 1_000_000} MB")
    return raw


def _pattern(path: Path) -> str:
    return str(Path(*path.parts[len(fixed_part(path).parts) :]))


def _until_magic(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if _MAGIC.search(part):
            break
        parts.append(part)
    return parts
