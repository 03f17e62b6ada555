"""Whether an engine may begin with a run, and whether all is there that it needs."""

import asyncio
import shlex
import sqlite3
from typing import Final

from tui_eval.engine import departure
from tui_eval.engine.departure import Departure
from tui_eval.engine.preflight.permission import refusal
from tui_eval.engine.preflight.readiness import asks_targets, unready
from tui_eval.engine.session import Session
from tui_eval.model.states import StartRefusal
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.connection import Connection
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.rows import RunRow

_UPDATED: Final = (
    "{what}, and this run has outputs of the former one: put that back and resume {run}, "
    "or evaluate the present one with tui-eval run {suite}"
)


async def start_refusal(session: Session, reading: Connection, row: RunRow) -> Departure | None:
    """Return why a run is left as it is, whatever was asked of it; None: it may begin.

    Args:
        session: What the run is.
        reading: A connection to its store.
        row: The run.
    """
    why = await asyncio.to_thread(refusal, session.suite, session.settings, staged=row.staged)
    if why is not None:
        return departure.refused(why, StartRefusal.TRUST)
    missing = await reading.call(lambda db: "; ".join(unready(db, row.id, _verbs(db, row.id))))
    if missing:
        return departure.refused(missing, StartRefusal.UNREADY)
    if row.staged and (updated := await _updated(session, reading, row)):
        return departure.refused(updated, StartRefusal.VERSION)
    return None


async def needs_workers(reading: Connection, row: RunRow) -> bool:
    """Say whether targets are to be asked, or outputs to be scored where workers are."""
    return not row.staged or await reading.call(_asks_workers, row.id)


def _asks_workers(db: sqlite3.Connection, run: int) -> bool:
    asked = request_queries.requests(db, run)
    at_workers = any(request.args.get("at_workers") is True for request in asked)
    return at_workers or asks_targets(db, run, {request.verb for request in asked})


def _verbs(db: sqlite3.Connection, run: int) -> set[str]:
    return {request.verb for request in request_queries.requests(db, run)}


async def _updated(session: Session, reading: Connection, row: RunRow) -> str | None:
    """Say that a target which has to be asked is another one now; None: none is.

    Its outputs would stand among those of the former one, under keys of the former one.
    """
    if not await reading.call(lambda db: asks_targets(db, row.id, _verbs(db, row.id))):
        return None
    then = await reading.call(run_queries.columns, row.id)
    try:
        updated = await session.updated(then)
    except UnavailableError as error:
        return str(error)
    suite = shlex.quote(row.path or "SUITE")
    return updated and _UPDATED.format(what=updated, run=row.name, suite=suite)
