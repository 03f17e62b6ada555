"""Writing requests to runs from the app: off its loop, with an engine started where needed."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tui_eval.engine.control import submit
from tui_eval.model.json import JsonObject
from tui_eval.store.connection import open_readable
from tui_eval.store.read import run_queries
from tui_eval.store.requests import Verb
from tui_eval.ui.store_access.store_client import StoreClient


async def ask(client: StoreClient, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    """Write a request to a run, and start an engine where one is needed.

    Returns:
        The request's id.

    Raises:
        StoreError: the store cannot be used; nothing was written.
        OSError: the engine cannot be started; the request waits for the run's next one.
    """
    return await client.act(_ask, client.path, run_id, verb, args)


async def ask_all(client: StoreClient, run_ids: Iterable[int], verb: Verb) -> None:
    """Write the same request to several runs, see `ask`."""
    await client.act(_ask_all, client.path, [*run_ids], verb)


# request and engine are one write: an app that quits meanwhile leaves no request without engine


def _ask(store: Path, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    request = submit.ask(store, run_id, verb, args)
    with closing(open_readable(store)) as db:
        run = run_queries.run(db, run_id) if submit.needs_engine(db, run_id, request) else None
    if run is not None:
        start_engine(store, run.name)
    return request


def _ask_all(store: Path, run_ids: Iterable[int], verb: Verb) -> None:
    for run_id in run_ids:
        _ask(store, run_id, verb)


def start_engine(store: Path, run_name: str) -> None:
    """Start an engine for a run, in a process of its own."""
    # imported late: it needs the suite's format, which is slow to load
    from tui_eval.engine.launch.create_run import spawn

    spawn(store, run_name)
