"""Fixtures of the fault tests."""

import os
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.harness import Harness


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    return Harness(tmp_path / "store.sqlite3")


@pytest.fixture
def seed() -> int:
    """Draw a seed and print it; `TUI_EVAL_SEED` draws it again."""
    drawn = int(os.environ.get("TUI_EVAL_SEED") or secrets.randbelow(1_000_000))
    print(f"TUI_EVAL_SEED={drawn}")
    return drawn


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep every process away from the user's own files, and let it find the package."""
    for name, value in {
        "TUI_EVAL_STATE": tmp_path / "state.json",
        "XDG_STATE_HOME": tmp_path / "state",
        "XDG_DATA_HOME": tmp_path / "data",
        "TUI_EVAL_STORE": tmp_path / "store.sqlite3",
        "PYTHONPATH": Path(__file__).parents[2],
        "LC_ALL": "C.UTF-8",
    }.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(tmp_path)


DISK = 8 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a folder on a disk of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "none", str(folder)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here; max_page_count stands in for it")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def fill(folder: Path, leave: int) -> Path:
    """Take all room of a disk but a little."""
    filler = folder / "filler"
    free = os.statvfs(folder)
    filler.write_bytes(b"\0" * max(0, free.f_bavail * free.f_frsize - leave))
    return filler
