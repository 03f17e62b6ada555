"""Asking something of runs from the app: off its loop, with an engine started where one is due."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from tui_eval.engine import asking
from tui_eval.model.json import JsonObject
from tui_eval.store import reader
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.ui.desk import Desk


async def ask(desk: Desk, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    """Ask something of a run; give the request's id. An engine is started where one is needed."""
    return await desk.act(_ask, desk.path, run_id, verb, args)


async def ask_all(desk: Desk, run_ids: Iterable[int], verb: Verb) -> None:
    """Ask the same of several runs."""
    await desk.act(_ask_all, desk.path, [*run_ids], verb)


# each is one deed: what is asked is not left without its engine by an app that is quit meanwhile


def _ask(store: Path, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    request = asking.ask(store, run_id, verb, args)
    with closing(open_readable(store)) as db:
        run = reader.run(db, run_id) if asking.needs_engine(db, run_id, request) else None
    if run is not None:
        start_engine(store, run.name)
    return request


def _ask_all(store: Path, run_ids: Iterable[int], verb: Verb) -> None:
    for run_id in run_ids:
        _ask(store, run_id, verb)


def start_engine(store: Path, run_name: str) -> None:
    """Start an engine for a run, in a process of its own."""
    # imported late: it needs the suite's format, which is slow to load
    from tui_eval.engine.launch import spawn

    spawn(store, run_name)
