"""Asking something of a run from the command line, and waiting for the answer."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError

if TYPE_CHECKING:
    from tui_eval.model.json import JsonObject
    from tui_eval.store.requests import Verb
    from tui_eval.store.rows import RequestRow, RunRow


def ask(store: Path, run: "RunRow", verb: "Verb", args: "JsonObject", wait: bool) -> "RequestRow":
    """Write a request down.

    Args:
        store: The store's file.
        run: The run.
        verb: What is asked.
        args: See `store.requests.ask`.
        wait: Whether to return only once it is answered.

    Raises:
        CommandError: the run was deleted meanwhile.
    """
    from tui_eval.engine.control import submit

    row = request_row(store, submit.ask(store, run.id, verb, args))
    return answered(store, run, row) if wait else row


def answered(store: Path, run: "RunRow", row: "RequestRow") -> "RequestRow":
    """Wait until a request is answered, which the run's engine does, or that needs none.

    Raises:
        CommandError: the run was deleted meanwhile.
    """
    from tui_eval.cli.named.runs import found
    from tui_eval.engine.control import submit

    while row.outcome is None:
        time.sleep(0.05)
        row = request_row(store, row.id)
        if row.outcome is None and not found(store, run.name).live:
            submit.settle(store, run.id, row.id)  # its engine has just gone
            row = request_row(store, row.id)
    return row


def request_row(store: Path, request: int) -> "RequestRow":
    """Return a request as it stands.

    Raises:
        CommandError: the run was deleted meanwhile.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.store.read import request_queries

    with readable(store) as db:
        row = request_queries.request(db, request)
    if row is None:
        raise CommandError("the run was deleted meanwhile")
    return row


def worded(answer: "RequestRow") -> str:
    """Return in words how a request was answered."""
    outcome = answer.outcome or "not answered"
    return f"{outcome}: {answer.detail}" if answer.detail else outcome
