"""The writer: what waits together is written together, whoever stops waiting, whatever is full."""

import asyncio
import gc
import sqlite3
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fresh_store import fresh_store
from tests.support import do, new_run, reading, staged, writing
from tui_eval.store import lease
from tui_eval.store import writer as writer_module
from tui_eval.store.connection import Connection, async_connection, open_writable, writable
from tui_eval.store.errors import LeaseLostError, StoreError
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, run_writes
from tui_eval.store.writer import Writer, once


@pytest.fixture
def run(path: Path) -> int:
    """A run of twenty queued trials."""
    with writing(path) as db:
        return staged(db, 20).run


@pytest.fixture(autouse=True)
def quick_stalls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "_STALL_PAUSE_S", 0.01)


@asynccontextmanager
async def working(
    path: Path, run: int, opener: Callable[[Path], Connection] = writable
) -> AsyncIterator[Writer]:
    """Give a writer under a lease of its own, writing in a task."""
    async with opener(path) as connection:
        number = await connection.call(_take, run)
        writer = Writer(connection, run, number)
        async with asyncio.TaskGroup() as group:
            group.create_task(writer.run())
            try:
                yield writer
            finally:
                writer.close()


def _take(db: sqlite3.Connection, run: int) -> int:
    number = do(db, lambda tx: lease.acquire(tx, run))
    assert number is not None
    return number


def note(text: str) -> Callable[[Tx], str]:
    """Make a unit that leaves a trace and says so."""

    def unit(tx: Tx) -> str:
        tx.db.execute(
            "INSERT INTO limits (run, endpoint, concurrency, kind, at) VALUES (1, 'e', 1, ?, 0)",
            (text,),
        )
        return text

    return unit


def breaks(tx: Tx) -> None:
    note("half done")(tx)
    raise ValueError("a bug in a unit")


def collides(tx: Tx) -> None:
    note("half done")(tx)
    tx.db.execute("INSERT INTO meta VALUES ('change', 1)")


def misspelt(tx: Tx) -> None:
    note("half done")(tx)
    tx.db.execute("SELEC 1")


def unfit(tx: Tx) -> None:
    note("half done")(tx)
    tx.db.execute("UPDATE meta SET value = ?", (object(),))


def huge(tx: Tx) -> None:
    note("half done")(tx)
    tx.db.execute("UPDATE meta SET value = ?", (10**30,))


def notes(path: Path) -> list[str]:
    with reading(path) as db:
        return [row[0] for row in db.execute("SELECT kind FROM limits ORDER BY id")]


async def settled(futures: list["asyncio.Future[str]"]) -> list[object]:
    return await asyncio.gather(*futures, return_exceptions=True)


async def stalled(writer: Writer) -> str:
    """Wait until a writer stalls; give why."""
    async with asyncio.timeout(20):
        while (why := writer.stalled) is None:
            await asyncio.sleep(0.005)
    return why


def test_a_unit_alone_is_written_whole_or_not_at_all(path: Path, run: int) -> None:
    assert once(path, note("alone")) == "alone"
    with pytest.raises(ValueError, match="a bug"):
        once(path, breaks)
    with pytest.raises(StoreError, match="UNIQUE constraint"):
        once(path, collides)
    assert notes(path) == ["alone"]


