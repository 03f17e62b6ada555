"""The launch form, as a suite was launched last."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.ui.playing import app_on, run_screen, shown_on, sql, text, until, until_shown
from tui_eval.suites.config.app_state import AppState
from tui_eval.ui.screens.launch_screen import LaunchScreen
from tui_eval.ui.suites.launch_form import LaunchForm
from tui_eval.ui.suites.saved_form import keep, recall

USUAL = LaunchForm(targets=("one", "two"), all_targets=True)
SUITE = """\
name = "sums"
cases = [{ id = "a", q = "1 + 1?", a = "2" }, { id = "b", q = "1 + 2?", a = "3" }]
prompt = { user = "{{ q }}" }
targets = [{ kind = "simulated", name = "one", answers = ["2"] },
           { kind = "simulated", name = "two", answers = ["3"] }]
scorers = [{ kind = "exact", expected = "{{ a }}" }]
"""


@pytest.fixture
def remembered(tmp_path: Path) -> AppState:
    """What the app remembers: nothing yet."""
    return AppState(tmp_path / "state.json")


def test_what_is_not_as_the_suite_says_comes_back(remembered: AppState) -> None:
    form = replace(
        USUAL,
        targets=("two",),
        all_targets=False,
        limit="5",
        epochs="2",
        cache=False,
        only="failed",
    )
    keep(remembered, "s.toml", form, USUAL)
    again = AppState(remembered.file)
    # asking again for what is there is a wish of one launch
    assert recall(again, "s.toml", USUAL) == replace(form, cache=USUAL.cache)
    assert recall(again, "other.toml", USUAL) == USUAL
    keep(again, "s.toml", USUAL, USUAL)
    assert recall(again, "s.toml", USUAL) == USUAL
    assert json.loads(again.get("launches") or "") == {}


def test_targets_that_are_gone_are_forgotten(remembered: AppState) -> None:
    form = replace(USUAL, targets=("two",), all_targets=False)
    keep(remembered, "s.toml", form, USUAL)
    assert recall(remembered, "s.toml", replace(USUAL, targets=("one", "three"))) == replace(
        USUAL, targets=("one", "three")
    )


@pytest.mark.parametrize(
    "kept", ["[]", "{", '{"s.toml": 3}', '{"s.toml": {"only": [], "limit": 3}}']
)
def test_what_cannot_be_understood_is_as_the_suite_says(remembered: AppState, kept: str) -> None:
    remembered.set("launches", kept)
    assert recall(remembered, "s.toml", USUAL) == USUAL


def test_only_the_suites_launched_last_are_remembered(remembered: AppState) -> None:
    for n in range(120):
        keep(remembered, f"{n}.toml", replace(USUAL, limit=str(n)), USUAL)
    assert recall(remembered, "119.toml", USUAL).limit == "119"
    assert recall(remembered, "0.toml", USUAL) == USUAL


async def test_the_form_comes_as_last_time_and_goes_back_to_the_suites_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUI_EVAL_STATE", str(tmp_path / "state.json"))
    (tmp_path / "sums.toml").write_text(SUITE)
    store = tmp_path / "s.sqlite3"
    app = app_on(store, tmp_path / "sums.toml")
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.suites and app.context.client.opened)
        await pilot.press("enter")
        await until_shown(pilot, "Launch sums", "4 trials")
        assert "as last time" not in text(app)
        await pilot.click("#limit")
        await pilot.press("1")
        await until_shown(pilot, "2 trials (partial)", "as the suite says")
        await pilot.press("enter")
        await run_screen(pilot)
        await pilot.press("1", "enter")
        await until_shown(pilot, "as last time", "2 trials (partial)")
        await pilot.press("ctrl+r")
        await until_shown(pilot, "4 trials:")
        assert "as last time" not in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: sql(store, "SELECT total FROM runs WHERE staged") == [(2,)])


async def test_a_suite_is_edited_and_its_form_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUI_EVAL_STATE", str(tmp_path / "state.json"))
    suite = tmp_path / "sums.toml"
    suite.write_text(SUITE)
    opened: list[int | None] = []

    def edit(_: object, file: Path, line: int | None = None) -> None:
        opened.append(line)
        file.write_text(SUITE.replace("targets = [", "run = { epochs = 3 }\ntargets = ["))

    monkeypatch.setattr("tui_eval.ui.screens.suites_screen.edit", edit)
    app = app_on(tmp_path / "s.sqlite3", suite)
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.suites and app.context.client.opened)
        await pilot.press("enter")
        await until_shown(pilot, "4 trials:")
        await pilot.press("e")
        await until(pilot, lambda: opened and isinstance(app.screen, LaunchScreen))
        await until_shown(pilot, "12 trials:")
        assert opened == [None]
