"""Hosting an engine in the process one is in."""

from pathlib import Path

from tui_eval.engine.engine import Engine, RunBusyError
from tui_eval.providers.errors import UnavailableError
from tui_eval.store import runs
from tui_eval.store.writer import once
from tui_eval.suites.errors import SuiteError

__all__ = ["Engine", "RunBusyError", "host"]


async def host(store: Path, run_id: int, engine: Engine | None = None) -> None:
    """Work on a run here until it is settled, stopped, or cannot go on.

    Args:
        store: The store's file.
        run_id: The run.
        engine: The engine, where somebody wants to stop it; None: a new one.

    Raises:
        RunBusyError: a live engine holds the run.
        SuiteError: the data has mistakes; the run is forgotten, nothing was started.
        UnavailableError: a target cannot even be described; likewise.
        StoreError: the store cannot be used, or another engine took the run over.
    """
    try:
        await (engine or Engine(store, run_id)).run()
    except (SuiteError, UnavailableError):
        once(store, lambda tx: runs.forget(tx, run_id))
        raise