def test_a_unit_alone_is_not_written_where_there_is_no_room(
    path: Path, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> sqlite3.Connection:
        db = open_writable(path)
        db.execute("PRAGMA max_page_count = 1")
        return db

    monkeypatch.setattr(writer_module, "open_writable", full)
    with pytest.raises(StoreError, match="full; make room there and try again"):
        once(path, lambda tx: [note("x" * 4000)(tx) for _ in range(100)])
    assert notes(path) == []


async def test_what_waits_together_is_one_commit_in_the_order_it_came(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        futures = [writer.submit(note(str(i))) for i in range(100)]
        assert await settled(futures) == [str(i) for i in range(100)]
        assert writer.commits == 1
    assert notes(path) == [str(i) for i in range(100)]


async def test_what_comes_during_a_commit_is_the_next_commit(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        await writer.write(note("first"))
        await settled([writer.submit(note("second")), writer.submit(note("third"))])
        assert writer.commits == 2


async def test_a_unit_whose_waiter_went_away_is_written(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        waiter = asyncio.create_task(writer.write(note("nobody waits")))
        await asyncio.sleep(0)
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        await writer.write(note("somebody waits"))
    assert notes(path) == ["nobody waits", "somebody waits"]


async def test_what_is_in_line_when_the_writer_closes_is_written(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        futures = [writer.submit(note(str(i))) for i in range(3)]
    assert [future.result() for future in futures] == ["0", "1", "2"]
    assert notes(path) == ["0", "1", "2"]


@pytest.mark.parametrize(
    ("unit", "error"),
    [
        (breaks, ValueError),
        (collides, sqlite3.IntegrityError),
        (misspelt, sqlite3.OperationalError),
        (unfit, (sqlite3.InterfaceError, sqlite3.ProgrammingError)),
        (huge, OverflowError),
    ],
)
async def test_a_unit_that_raises_is_undone_alone(
    path: Path, run: int, unit: Callable[[Tx], None], error: type[Exception]
) -> None:
    async with working(path, run) as writer:
        before, broken, after = (
            writer.submit(note("before")),
            writer.submit(unit),
            writer.submit(note("after")),
        )
        await asyncio.gather(before, broken, after, return_exceptions=True)
        assert isinstance(broken.exception(), error)
        assert writer.commits == 1
        assert await writer.write(note("later")) == "later"
    assert notes(path) == ["before", "after", "later"]


async def test_change_numbers_stay_unique_beside_a_unit_that_raises(path: Path, run: int) -> None:
    def moves(place: int) -> Callable[[Tx], int]:
        def unit(tx: Tx) -> int:
            trial = trial_rows.trials_from(tx.db, run, place, 1)[0].id
            attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
            if place == 1:
                raise ValueError("undone, its change number too")
            return tx.change

        return unit

    async with working(path, run) as writer:
        futures = [writer.submit(moves(place)) for place in range(4)]
        await asyncio.gather(*futures, return_exceptions=True)
        numbers = {futures[place].result() for place in (0, 2, 3)}
        later = await writer.write(moves(4))
    with reading(path) as db:
        assert later == run_queries.change(db) > max(numbers)
        assert {row.place for row in trial_rows.trials_changed(db, run, min(numbers) - 1)} == {
            0,
            2,
            3,
            4,
        }


async def test_nothing_is_written_twice_when_the_disk_fills_beside_a_broken_unit(
    path: Path, run: int
) -> None:
    tries = 0

    def full_once(tx: Tx) -> None:
        nonlocal tries
        tries += 1
        if tries <= 2:  # together with its mates, and then apart
            raise _full()

    async with working(path, run) as writer:
        futures = [writer.submit(unit) for unit in (note("a"), breaks, full_once, note("b"))]
        await asyncio.gather(*futures, return_exceptions=True)
        assert isinstance(futures[1].exception(), ValueError)
    assert notes(path) == ["a", "b"]


def _full() -> sqlite3.OperationalError:
    db = sqlite3.connect(":memory:")
    try:
        db.execute("PRAGMA max_page_count = 1")
        db.execute("CREATE TABLE t (x)")
    except sqlite3.OperationalError as error:
        return error
    finally:
        db.close()
    raise AssertionError("there is room")


class Sometimes:
    """A unit for which there is no room for a while."""

    def __init__(self, text: str, tries: int) -> None:
        self.text = text
        self.tries = tries

    def __call__(self, tx: Tx) -> str:
        note(self.text)(tx)
        self.tries -= 1
        if self.tries >= 0:
            raise _full()
        return self.text


fates = st.sampled_from(["fine", "fine", "fine", "bug", "collides", "no room", "no room for long"])


@given(units=st.lists(st.tuples(fates, st.booleans(), st.integers(0, 3)), max_size=20))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happens_each_unit_is_written_once_in_its_turn_or_not_at_all(
    tmp_path: Path, units: list[tuple[str, bool, int]]
) -> None:
    path = tmp_path / f"{uuid.uuid4()}.sqlite3"
    fresh_store(path)
    with writing(path) as db:
        run = new_run(db)
    made: list[Callable[[Tx], object]] = []
    for at, (fate, _, _) in enumerate(units):
        kinds: dict[str, Callable[[Tx], object]] = {
            "bug": breaks,
            "collides": collides,
            "no room": Sometimes(str(at), 1),
            "no room for long": Sometimes(str(at), 5),
        }
        made.append(kinds.get(fate, note(str(at))))

    async def write_all() -> list[object]:
        async with working(path, run) as writer:
            waiters = []
            for unit, (_, leaves, turns) in zip(made, units, strict=True):
                waiters.append(asyncio.ensure_future(writer.write(unit)))
                for _ in range(turns):
                    await asyncio.sleep(0)
                if leaves:
                    waiters[-1].cancel()
            return await asyncio.gather(*waiters, return_exceptions=True)

    results = asyncio.run(write_all())
    # whoever leaves before the unit was in line has asked for nothing
    asked = [str(at) for at, (fate, leaves, turns) in enumerate(units)
             if fate not in ("bug", "collides") and (turns or not leaves)]  # fmt: skip
    assert notes(path) == asked
    for at, (result, (fate, leaves, _)) in enumerate(zip(results, units, strict=True)):
        if leaves and isinstance(result, asyncio.CancelledError):
            continue
        if fate in ("bug", "collides"):
            assert isinstance(result, ValueError | sqlite3.IntegrityError)
        else:
            assert result == str(at)


async def test_a_lost_lease_writes_nothing_ever_again(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        await writer.write(note("mine"))
        with writing(path) as db:
            db.execute("UPDATE runs SET lease_number = lease_number + 1")
        with pytest.raises(LeaseLostError):
            await writer.write(note("too late"))
        with pytest.raises(LeaseLostError):
            await writer.write(note("much too late"))
    assert notes(path) == ["mine"]


async def test_a_run_that_is_gone_takes_no_facts(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        with writing(path) as db:
            do(db, lambda tx: run_writes.forget(tx, run))
        with pytest.raises(LeaseLostError):
            await writer.write(note("of nothing"))


async def test_every_waiter_learns_that_the_lease_is_lost(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        with writing(path) as db:
            db.execute("UPDATE runs SET lease_number = lease_number + 1")
        found = await settled([writer.submit(note(str(i))) for i in range(5)])
        assert [type(error) for error in found] == [LeaseLostError] * 5
    assert notes(path) == []


async def test_a_full_disk_stalls_the_writer_until_there_is_room(path: Path, run: int) -> None:
    opened: list[sqlite3.Connection] = []

    def cramped(where: Path) -> Connection:
        def opener() -> sqlite3.Connection:
            opened.append(open_writable(where))
            return opened[0]

        return async_connection(opener)

    async with working(path, run, cramped) as writer:
        pages = opened[0].execute("PRAGMA page_count").fetchone()[0]
        opened[0].execute(f"PRAGMA max_page_count = {pages + 2}")
        big = "x" * 100_000
        waiting = [writer.submit(note(big)), writer.submit(note("behind it"))]
        assert "full" in await stalled(writer)
        assert not any(future.done() for future in waiting)
        assert notes(path) == []
        opened[0].execute("PRAGMA max_page_count = 1000000")
        await settled(waiting)
        assert writer.stalled is None
    assert notes(path) == [big, "behind it"]


async def test_another_process_that_holds_the_file_is_waited_for(
    path: Path, run: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.store.connection.BUSY_S", 0.01)
    with writing(path) as other:
        async with working(path, run) as writer:
            other.execute("BEGIN IMMEDIATE")
            other.execute("UPDATE meta SET value = value + 100")
            waiting = writer.submit(note("patient"))
            assert "locked" in await stalled(writer)
            other.execute("COMMIT")
            assert await waiting == "patient"
            assert writer.stalled is None


async def test_a_damaged_store_breaks_the_writer_for_good(path: Path, run: int) -> None:
    def on_noise(tx: Tx) -> None:
        raise _damaged()

    async with working(path, run) as writer:
        with pytest.raises(sqlite3.DatabaseError, match="not a database"):
            await writer.write(on_noise)
        with pytest.raises(sqlite3.DatabaseError, match="not a database"):
            await writer.write(note("after"))
    assert notes(path) == []


def _damaged() -> sqlite3.DatabaseError:
    db = sqlite3.connect(":memory:")
    try:
        db.deserialize(b"no database" * 1000)
        db.execute("SELECT * FROM sqlite_master")
    except sqlite3.DatabaseError as error:
        return error
    finally:
        db.close()
    raise AssertionError("noise is a database")


async def test_nobody_waits_for_a_writer_that_has_ended(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        pass
    with pytest.raises(StoreError, match="the writer has ended"):
        await writer.write(note("too late"))


async def test_nobody_waits_for_a_writer_that_was_ended(path: Path, run: int) -> None:
    async with writable(path) as connection:
        writer = Writer(connection, run, await connection.call(_take, run))
        task = asyncio.create_task(writer.run())
        await writer.write(note("written"))
        waiting = writer.submit(note("perhaps"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(StoreError, match="the writer has ended"):
            await waiting


async def test_the_end_of_a_writer_is_not_logged_once_for_each_unit_nobody_waits_for(
    path: Path, run: int
) -> None:
    logged: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, about: logged.append(about["message"]))
    async with working(path, run) as writer:
        writer.submit(_broken)
    writer.submit(note("too late"))
    gc.collect()
    assert logged == ["Future exception was never retrieved"], "of the unit that is wrong, alone"
    async with writable(path) as connection:
        writer = Writer(connection, run, 0)
        writer.submit(note("under a lease that is lost"))
        writer.close()
        await writer.run()
        assert isinstance(writer.broken, LeaseLostError)
    gc.collect()
    assert len(logged) == 1


def _broken(tx: Tx) -> None:
    raise ValueError("a unit's own mistake")


async def test_a_unit_gives_its_caller_what_it_made(path: Path, run: int) -> None:
    async with working(path, run) as writer:
        assert await writer.write(lambda tx: tx.db.execute("SELECT 6 * 7").fetchone()[0]) == 42


def test_a_transaction_that_raises_leaves_nothing_and_no_lock(path: Path, run: int) -> None:
    with writing(path) as db, writing(path) as other:
        with pytest.raises(ValueError, match="a bug"):
            do(db, breaks)
        assert not db.in_transaction
        do(other, note("free"))
    assert notes(path) == ["free"]


def test_all_facts_of_a_transaction_share_one_moment_and_one_change(path: Path) -> None:
    with writing(path) as db:
        run = new_run(db)
        before = run_queries.change(db)

        def unit(tx: Tx) -> tuple[int, int]:
            first = tx.change
            run_writes.begin(tx, run)
            return first, tx.change

        assert do(db, unit) == (before + 1, before + 1)
        assert run_queries.change(db) == before + 1


def test_a_transaction_without_facts_moves_no_change(path: Path) -> None:
    with writing(path) as db:
        before = run_queries.change(db)
        do(db, lambda tx: None)
        assert run_queries.change(db) == before
