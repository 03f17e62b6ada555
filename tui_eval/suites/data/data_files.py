"""The digests of a run's data files at launch: they must not change until its cases are copied."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.suites.data.files import matches
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.capabilities import Folder, data_paths

_DIGESTED: Final = 256_000_000
"""Bytes of all files together of which digests are made: a launch waits for them."""
_CHUNK: Final = 1 << 20


class DataChangedError(Exception):
    """A data file has changed since the run was launched; the message names it."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """One data file as it was at the launch."""

    path: str
    size: int
    mtime_ns: int
    digest: str | None
    """SHA-256; None: the file is too large to make it at a launch, or could not be read."""

    @classmethod
    def of(cls, kept: JsonObject) -> "DataFile":
        """Return the instance that `as_json` wrote."""
        return cls(**kept)  # type: ignore[arg-type]  # as it was written

    def as_json(self) -> JsonObject:
        """Return the JSON that the store keeps."""
        return asdict(self)


def data_files(suite: Suite) -> list[DataFile]:
    """Return the files that the dataset and the recordings of a suite are read from.

    What is no file is left out: whoever reads the data says so.
    """
    return [*_found(suite)]


def check_unchanged(suite: Suite, then: Sequence[DataFile]) -> None:
    """Compare the data files of a suite with what they were at launch.

    Size and time of change are looked at; the content only where no more than the time differs.

    Args:
        suite: The suite.
        then: What `data_files` gave at launch.

    Raises:
        DataChangedError: one was changed, removed or added.
    """
    before = {one.path: one for one in then}
    now = {str(path): path for path in _paths(suite)}
    for name in sorted({*before, *now}):
        if name not in before:
            raise DataChangedError(f"{name} was added")
        if name not in now:
            raise DataChangedError(f"{name} was removed")
        if not _same(suite, before[name], now[name]):
            raise DataChangedError(f"{name} was changed")


def _same(suite: Suite, was: DataFile, path: Path) -> bool:
    try:
        about = path.stat()
    except OSError:
        return False
    if about.st_size != was.size:
        return False
    return about.st_mtime_ns == was.mtime_ns or (
        was.digest is not None and was.digest == _digest(Folder.of(suite), path)
    )


def _found(suite: Suite) -> Iterator[DataFile]:
    folder, left = Folder.of(suite), _DIGESTED
    for path in _paths(suite):
        try:
            about = path.stat()
        except OSError:
            continue  # it has gone since it was listed
        left -= about.st_size
        digest = _digest(folder, path) if left >= 0 else None
        yield DataFile(str(path), about.st_size, about.st_mtime_ns, digest)


def _paths(suite: Suite) -> list[Path]:
    return [*dict.fromkeys(file for path in data_paths(suite) for file in matches(path))]


def _digest(folder: Folder, path: Path) -> str | None:
    made = hashlib.sha256()
    try:
        with folder.open(path) as opened:
            for chunk in iter(partial(opened.read, _CHUNK), b""):
                made.update(chunk)
    except OSError:
        return None  # whoever reads the data says why
    return made.hexdigest()
