"""Full disks, held locks, two owners, damaged files, odd and enormous texts."""

import asyncio
import random
import signal
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests import hostile
from tests.engine.harness import Harness, suite
from tests.faults.conftest import fill
from tests.faults.guards import GUARDS, failing, guarded, without
from tests.faults.processes import Command, assert_whole, resume, staged
from tests.servers.fake_model import FakeModel
from tests.support import ODD_TEXTS
from tests.waiting import until
from tui_eval.cli.main import run as command_line
from tui_eval.engine.engine import Engine, RunBusyError
from tui_eval.store import connection
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import StoreError
from tui_eval.store.read.trials import output_queries


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


@guarded("waiting for room", slow=True)
@pytest.mark.parametrize(
    "room",
    [
        pytest.param(500_000, id="while it runs"),
        pytest.param(100_000, id="while it is staged", marks=pytest.mark.whole),
    ],
)
async def test_a_full_disk_pauses_the_run_with_the_reason_until_there_is_room(
    small_disk: Path, room: int, guard: str | None
) -> None:
    harness, n = Harness(small_disk / "store.sqlite3"), 80
    async with FakeModel(answers=lambda _: "x" * 4000, latency=0.01) as server:
        run = harness.create(suite(server.base_url, n, run={"concurrency": 4}))
        filler = fill(small_disk, room)
        command = await resume(harness, run, "--json", guard=guard)
        with failing(guard):
            try:
                await until(lambda: "full" in command.err and "nothing is lost" in command.err)
                await until(lambda: server.in_flight == 0)
                held = server.requests
                assert held < n
                await asyncio.sleep(0.5)
                assert server.requests == held, "calls go out whose answers have no place"
                assert command.process.returncode is None
                filler.unlink()
                assert await command.ended() == 0, command.err
                assert set(server.counts.values()) == {1}
                assert server.requests == n
                assert harness.counts(run).done == n
                assert_whole(harness, run)
            finally:
                await command.killed()


@guarded("waiting for room", slow=True)
async def test_an_engine_on_a_full_disk_waits_before_it_takes_its_run(
    small_disk: Path, guard: str | None
) -> None:
    harness = Harness(small_disk / "store.sqlite3")
    async with FakeModel() as server:
        run = harness.create(suite(server.base_url, 5))
        filler = fill(small_disk, 0)
        told: list[str | None] = []
        with without(guard):
            task = asyncio.create_task(Engine(harness.path, run, told.append).run())
            try:
                await until(lambda: told or task.done())
                assert told and "full" in str(told[0])
            finally:
                filler.unlink()
                with suppress(StoreError):
                    await asyncio.wait_for(task, 60)
            assert told[-1] is None
            assert server.requests == 5
            assert harness.counts(run).passed == 5


@pytest.mark.whole
async def test_what_is_asked_on_a_full_disk_is_refused_and_nothing_is_half_made(
    small_disk: Path,
) -> None:
    store = small_disk / "store.sqlite3"
    harness = Harness(store)
    store.unlink()  # it is to be made by who creates a run
    async with FakeModel() as server:
        given = suite(server.base_url, 3)
        filler = fill(small_disk, 0)
        with pytest.raises(StoreError, match=r"store\.sqlite3: cannot be made: .*full"):
            harness.create(given)
        assert names(small_disk) == ["filler"]
        filler.unlink()
        run = await harness.run(given)
        before = harness.sql("SELECT * FROM runs, trials")
        filler = fill(small_disk, 0)
        with pytest.raises(StoreError, match="full; make room"):
            harness.create(given)
        name = harness.row(run).name  # what is there can be read all the same
        assert harness.counts(run).passed == 3
        for verb in ("retry", "rescore", "cancel"):
            command = await Command.start(verb, name, "--store", str(store))
            assert await command.ended() == 2
            assert "full; make room" in command.err
            assert "Traceback" not in command.err
        filler.unlink()
        assert harness.sql("SELECT * FROM runs, trials") == before
        assert harness.sql("SELECT count(*) FROM requests") == [(0,)]
        assert server.requests == 3


