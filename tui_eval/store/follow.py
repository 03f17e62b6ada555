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
    seen = await connection.call(_look)
    known = seen.change if since is None else since
    yield Pulse(known, seen.change)
    while True:
        await asyncio.sleep(POLL_S if every_s is None else every_s)
        now = await connection.call(_look, seen)
        if now is not seen:
            yield Pulse(seen.change, now.change)
            seen = now


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look found."""

    version: int
    change: int


def _look(db: sqlite3.Connection, before: _Look | None = None) -> _Look:
    """Look at the store; give the look before where nothing was committed since.

    The version is read first: what is committed between the two is seen again with the next look.
    """
    check_place(db)
    version = run_queries.data_version(db)
    if before is not None and version == before.version:
        return before
    return _Look(version, run_queries.change(db))
