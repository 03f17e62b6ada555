"""Deleting runs: their rows, the log of their engine, and what was gathered from them."""

from collections.abc import Callable
from pathlib import Path

from tui_eval.engine.launch.create_run import log_file
from tui_eval.store import run_file
from tui_eval.store.connection import open_writable, put_away
from tui_eval.store.location import figures_file, find_file
from tui_eval.store.read import run_queries
from tui_eval.store.write import deletion


def delete(store: Path, run_id: int, told: Callable[[int], None] = lambda _: None) -> None:
    """Delete a run with all that only it has.

    Args:
        store: The store's file.
        run_id: The run.
        told: Told now and again how many trials have gone.

    Raises:
        RunLiveError: an engine works on it; nothing was changed.
        StoreError: there is no such run (any more), or the store cannot be written.
        OSError: what lies beside the store cannot be removed; the run is gone.
    """
    db = open_writable(store)
    try:
        name = run_queries.run(db, run_id).name
        deletion.delete(db, run_id, told)
        put_away(db)
    finally:
        db.close()
    log_file(store, name).unlink(missing_ok=True)
    for beside in (find_file(store, name), figures_file(store, name)):
        run_file.remove(beside)
