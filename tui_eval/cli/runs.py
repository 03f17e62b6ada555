"""Finding the run a command is about."""

from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.cli import streams

if TYPE_CHECKING:
    from tui_eval.store.rows import RunRow


def found(store: Path, name: str) -> "RunRow":
    """Give the run of a name, an unambiguous beginning of one, or `last`.

    Raises:
        StoreError: there is no store, or no such run.
    """
    from tui_eval.store import reader
    from tui_eval.store.connection import open_readable

    db = open_readable(store)
    try:
        return reader.run_named(db, name)
    finally:
        db.close()


def bring_up_to_date(store: Path) -> None:
    """Migrate the store of a command that will write to it, before anything is read.

    Raises:
        StoreError: it cannot be written, or is damaged or newer; it has not been touched then.
    """
    from tui_eval.store.connection import open_writable

    if store.exists():
        open_writable(store, streams.tell).close()