async def test_a_store_that_may_not_grow_pauses_the_run_until_it_may(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []
    kept = connection.open_writable

    def remembered(path: Path) -> sqlite3.Connection:
        opened.append(kept(path))
        return opened[-1]

    told: list[str | None] = []
    async with FakeModel(answers=lambda _: "x" * 4000) as server:
        server.hold()
        run = harness.create(suite(server.base_url, 60))
        monkeypatch.setattr(connection, "open_writable", remembered)
        task = asyncio.create_task(Engine(harness.path, run, told.append).run())
        await until(lambda: opened and harness.row(run).staged)
        pages = opened[0].execute("PRAGMA page_count").fetchone()[0]
        opened[0].execute(f"PRAGMA max_page_count = {pages + 2}")
        server.let_go()
        await until(lambda: told)
        assert "full" in (told[0] or "")
        opened[0].execute("PRAGMA max_page_count = 1000000")
        await asyncio.wait_for(task, 30)
        assert server.requests == 60
    assert harness.counts(run).done == 60
    assert_whole(harness, run)


@guarded("waiting for the lock", slow=True)
@pytest.mark.parametrize("held_s", [1, pytest.param(65, marks=pytest.mark.whole)])
@pytest.mark.timeout(240)
async def test_a_store_locked_by_another_process_is_waited_for(
    harness: Harness, held_s: float, guard: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if guard or held_s < connection.BUSY_S:
        monkeypatch.setattr(connection, "BUSY_S", 0.2)
    async with FakeModel(latency=0.02) as server:
        run = harness.create(suite(server.base_url, 100, run={"concurrency": 4}))
        with without(guard):
            task = asyncio.create_task(Engine(harness.path, run).run())
            await until(lambda: server.requests >= 20)
            other = sqlite3.connect(harness.path, isolation_level=None, timeout=10)
            other.execute("BEGIN IMMEDIATE")
            await until(lambda: server.in_flight == 0)
            assert harness.counts(run).total == 100, "a reader waits too"
            await asyncio.sleep(held_s)
            other.execute("ROLLBACK")
            other.close()
            try:
                await asyncio.wait_for(task, 60)
            except (ExceptionGroup, StoreError) as error:
                raise AssertionError("the engine gave up") from error
            assert server.requests == 100
            assert harness.counts(run).passed == 100
            assert_whole(harness, run)


@guarded("the lease", slow=True)
async def test_of_two_engines_on_one_run_the_second_is_refused(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel(latency=0.1) as server:
        server.hold()
        run = harness.create(suite(server.base_url, 30, run={"concurrency": 5}))
        first = await resume(harness, run, "--json")
        await until(lambda: server.in_flight == 5)
        if guard:  # nobody is refused then: both work to the end
            server.let_go()
        with without(guard):
            refused = False
            try:
                await Engine(harness.path, run).run()
            except RunBusyError:
                refused = True
            assert refused
        server.let_go()
        code = await first.ended()
        assert code == (0 if guard is None else 3)
        if guard is None:
            assert set(server.counts.values()) == {1}
            assert first.document()["counts"]["passed"] == 30


@pytest.mark.whole
async def test_a_second_command_watches_the_first_and_both_end_alike(harness: Harness) -> None:
    async with FakeModel(latency=0.1) as server:
        run = harness.create(suite(server.base_url, 60, run={"concurrency": 4}))
        first = await resume(harness, run, "--json")
        await until(lambda: server.requests >= 4)
        second = await resume(harness, run, "--json")
        assert [await first.ended(), await second.ended()] == [0, 0]
        assert first.document()["counts"] == second.document()["counts"]
        assert set(server.counts.values()) == {1}


@guarded("telling dead from alive", slow=True)
async def test_a_dead_owners_lease_is_taken_over_at_once(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel(latency=0.05) as server:
        run = harness.create(suite(server.base_url, 40, run={"concurrency": 4}))
        first = await resume(harness, run)
        await until(staged(harness, run, 8))
        await first.killed()
        with without(guard):
            try:
                await Engine(harness.path, run).run()
            except RunBusyError as error:
                raise AssertionError("nobody is there") from error
            assert harness.counts(run).passed == 40
            assert server.requests <= 44


@pytest.mark.whole
async def test_an_engine_that_slept_while_another_took_over_writes_nothing_more(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeModel(latency=0.05) as server:
        run = harness.create(suite(server.base_url, 60, run={"concurrency": 4}))
        first = await resume(harness, run)
        await until(staged(harness, run, 8))
        first.signal(signal.SIGSTOP)
        with monkeypatch.context() as patch:
            GUARDS["the lease"](patch.setattr)
            await Engine(harness.path, run).run()
        assert harness.counts(run).passed == 60
        before = harness.sql("SELECT id, state, attempts FROM trials")
        first.signal(signal.SIGCONT)
        assert await first.ended() == 3
        assert "another engine" in first.err
        assert harness.sql("SELECT id, state, attempts FROM trials") == before


# --- stores that are not as they should be ------------------------------------------------------


@pytest.mark.whole
def test_a_damaged_store_is_told_of_and_left_as_it_is(
    harness: Harness, seed: int, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = random.Random(seed)

    async def fill_it() -> int:
        async with FakeModel() as server:
            return await harness.run(suite(server.base_url, 30))

    run = asyncio.run(fill_it())
    name, sound = harness.row(run).name, harness.path.read_bytes()
    told = 0
    for _ in range(60):
        damaged = _damaged(sound, draw)
        harness.path.write_bytes(damaged)
        for words in [("runs",), ("show", name), ("export", name, "--format", "jsonl")]:
            code = command_line([*words, "--store", str(harness.path)])
            said = capsys.readouterr()
            assert code in (0, 2), (words, said.err)
            assert "Traceback" not in said.err
            told += code == 2
        assert harness.path.read_bytes() == damaged, "a damaged store was written to"
        for suffix in ("-wal", "-shm"):
            harness.path.with_name(harness.path.name + suffix).unlink(missing_ok=True)
    assert told > 30


def _damaged(sound: bytes, draw: random.Random) -> bytes:
    how = draw.choice(["pages", "cut", "empty", "magic", "bytes"])
    content = bytearray(sound)
    if how == "cut":
        return bytes(content[: draw.randrange(1, len(content))])
    if how == "empty":
        return b""
    if how == "magic":
        content[:16] = draw.randbytes(16)
        return bytes(content)
    size = 4096 if how == "pages" else 16
    for _ in range(draw.randrange(1, 8)):
        at = draw.randrange(len(content) // size) * size
        content[at : at + size] = draw.randbytes(size)
    return bytes(content)


@pytest.mark.whole
async def test_a_store_on_which_nothing_may_be_written_is_read_and_refused_for_a_run(
    small_disk: Path,
) -> None:
    harness = Harness(small_disk / "store.sqlite3")
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 3))
    name, before = harness.row(run).name, harness.path.read_bytes()
    remount = ["mount", "-o", "remount,ro", str(small_disk)]
    await asyncio.to_thread(subprocess.run, remount, check=True)
    shown = await Command.start("show", name, "--store", str(harness.path))
    assert (await shown.ended(), len(shown.out) > 0) == (0, True), shown.err
    retried = await Command.start("retry", name, "--store", str(harness.path))
    assert await retried.ended() == 2
    assert "only be read" in retried.err
    assert harness.path.read_bytes() == before


# --- texts --------------------------------------------------------------------------------------


async def test_text_of_every_kind_goes_round_byte_for_byte(harness: Harness, seed: int) -> None:
    draw = random.Random(seed)
    drawn = [
        "".join(chr(draw.choice([draw.randrange(0x110000), draw.randrange(256)])) for _ in range(9))
        for _ in range(100)
    ]
    texts = [text for text in (*ODD_TEXTS, *hostile.outputs(), *drawn) if text]
    texts = [text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
             for text in texts]  # fmt: skip
    answers: dict[str, str] = {f"q{i}": text for i, text in enumerate(texts)}
    async with FakeModel(answers=answers) as server:
        run = await harness.run(suite(server.base_url, len(texts)))
    db = open_readable(harness.path)
    try:
        for trial, text in zip(harness.trials(run), texts, strict=True):
            if trial.output is None:
                assert trial.error_kind == "empty_output", text
                continue
            kept = output_queries.output(db, trial.output)
            assert kept is not None
            assert kept.text == text or kept.reasoning is not None
    finally:
        db.close()


@pytest.mark.whole
async def test_a_hundred_outputs_of_ten_megabytes_are_kept_in_bounded_memory(
    harness: Harness,
) -> None:
    def big(_: object) -> str:
        return "0123456789" * (1 << 20)

    async with FakeModel(answers=big) as server:
        run = harness.create(suite(server.base_url, 100, run={"concurrency": 4, "timeout": 60}))
        command = await resume(harness, run, "--json")
        largest = 0
        while command.process.returncode is None:
            try:
                largest = max(largest, psutil.Process(command.process.pid).memory_info().rss)
            except psutil.NoSuchProcess:
                break
            await asyncio.sleep(0.05)
        assert await command.ended() == 0, command.err
    assert harness.counts(run).done == 100
    lengths = harness.sql("SELECT DISTINCT length(text) FROM outputs")
    assert lengths == [(10 << 20,)]
    print(f"largest resident size: {largest >> 20} MiB")
    assert largest < 800 << 20
