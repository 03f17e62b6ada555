import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.fates import one_of_each
from tests.support import Staged, writing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made."""
    return tmp_path / "store.sqlite3"


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store to copy: making one takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty") / "store.sqlite3"
    with writing(path):
        return path


@pytest.fixture
def db(path: Path, empty_store: Path) -> Iterator[sqlite3.Connection]:
    """A store of its own, open for writing; durability is left out."""
    shutil.copyfile(empty_store, path)
    with writing(path) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        yield connection


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    """Seven trials, one of each fate, by place."""
    return one_of_each(db)
