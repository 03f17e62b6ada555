"""Opening the store: made whole, migrated, or refused and left as it was."""

import asyncio
import os
import random
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import reading, staged, writing
from tui_eval.store import schema
from tui_eval.store.connection import explain, open_readable, open_writable, readable, writable
from tui_eval.store.errors import StoreDamagedError, StoreError, StoreNewerError
from tui_eval.store.opening.backup import keep_copy
from tui_eval.store.read import run_queries

OPENERS = pytest.mark.parametrize("opener", [open_readable, open_writable])
Opener = Callable[[Path], sqlite3.Connection]

SCHEMA = len(schema.MIGRATIONS)
"""The version of a store of today."""


def contents(folder: Path) -> dict[str, bytes]:
    """Give all files of a folder, but for the index of the log, which readers may make anew."""
    return {
        file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("-shm")
    }


def assert_refused(opener: Opener, path: Path, kind: type[StoreError], says: str) -> None:
    before = contents(path.parent)
    with pytest.raises(kind, match=says) as refused:
        opener(path)
    assert str(path) in str(refused.value)
    after = contents(path.parent)
    after.pop(f"{path.name}-wal", None)  # an empty one may appear beside a file that has none
    assert after == {name: data for name, data in before.items() if not name.endswith("-wal")}


def filled(path: Path) -> None:
    with writing(path) as db:
        staged(db, 200)


def test_a_store_is_made_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / "store.sqlite3"
    with writing(path) as db:
        assert schema.version(db) == SCHEMA
    assert [file.name for file in path.parent.iterdir()] == ["store.sqlite3"]


def test_a_store_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.sqlite3"
    with writing(path) as db:
        staged(db)
        for file in path.parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file.name
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_what_was_written_is_there_when_it_is_opened_again(path: Path) -> None:
    with writing(path) as db:
        name = run_queries.run(db, staged(db).run).name
    with writing(path) as db:
        assert run_queries.run_named(db, name).total == 3
    with reading(path) as db:
        assert run_queries.run_named(db, name).total == 3


def test_a_writer_is_durable_and_a_reader_cannot_write(path: Path) -> None:
    with writing(path) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("PRAGMA synchronous").fetchone() == (2,)
    with reading(path) as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("DELETE FROM runs")


def test_an_odd_path_is_a_path(tmp_path: Path) -> None:
    path = tmp_path / "a#b?c=%41 é" / "store?mode=memory"
    with writing(path) as db:
        staged(db)
    with reading(path) as db:
        assert len(run_queries.runs(db)) == 1
    assert path.exists()


def test_a_reader_says_that_there_is_no_store_yet(path: Path) -> None:
    with pytest.raises(StoreError, match="no store here yet"):
        open_readable(path)
    assert not path.exists()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"store\.sqlite3: cannot be"):
        open_writable(tmp_path / "file" / "store.sqlite3")


@OPENERS
def test_a_folder_is_no_store(opener: Opener, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="not a file"):
        opener(tmp_path)


@OPENERS
def test_a_newer_store_is_refused_and_left_byte_for_byte(opener: Opener, path: Path) -> None:
    filled(path)
    with writing(path) as db:
        db.execute(f"PRAGMA user_version = {len(schema.MIGRATIONS) + 1}")
    assert_refused(opener, path, StoreNewerError, "written by a newer tui-eval")


@OPENERS
def test_a_newer_store_with_a_log_keeps_it(opener: Opener, path: Path) -> None:
    filled(path)
    # a process that ends without closing leaves its log behind
    leave = (
        "import os, sqlite3, sys\n"
        "db = sqlite3.connect(sys.argv[1])\n"
        "db.execute('PRAGMA user_version = 99')\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", leave, str(path)], check=True)
    log = path.with_name(path.name + "-wal")
    before = log.read_bytes()
    assert before
    with pytest.raises(StoreNewerError, match="schema 99"):
        opener(path)
    assert log.read_bytes() == before


@OPENERS
def test_an_empty_file_is_no_store(opener: Opener, path: Path) -> None:
    path.touch()
    assert_refused(opener, path, StoreDamagedError, "an empty file")


@OPENERS
def test_a_store_cut_to_nothing_keeps_its_log(opener: Opener, path: Path) -> None:
    filled(path)
    os.truncate(path, 0)
    path.with_name(path.name + "-wal").write_bytes(b"what is left")
    with pytest.raises(StoreDamagedError, match="an empty file"):
        opener(path)
    assert path.with_name(path.name + "-wal").read_bytes() == b"what is left"


