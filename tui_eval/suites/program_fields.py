"""Fields that whoever has programs run takes: commands, sizes, what keeps them from the rest."""

import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import BeforeValidator, Field, StrictInt, StrictStr, WithJsonSchema

from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.source import FolderSource, source_digest
from tui_eval.suites.data.files import real_path
from tui_eval.suites.templates.marks import is_template

_SIZE: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) ?([kKMGT]?)(i?)B?")
_UNITS: Final = {"": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4}
_MOST_BYTES: Final = 1 << 50

Isolation = Literal["auto", "none", "landlock", "bwrap", "podman", "docker"]
CONTAINERS: Final = ("podman", "docker")
"""The levels of isolation that run an image."""
EnvName = Annotated[StrictStr, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


Command = Annotated[tuple[StrictStr, ...], Field(min_length=1)]
"""A program and its arguments; no shell reads them."""


def _bytes(value: object) -> object:
    if not isinstance(value, str):
        return value
    found = _SIZE.fullmatch(value)
    if found is None:
        raise ValueError(f'must be a number of bytes, or a text such as "10MB", not "{value}"')
    return round(float(found[1]) * (1024 if found[3] else 1000) ** _UNITS[found[2]])


ByteCount = Annotated[
    StrictInt,
    Field(ge=1, le=_MOST_BYTES),
    BeforeValidator(_bytes),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]}),
]
"""Bytes, as a number or as `10MB`, `512MiB`."""


def digest_of(path: Path) -> str | None:
    """Return the digest of what a file or folder holds; None: it cannot be read. Blocking."""
    try:
        if path.is_dir():
            return source_digest(FolderSource(path)).hex()
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except (OSError, WorkspaceError):
        return None


def own_files(command: Iterable[str], folder: Path | None) -> dict[str, Path]:
    """Return the words of a command that name files of a folder, with their paths.

    A first word without a slash is none: it is looked for on PATH.
    """
    found: dict[str, Path] = {}
    if folder is None:
        return found
    inside = real_path(folder)
    for place, word in enumerate(command):
        if not word or "\0" in word or is_template(word) or (place == 0 and "/" not in word):
            continue
        path = folder / word
        if (
            not Path(word).is_absolute()
            and is_there(path)
            and real_path(path).is_relative_to(inside)
        ):
            found[word] = path.absolute()
    return found


def is_there(path: Path, kind: Callable[[Path], bool] = Path.is_file) -> bool:
    """Whether a word of a command names a file; a word that could be no name does not."""
    try:
        return kind(path)
    except OSError:  # too long for a name, such as code or a text that is handed over
        return False


def find_interpreter(named_so: str, folder: Path) -> str | None:
    """Return the path of an interpreter; None where there is none.

    Args:
        named_so: A name on the PATH, or a path relative to the folder.
        folder: The suite's.
    """
    if os.sep not in named_so:
        return shutil.which(named_so)
    path = folder / Path(named_so).expanduser()
    return str(path) if path.is_file() and os.access(path, os.X_OK) else None


def shown_command(command: Iterable[str]) -> str:
    """Return a command on one line, as a person reads it."""
    return " ".join(repr(word) if not word or re.search(r"\s|['\"]", word) else word
                    for word in command)  # fmt: skip
