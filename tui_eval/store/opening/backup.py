"""The copy that is kept of a store before a newer schema changes it."""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tui_eval.store import schema
from tui_eval.store.errors import StoreError


def keep_copy(reading: sqlite3.Connection, path: Path) -> Path | None:
    """Copy a store, its log included, into one file beside it that has its version in the name.

    Args:
        reading: A connection to the store.
        path: The store's file.

    Returns:
        The copy, which is whole or not there at all; None where another process has brought the
        store up to date meanwhile.

    Raises:
        StoreError: no copy can be made: no room, say.
    """
    version = schema.version(reading)
    copy = path.with_name(f"{path.name}.schema-{version}")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{copy.name}-", dir=path.parent)  # mode 0600
        os.close(handle)
        new = Path(name)
        try:
            if not _copied(reading, new, version):
                return None
            new.replace(copy)
        finally:
            for suffix in ("", "-journal", "-wal", "-shm"):
                new.with_name(new.name + suffix).unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"{path}: written by an older tui-eval, and no copy of it can be made before it is "
            f"brought up to date: {error}; it was left as it is"
        ) from error
    return copy


def _copied(reading: sqlite3.Connection, new: Path, version: int) -> bool:
    """Copy all pages, safe on the disk when this returns; False: they are of another version."""
    with closing(sqlite3.connect(new, isolation_level=None)) as target:
        reading.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")  # one file, until somebody writes to it
        return schema.version(target) == version
