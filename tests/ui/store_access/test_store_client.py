"""The app's way to the store."""

import asyncio
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from tests.ui.playing import plain_run
from tui_eval.store.read import run_queries
from tui_eval.ui.store_access.store_client import StoreClient


def open_files(store: Path) -> list[str]:
    """Give what this process has open of a store."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            found.append(link.readlink().name)
    return [name for name in found if name.startswith(store.name)]


@pytest.mark.parametrize("cancelled", [False, True])
async def test_a_desk_that_is_closed_while_it_opens_leaves_nothing_open(
    store: Path, cancelled: bool
) -> None:
    plain_run(store, 1)
    for moment in range(40):
        client = StoreClient(store)
        opening = asyncio.create_task(client.open())
        await asyncio.sleep(moment * 0.0005)
        if cancelled:
            opening.cancel()
        await client.close()
        await asyncio.wait([opening])
        async with asyncio.timeout(20):
            while open_files(store):  # a thread may still be looking at it
                await asyncio.sleep(0.001)
        assert not client.opened


async def test_a_question_for_a_list_is_broken_off_with_whoever_asked(store: Path) -> None:
    plain_run(store, 1)
    client = StoreClient(store)
    await client.open()

    def never_ends(db: sqlite3.Connection) -> None:
        db.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        ).fetchone()

    try:
        asking = asyncio.create_task(client.seek(never_ends))
        await asyncio.sleep(0.1)
        asking.cancel()
        async with asyncio.timeout(30):
            assert await client.seek(lambda db: db.execute("SELECT 7").fetchone()) == (7,)
    finally:
        await client.close()


async def test_a_desk_asked_before_it_is_open_waits(store: Path) -> None:
    made = plain_run(store, 2)
    client = StoreClient(store)
    asked = asyncio.create_task(client.read(run_queries.run, made.run))
    await asyncio.sleep(0)
    assert not asked.done()
    await client.open()
    assert (await asked).id == made.run
    assert len(await client.survey(run_queries.runs)) == 1
    await client.close()
    assert client.closed
