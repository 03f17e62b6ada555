"""The store a command reads, and the run it is about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.cli import streams
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.errors import StoreOlderError
from tui_eval.store.read import run_queries

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.store.rows import RunRow


def found(store: Path, name: str) -> "RunRow":
    """Return the run of a name, an unambiguous beginning of one, a label, or `last`.

    Raises:
        StoreError: there is no store, or no such run.
    """
    with readable(store) as db:
        return run_queries.run_named(db, name)


@contextmanager
def readable(store: Path) -> "Iterator[sqlite3.Connection]":
    """Open the store for reading; an older one is brought up to date first, and that is told.

    Raises:
        StoreError: there is no store, it is damaged or newer, or older and may only be read.
    """
    try:
        db = open_readable(store)
    except StoreOlderError:
        bring_up_to_date(store)
        db = open_readable(store)
    try:
        yield db
    finally:
        db.close()


@contextmanager
def readable_if_there(store: Path) -> "Iterator[sqlite3.Connection | None]":
    """Open the store for reading as `readable` does; None: there is no store yet."""
    if store.exists():
        with readable(store) as db:
            yield db
    else:
        yield None


def bring_up_to_date(store: Path) -> None:
    """Migrate a store that an older version wrote, before anything is read.

    Raises:
        StoreError: it cannot be written, or is damaged or newer; it has not been touched then.
    """
    if store.exists():
        open_writable(store, streams.tell).close()
