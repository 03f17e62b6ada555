"""Fixtures of the app's tests."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the app away from the user's own files, and in a terminal that knows Unicode."""
    monkeypatch.setenv("TUI_EVAL_STATE", str(tmp_path / "state.json"))
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("NO_COLOR", raising=False)
    # engines are processes of their own: they must find the package that is tested
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / "store.sqlite3"
