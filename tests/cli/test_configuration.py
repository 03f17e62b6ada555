"""The configuration on the command line: what it decides, and what outranks it."""

import json
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Place


@pytest.fixture
def file(place: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The person's configuration; nothing else says where the store is."""
    folder = place.folder / "config"
    folder.mkdir()
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(folder))
    monkeypatch.delenv("TUI_EVAL_STORE", raising=False)
    return folder / "config.toml"


def test_an_option_outranks_the_environment_and_that_the_configuration(
    file: Path, tui_eval: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text('store = "mine.sqlite3"\n')

    def found(*words: str) -> tuple[str, str]:
        store = json.loads(tui_eval(*words, "doctor", "--json").out)["store"]
        return Path(store["file"]).name, Path(store["named by"]).name

    assert found() == ("mine.sqlite3", "config.toml")
    monkeypatch.setenv("TUI_EVAL_STORE", "theirs.sqlite3")
    assert found() == ("theirs.sqlite3", "TUI_EVAL_STORE")
    assert found("--store", "now.sqlite3") == ("now.sqlite3", "--store")


def test_a_wrong_store_stops_a_command_and_a_wrong_theme_does_not(
    file: Path, tui_eval: Command, place: Place
) -> None:
    file.write_text("theme = 3\nstore = 3\n")
    done = tui_eval("runs")
    assert done.code == 2
    assert "config.toml, line 2: store: must be a file's path, not 3" in done.err
    assert "theme" not in done.err
    file.write_text("theme = 3\n")
    assert tui_eval("runs", "--store", place.store).code == 0


def test_a_run_takes_the_usual_concurrency_where_its_suite_says_none(
    file: Path, tui_eval: Command, place: Place
) -> None:
    def calls(name: str, more: str = "", *options: str) -> list[int]:
        suite = place.suite(n=2, more=more)
        assert tui_eval("run", suite, "--store", place.folder / name, *options).code in (0, 3)
        db = sqlite3.connect(place.folder / name)
        try:
            return [row[0] for row in db.execute("SELECT concurrency FROM limits ORDER BY id")]
        finally:
            db.close()

    file.write_text("concurrency = 3\n")
    assert calls("usual.sqlite3")[0] == 3
    assert calls("suite.sqlite3", "[run]\nconcurrency = 5")[0] == 5
    assert calls("option.sqlite3", "", "--concurrency", "7")[0] == 7
    file.write_text("concurrency = 0\n")
    done = tui_eval("run", place.suite(n=2), "--store", place.store)
    assert done.code == 2
    assert "line 1: concurrency: must be a whole number" in done.err


def test_the_doctor_tells_what_is_in_force_and_every_mistake(file: Path, tui_eval: Command) -> None:
    file.write_text('theme = "light"\n[keymap]\nrun.retry = "f5"\nrun.cancle = "c"\n')
    found = json.loads(tui_eval("doctor", "--json").out)["configuration"]
    assert found["file"] == str(file)
    assert found["theme"] == f"light ({file})"
    assert found["concurrency"] == "auto (default)"
    assert found["keymap"] == "run.retry = f5"
    (mistake,) = found["mistakes"]
    assert "line 4: keymap.run.cancle: no action has this id" in mistake