@OPENERS
def test_a_log_without_its_store_is_kept(opener: Opener, path: Path) -> None:
    path.with_name(path.name + "-wal").write_bytes(b"what is left")
    assert_refused(opener, path, StoreDamagedError, "its log store.sqlite3-wal is")
    assert not path.exists()


@OPENERS
@pytest.mark.parametrize("data", [b"hello\n", b"\x7fELF" + bytes(8192), bytes(4096)])
def test_a_file_of_another_kind_is_refused(opener: Opener, path: Path, data: bytes) -> None:
    path.write_bytes(data)
    assert_refused(opener, path, StoreDamagedError, "damaged or not a store")


@OPENERS
def test_a_file_of_one_byte_is_no_store_and_no_sqlite_file(opener: Opener, path: Path) -> None:
    path.write_bytes(b"x")
    assert_refused(opener, path, StoreDamagedError, r": not a store; name another")


@OPENERS
def test_a_store_with_another_magic_is_refused(opener: Opener, path: Path) -> None:
    filled(path)
    with path.open("r+b") as file:
        file.write(b"SQLite format 4\x00")
    assert_refused(opener, path, StoreDamagedError, "damaged or not a store")


@OPENERS
@pytest.mark.parametrize("kept", [100, 4096, 20_000])
def test_a_store_that_was_cut_is_refused(opener: Opener, path: Path, kept: int) -> None:
    filled(path)
    assert path.stat().st_size > kept
    os.truncate(path, kept)
    assert_refused(opener, path, StoreDamagedError, r"damaged or not a store.*recover")


@OPENERS
@pytest.mark.parametrize("made", ["CREATE TABLE bookmarks (url TEXT)", "PRAGMA user_version = 1"])
def test_another_programs_file_is_refused(opener: Opener, path: Path, made: str) -> None:
    other = sqlite3.connect(path)
    other.execute(made)
    other.close()
    assert_refused(opener, path, StoreDamagedError, "not a store of tui-eval")


def test_a_page_of_noise_is_met_as_damage_and_told_so(path: Path) -> None:
    filled(path)
    with writing(path) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'runs'").fetchone()
    with path.open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(random.Random(1).randbytes(4096))
    with reading(path) as db, pytest.raises(sqlite3.DatabaseError) as met:
        run_queries.runs(db)
    told = explain(path, met.value)
    assert isinstance(told, StoreDamagedError)
    assert "recover" in str(told)


def test_other_trouble_is_told_as_it_is(path: Path) -> None:
    busy = sqlite3.OperationalError("database is locked")
    told = explain(path, busy)
    assert not isinstance(told, StoreDamagedError)
    assert str(told) == f"{path}: database is locked"


def test_an_older_store_is_read_by_none_and_brought_up_to_date_by_a_writer(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)

    def second(db: sqlite3.Connection) -> None:
        db.execute("ALTER TABLE runs ADD COLUMN mood TEXT")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, second))
    assert_refused(open_readable, path, StoreError, "written by an older tui-eval")
    with writing(path) as db:
        assert db.execute("SELECT mood FROM runs").fetchone() == (None,)
        assert [row[0] for row in db.execute("SELECT name FROM migrations")] == [
            migration.__name__ for migration in schema.MIGRATIONS
        ]
    with reading(path) as db:
        assert schema.version(db) == len(schema.MIGRATIONS)


def moody(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE runs ADD COLUMN mood TEXT")


def test_what_a_store_was_is_kept_beside_it_before_it_is_brought_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    copy = path.with_name(f"store.sqlite3.schema-{SCHEMA}")
    copy.write_bytes(b"of an earlier time")
    said: list[str] = []
    late = sqlite3.connect(path, isolation_level=None)
    try:
        late.execute("UPDATE runs SET label = 'in the log'")  # and not yet in the file
        with monkeypatch.context() as patch:
            patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, moody))
            begun: list[str] = []
            open_writable(path, said.append, begun.append).close()
            open_writable(path, said.append, begun.append).close()
            assert len(begun) == 1
            assert "being brought up to date" in begun[0]
            with pytest.raises(StoreError, match="written by an older tui-eval"):
                open_readable(copy)  # it is what it was
    finally:
        late.close()
    assert said == [
        f"{path}: brought up to date for this tui-eval; what it was is kept as {copy.name}"
    ]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with reading(copy) as db:
        assert schema.version(db) == SCHEMA
        assert db.execute("SELECT label, total FROM runs").fetchall() == [("in the log", 200)]
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert {file.name for file in path.parent.iterdir()} <= {
        *(f"store.sqlite3{end}" for end in ("", "-wal", "-shm")),
        copy.name,
    }


