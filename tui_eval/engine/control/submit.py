"""Asking something of a run, whether an engine works on it or not."""

import sqlite3
from contextlib import closing
from pathlib import Path

from tui_eval.engine.control import without_engine
from tui_eval.engine.control.without_engine import UnfinishedRequest
from tui_eval.model.json import JsonObject
from tui_eval.store import requests
from tui_eval.store.connection import explain, open_writable
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.requests import Verb
from tui_eval.store.tx import Tx
from tui_eval.store.writer import transact


def ask(store: Path, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    """Write a request down; where no engine is alive and none is needed, do it.

    What is about many trials is done in portions, between which others write. Whoever is ended
    between two leaves the request open: the next one to ask something of the run does the rest
    first, or its next engine does.

    Args:
        store: The store's file.
        run_id: The run.
        verb: What is asked.
        args: See `store.requests.ask`.

    Returns:
        The request's id. It is answered already, or an engine answers it, or (see
        `needs_engine`) one must be started.

    Raises:
        StoreError: the store cannot be used; what is not done by then waits, as above.
    """

    def begin(tx: Tx) -> tuple[int, UnfinishedRequest | None]:
        request = requests.ask(tx, run_id, verb, args or {})
        return request, without_engine.begin(tx, run_id, request)

    with closing(open_writable(store)) as db:
        try:
            without_engine.go_on(db, run_id)
            request, rest = transact(db, begin)
            without_engine.finish(db, rest)
        except sqlite3.Error as error:
            raise explain(store, error) from error
    return request


def settle(store: Path, run_id: int, request_id: int) -> None:
    """Do what was asked of an engine that went without an answer, where no engine is needed.

    The request itself is answered: asked anew, the first one would meet the run's next engine.

    Raises:
        StoreError: as with `ask`.
    """
    with closing(open_writable(store)) as db:
        try:
            rest = transact(db, lambda tx: without_engine.begin(tx, run_id, request_id))
            without_engine.finish(db, rest)
        except sqlite3.Error as error:
            raise explain(store, error) from error


def needs_engine(db: sqlite3.Connection, run_id: int, request_id: int) -> bool:
    """Whether an engine must be started for a request to be answered."""
    request = request_queries.request(db, request_id)
    return request is not None and request.outcome is None and not run_queries.run(db, run_id).live
