"""Fixtures of the app's tests."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.notifications import Notification

from tests.engine.harness import Harness
from tui_eval.resources import samples_dir
from tui_eval.ui.suites import suite_list


@pytest.fixture(scope="session", autouse=True)
def _styles_are_parsed_once() -> Iterator[None]:
    """Keep what each style sheet comes to in a theme: a fifth of the CPU of an app's start."""
    parse, kept = Stylesheet._parse_rules, {}

    def known(sheet: Stylesheet, css: str, read_from: Any, *more: Any, **named: Any) -> Any:
        theme = tuple(sheet._variables.items())
        key = (css, read_from, more, tuple(named.items()), theme)
        if key not in kept:
            kept[key] = parse(sheet, css, read_from, *more, **named)
        return kept[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", known)
        yield


@pytest.fixture(scope="session", autouse=True)
def _words_in_a_corner_wait_to_be_seen() -> Iterator[None]:
    """Let none end by time: on a busy machine it is gone before the test looks."""
    with pytest.MonkeyPatch.context() as patch:
        left = property(lambda said: said.raised_at + 600 - time.time())
        patch.setattr(Notification, "time_left", left)
        yield


@pytest.fixture(autouse=True)
def own_surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the app away from the user's own files, and in a terminal that knows Unicode.

    The suites that come with the program are not listed, unless a test asks for `samples`: to read
    them takes a third of the CPU of a test that opens the app.
    """
    monkeypatch.setenv("TUI_EVAL_STATE", str(tmp_path / "state.json"))
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.delenv("NO_COLOR", raising=False)
    # engines are processes of their own: they must find the package that is tested
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(suite_list, "samples_dir", lambda: tmp_path / "no samples")


@pytest.fixture
def samples(own_surroundings: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the app list the suites that come with the program, as it does for everybody."""
    monkeypatch.setattr(suite_list, "samples_dir", samples_dir)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Give the place of a store that is not there yet."""
    return tmp_path / "store.sqlite3"


@pytest.fixture
def harness(store: Path) -> Harness:
    """Give what runs engines on that store."""
    return Harness(store)


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """Give the place of the person's configuration; neither it nor its folder is there yet."""
    return tmp_path / "config" / "config.toml"
