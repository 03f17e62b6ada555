"""Content in a folder under its digest: each once, whole or not there."""

import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from tui_eval.processes.records import sync_folder
from tui_eval.processes.workspace.tree_files import write_pieces

BESIDE: Final = "new-"
"""Begins the names of files that are being written."""
_SETTLED_S: Final = 1.0
"""Seconds after which no further change of a folder can bear the time of its last one."""
_on_disk: Final[dict[Path, tuple[int, int, int]]] = {}
"""Folders whose names this process has had written, and what they were then."""


class OtherContentError(Exception):
    """What was to be kept is not what was announced."""


def kept_path(store: Path, digest: bytes) -> Path:
    """Return where the file with a digest is kept."""
    name = digest.hex()
    return store / name[:2] / name[2:]


def put_content(store: Path, digest: bytes, size: int, content: Iterable[bytes]) -> None:
    """Write content under its digest; the file is on the disk, its name only once it is synced.

    Raises:
        OtherContentError: it has another size or digest; nothing is left of it.
        OSError: it cannot be written; nothing is left of it.
    """
    place = kept_path(store, digest)
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    beside = place.with_name(f"{BESIDE}{os.urandom(8).hex()}")
    target = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        write_pieces(target, _as_announced(digest, size, content))
        os.fsync(target)
        os.replace(beside, place)
    finally:
        os.close(target)
        with suppress(FileNotFoundError):
            os.unlink(beside)


def _as_announced(digest: bytes, size: int, content: Iterable[bytes]) -> Iterator[bytes]:
    """Give content on.

    Raises:
        OtherContentError: it has another size or digest.
    """
    summed = hashlib.sha256()
    for piece in content:
        size -= len(piece)
        if size < 0:
            raise OtherContentError
        summed.update(piece)
        yield piece
    if size != 0 or summed.digest() != digest:
        raise OtherContentError


def sync_names(store: Path, digests: Iterable[bytes]) -> None:
    """Have the names of kept files written to the disk, in folders where one was added since.

    Raises:
        OSError: that cannot be done.
    """
    folders = {kept_path(store, digest).parent for digest in digests}
    for folder in folders | {store} if folders else ():
        status = os.stat(folder)
        found = (status.st_dev, status.st_ino, status.st_ctime_ns)
        if _on_disk.get(folder) == found:
            continue
        settled = time.time() - status.st_ctime > _SETTLED_S
        sync_folder(folder)
        if settled:
            _on_disk[folder] = found