def test_a_store_of_which_no_copy_can_be_made_is_left_as_it_is(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    (path.parent / f"store.sqlite3.schema-{SCHEMA}").mkdir()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, moody))
    with pytest.raises(StoreError, match="no copy of it can be made"):
        open_writable(path)
    monkeypatch.undo()
    with reading(path) as db:
        assert schema.version(db) == SCHEMA


def test_where_another_process_was_quicker_its_copy_is_left_alone(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, moody))
    copy = path.with_name(f"store.sqlite3.schema-{SCHEMA}")
    versions = iter([1])
    kept = schema.version
    with reading_any(path) as db:
        open_writable(path).close()
        theirs = copy.read_bytes()
        # what it knew of the version is out of date by the time it copies
        monkeypatch.setattr(schema, "version", lambda db: next(versions, None) or kept(db))
        assert keep_copy(db, path) is None
    assert copy.read_bytes() == theirs


@contextmanager
def reading_any(path: Path) -> Iterator[sqlite3.Connection]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)
    try:
        yield db
    finally:
        db.close()


def test_a_migration_that_breaks_leaves_the_store_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path)

    def broken(db: sqlite3.Connection) -> None:
        db.execute("ALTER TABLE runs ADD COLUMN mood TEXT")
        raise RuntimeError("half way")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
        with pytest.raises(RuntimeError, match="half way"):
            open_writable(path)
    with reading(path) as db:
        assert schema.version(db) == SCHEMA
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            db.execute("SELECT mood FROM runs")


def test_many_processes_make_one_store(path: Path) -> None:
    make = (
        "import sys, pathlib\n"
        "from tui_eval.store.connection import open_writable\n"
        "sys.stdin.readline()\n"
        "db = open_writable(pathlib.Path(sys.argv[1]))\n"
        "db.execute('UPDATE meta SET value = value + 1')\n"
        "db.close()\n"
    )
    makers = [
        subprocess.Popen([sys.executable, "-c", make, str(path)], stdin=subprocess.PIPE)
        for _ in range(4)
    ]
    for maker in makers:
        maker.communicate(b"go\n")
    assert [maker.returncode for maker in makers] == [0] * 4
    with reading(path) as db:
        assert run_queries.change(db) == 4
    assert not [file for file in path.parent.iterdir() if file.name.startswith(".")]


def test_a_folder_without_hard_links_gets_a_store_too(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refused)
    with writing(path) as db:
        assert schema.version(db) == SCHEMA
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_was_made_meanwhile_is_not_replaced(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = Path.hardlink_to

    def slower(self: Path, target: Path) -> None:
        monkeypatch.setattr(Path, "hardlink_to", link)
        filled(path)  # another process makes the store just before this one does
        link(self, target)

    monkeypatch.setattr(Path, "hardlink_to", slower)
    with writing(path) as db:
        assert len(run_queries.runs(db)) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="a superuser may write anywhere")
def test_a_store_where_nothing_may_be_written_is_read_and_not_written(path: Path) -> None:
    filled(path)
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        with reading(path) as db:
            assert len(run_queries.runs(db)) == 1
        with pytest.raises(StoreError, match="may only be read"):
            open_writable(path)
    finally:
        path.parent.chmod(0o700)


async def test_whole_functions_run_in_the_connections_thread(path: Path) -> None:
    filled(path)
    async with writable(path) as writing_, readable(path) as reading_:
        assert await writing_.call(schema.version) == SCHEMA
        assert len(await reading_.call(run_queries.runs, limit=5)) == 1


async def test_a_refusal_comes_through_an_asynchronous_connection(tmp_path: Path) -> None:
    await asyncio.to_thread(len, "")  # the pool's own thread, which stays
    before = set(threading.enumerate())
    with pytest.raises(StoreError, match="not a file"):
        async with writable(tmp_path):
            pass
    assert set(threading.enumerate()) <= before, "a thread goes on that may outlive its loop"
