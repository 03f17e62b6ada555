"""Following: a pulse for every change, and nothing in the way of the log."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.support import Staged, do, staged, writing
from tui_eval.store import follow as follow_module
from tui_eval.store import lease, requests
from tui_eval.store.connection import readable
from tui_eval.store.follow import Pulse, follow
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.write import attempt_writes


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_module, "POLL_S", 0.001)


def start(db: sqlite3.Connection, trial: int) -> None:
    do(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None))


async def pulse(pulses: AsyncIterator[Pulse]) -> Pulse:
    async with asyncio.timeout(20):
        return await anext(pulses)


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    return staged(db, 5)


async def test_the_first_pulse_comes_at_once(
    db: sqlite3.Connection, path: Path, made: Staged
) -> None:
    async with readable(path) as reading, aclosing(follow(reading)) as pulses:
        now = run_queries.change(db)
        assert await pulse(pulses) == Pulse(now, now)


async def test_who_knows_an_older_state_is_told_from_there(
    db: sqlite3.Connection, path: Path, made: Staged
) -> None:
    async with readable(path) as reading, aclosing(follow(reading, since=0)) as pulses:
        assert await pulse(pulses) == Pulse(0, run_queries.change(db))


async def test_each_pulse_goes_on_where_the_last_one_ended(
    db: sqlite3.Connection, path: Path, made: Staged
) -> None:
    async with readable(path) as reading, aclosing(follow(reading, since=0)) as pulses:
        first = await pulse(pulses)
        start(db, made.trials[0])
        assert (await pulse(pulses)).before == first.change


async def test_every_change_is_between_the_ends_of_some_pulse(
    db: sqlite3.Connection, path: Path, made: Staged
) -> None:
    async with readable(path) as reading, aclosing(follow(reading)) as pulses:
        known = (await pulse(pulses)).change
        for trial in made.trials:
            start(db, trial)
            told = await pulse(pulses)
            assert (told.before, told.change) == (known, run_queries.change(db))
            (row,) = await reading.call(trial_rows.trials_changed, made.run, told.before)
            assert row.id == trial
            known = told.change


async def test_changes_that_come_together_are_one_pulse(
    db: sqlite3.Connection, path: Path, made: Staged
) -> None:
    async with readable(path) as reading, aclosing(follow(reading)) as pulses:
        known = (await pulse(pulses)).change
        for trial in made.trials:
            start(db, trial)
        told = await pulse(pulses)
        assert (told.before, told.change) == (known, known + len(made.trials))
        changed = await reading.call(trial_rows.trials_changed, made.run, told.before)
        assert [row.id for row in changed] == list(made.trials)


async def test_requests_and_heartbeats_give_a_pulse_without_a_change(
    db: sqlite3.Connection, path: Path, made: Staged
) -> None:
    async with readable(path) as reading, aclosing(follow(reading)) as pulses:
        known = (await pulse(pulses)).change
        do(db, lambda tx: requests.ask(tx, made.run, requests.Verb.PAUSE))
        assert await pulse(pulses) == Pulse(known, known)
        do(db, lambda tx: lease.beat(tx, made.run))
        assert await pulse(pulses) == Pulse(known, known)


async def test_where_nothing_is_committed_there_is_no_pulse(
    db: sqlite3.Connection, path: Path, made: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    look = run_queries.data_version

    def counted(connection: sqlite3.Connection) -> int:
        nonlocal looks
        looks += 1
        return look(connection)

    monkeypatch.setattr(run_queries, "data_version", counted)
    async with readable(path) as reading, aclosing(follow(reading)) as pulses:
        await pulse(pulses)
        waiting = asyncio.create_task(pulse(pulses))
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE trials SET waiting = 'x'")
        async with asyncio.timeout(20):
            while looks < 5:
                await asyncio.sleep(0.001)
        assert not waiting.done()
        db.execute("ROLLBACK")
        start(db, made.trials[0])
        await waiting


async def test_many_follow_at_once(db: sqlite3.Connection, path: Path, made: Staged) -> None:
    async def newest() -> int:
        async with readable(path) as reading, aclosing(follow(reading)) as pulses:
            seen = (await pulse(pulses)).change
            ready.release()
            while seen < last:
                seen = (await pulse(pulses)).change
            return seen

    last = run_queries.change(db) + len(made.trials)
    ready = asyncio.Semaphore(0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(newest()) for _ in range(5)]
        for _ in tasks:
            await ready.acquire()
        for trial in made.trials:
            start(db, trial)
    assert [task.result() for task in tasks] == [last] * 5


async def test_a_follower_does_not_hold_the_log(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    with writing(path) as db:
        made = staged(db, 50)
        async with readable(path) as reading, aclosing(follow(reading)) as pulses:
            await pulse(pulses)
            for trial in made.trials:
                start(db, trial)
            told = await pulse(pulses)
            await reading.call(trial_rows.trials_changed, made.run, told.before)
            assert log.stat().st_size > 0
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert busy == 0
            assert log.stat().st_size == 0
            start(db, made.trials[0])
            await pulse(pulses)


async def test_the_log_is_held_by_a_reader_that_keeps_a_moment(path: Path) -> None:
    # what the test above would see if a follower held it
    with writing(path) as db:
        made = staged(db, 5)
        db.execute("PRAGMA busy_timeout = 0")
        async with readable(path) as reading:
            await reading.call(_hold)
            start(db, made.trials[0])
            busy, _, _ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert busy == 1


def _hold(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM trials").fetchone()
