"""Following a run: one function for the app, the plain reporter and the JSON stream."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from tui_eval.store.connection import Connection
from tui_eval.store.opening.store_file import check_place
from tui_eval.store.read import run_queries

POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class Pulse:
    """Something was committed since the last look."""

    before: int
    """The newest change number at the last look."""
    change: int
    """The newest change number now; equal to `before` where only requests or heartbeats moved."""


async def follow(
    connection: Connection, since: int | None = None, *, every_s: float | None = None
) -> AsyncGenerator[Pulse, None]:
    """Yield a pulse at once, and then one whenever the store changed.

    Args:
        connection: A read-only connection in autocommit, so that no reader holds the WAL.
        since: The change number already known; None: all that was before now is known.
        every_s: Seconds between two looks; None: 20 a second.

    Raises:
        StoreMovedError: the store's file was moved, removed or replaced: nothing comes any more.
    """
    seen_version = await connection.call(run_queries.data_version)
    change = await connection.call(run_queries.change)
    known = change if since is None else since
    yield Pulse(known, change)
    known = change
    while True:
        await asyncio.sleep(POLL_S if every_s is None else every_s)
        version = await connection.call(_version)
        if version == seen_version:
            continue
        seen_version = version
        change = await connection.call(run_queries.change)
        yield Pulse(known, change)
        known = change


def _version(db: sqlite3.Connection) -> int:
    check_place(db)
    return run_queries.data_version(db)
