"""Asking something of runs from the app: off its loop, with an engine started where one is due."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from tui_eval.engine import asking
from tui_eval.model.json import JsonObject
from tui_eval.store import reader
from tui_eval.store.requests import Verb
from tui_eval.ui.desk import Desk


async def ask(desk: Desk, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    """Ask something of a run; give the request's id. An engine is started where one is needed."""
    request = await desk.act(asking.ask, desk.path, run_id, verb, args)
    if await desk.read(asking.needs_engine, run_id, request):
        run = await desk.read(reader.run, run_id)
        await asyncio.to_thread(start_engine, desk.path, run.name)
    return request


async def ask_all(desk: Desk, run_ids: Iterable[int], verb: Verb) -> None:
    """Ask the same of several runs."""
    for run_id in run_ids:
        await ask(desk, run_id, verb)


def start_engine(store: Path, run_name: str) -> None:
    """Start an engine for a run, in a process of its own."""
    # imported late: it needs the suite's format, which is slow to load
    from tui_eval.engine.launch import spawn

    spawn(store, run_name)
