"""Fixtures of the engine's tests."""

from pathlib import Path

import pytest

from tests.engine.harness import Bench


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "store.sqlite3")
