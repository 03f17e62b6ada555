"""What lies beside a store is made anew where it cannot be used, and leaves the disk its room."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tui_eval.store import run_file
from tui_eval.store.run_file import RunFile, RunFileKind

KIND = RunFileKind(1, "CREATE TABLE words (word TEXT);\nCREATE TABLE more (n INTEGER);\n")


def opened(file: Path, created_at: float, kind: RunFileKind) -> RunFile:
    class Words(RunFile):
        KIND = kind

    return Words(file, created_at)


def keep(file: Path, word: str, created_at: float = 1.0, kind: RunFileKind = KIND) -> None:
    with closing(opened(file, created_at, kind)) as beside, beside.writing() as db:
        db.execute("INSERT INTO words VALUES (?)", (word,))


def words(file: Path, created_at: float = 1.0, kind: RunFileKind = KIND) -> list[str]:
    with closing(opened(file, created_at, kind)) as beside:
        return [str(word) for (word,) in beside.db.execute("SELECT word FROM words")]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "beside" / "run.sqlite3"
    keep(file, "kept")
    return file


def test_it_is_found_again_by_its_owner_alone(file: Path) -> None:
    assert words(file) == ["kept"]
    assert file.stat().st_mode & 0o077 == 0


def test_of_another_run_of_that_name_or_another_version_it_is_made_anew(file: Path) -> None:
    assert words(file, created_at=2.0) == []
    keep(file, "kept", 2.0)
    assert words(file, 2.0, RunFileKind(2, KIND.schema)) == []


def test_what_is_no_such_file_is_made_anew(file: Path) -> None:
    run_file.remove(file)
    file.write_bytes(b"not a database, and longer than its header " * 200)
    assert words(file) == []
    run_file.remove(file)
    with closing(sqlite3.connect(file)) as foreign:  # one without the table of the run
        foreign.executescript("CREATE TABLE words (word TEXT); PRAGMA user_version = 9;")
    assert words(file) == []


def test_one_in_use_is_not_thrown_away(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "_BUSY_S", 0.0)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            opened(file, 1.0, KIND)
        other.execute("ROLLBACK")
    assert words(file) == ["kept"]


def test_what_raises_while_it_is_written_leaves_it_as_it_was(file: Path) -> None:
    with closing(opened(file, 1.0, KIND)) as beside:
        with pytest.raises(ZeroDivisionError), beside.writing() as db:
            db.execute("INSERT INTO words VALUES ('half')")
            _ = 1 / 0
        with beside.writing() as db:
            db.execute("INSERT INTO words VALUES ('whole')")
    assert words(file) == ["kept", "whole"]


def test_a_disk_that_is_nearly_full_is_left_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_file, "LEAST_FREE", 1 << 62)
    with pytest.raises(OSError, match="nearly full"):
        keep(file, "too much")
    assert words(file) == ["kept"]


def test_it_is_removed_with_its_log(file: Path) -> None:
    with closing(opened(file, 1.0, KIND)):
        assert len(list(file.parent.iterdir())) == 3
        run_file.remove(file)
    assert list(file.parent.iterdir()) == []
    run_file.remove(file)
