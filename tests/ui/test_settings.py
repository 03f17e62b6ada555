"""The settings screen, and the file it writes."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.ui.playing import app_on, shown_on, text, until, until_shown, write_config
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.key_dialog import KeyDialog
from tui_eval.ui.screens.settings_screen import SettingsScreen


def there(config_file: Path) -> bool:
    return config_file.exists()


def said(config_file: Path) -> Mapping[str, object]:
    return tomllib.loads(config_file.read_text())


async def settings(pilot: Pilot[None]) -> SettingsScreen:
    await pilot.press("comma")
    await until(pilot, lambda: isinstance(pilot.app.screen, SettingsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    await until(pilot, lambda: screen.table.settings)
    return screen


async def choose(pilot: Pilot[None], *at: str) -> SettingsScreen:
    """Put the cursor on a setting."""
    screen = pilot.app.screen
    assert isinstance(screen, SettingsScreen)
    places = [place for place, one in enumerate(screen.table.settings) if one.at == at]
    screen.table.cursor = places[0]
    await pilot.pause()
    return screen


def app(config_file: Path) -> TuiEvalApp:
    return app_on(config_file.parent.parent / "s.sqlite3")


async def test_a_theme_is_seen_at_once_and_written_down(config_file: Path) -> None:
    async with shown_on(it := app(config_file)) as pilot:
        await settings(pilot)
        await until_shown(pilot, "not there yet", "theme")
        await pilot.press("enter", "down")
        await until(pilot, lambda: it.theme == "light")
        await pilot.press("escape")
        await until(pilot, lambda: it.theme == "dark")
        assert not there(config_file)
        await pilot.press("enter", "down", "enter")
        await until(pilot, config_file.exists)
        assert said(config_file)["theme"] == "light"
        await until_shown(pilot, "light", "config.toml")
        await pilot.press("backspace")
        await until(pilot, lambda: it.theme == "dark")
        assert "theme" not in said(config_file)


async def test_a_key_that_is_pressed_acts_at_once(config_file: Path) -> None:
    async with shown_on(it := app(config_file)) as pilot:
        await settings(pilot)
        await choose(pilot, "keymap", "runs.export")
        await pilot.press("enter", "a")
        await until_shown(pilot, "a is the key of runs.mark-all too")
        await pilot.press("ctrl+p")  # even what leads somewhere from everywhere
        await until_shown(pilot, "ctrl+p is the key of palette too")
        assert isinstance(it.screen, KeyDialog)
        await pilot.press("f8")
        await until(pilot, config_file.exists)
        assert said(config_file)["keymap"] == {"runs.export": "f8"}
        await pilot.press("2")
        await until_shown(pilot, "f8 export")
        await settings(pilot)
        await choose(pilot, "keymap", "runs.export")
        await pilot.press("backspace")
        assert said(config_file)["keymap"] == {}
        await pilot.press("2")
        await until_shown(pilot, "E export")


async def test_what_is_typed_is_checked_before_it_is_written(config_file: Path) -> None:
    async with shown_on(app(config_file)) as pilot:
        await settings(pilot)
        await choose(pilot, "concurrency")
        await pilot.press("enter", "0", "enter")
        await until_shown(pilot, "must be a whole number from 1")
        await pilot.press("backspace", "8", "enter")
        await until(pilot, config_file.exists)
        assert said(config_file)["concurrency"] == 8
        await choose(pilot, "keys")
        await pilot.press("enter", *"MY_KEY=a.example, .b.example", "enter")
        await until_shown(pilot, ".b.example, a.example")
        assert said(config_file)["keys"] == {"MY_KEY": ["a.example", ".b.example"]}


async def test_mistakes_stand_on_top_and_the_editor_opens_at_them(
    config_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_config(config_file, '# mine\ntheme = "drk"\n')
    opened: list[int | None] = []

    def edit(_: object, edited: Path, line: int | None = None) -> None:
        opened.append(line)
        edited.write_text('# mine\ntheme = "light"\n')

    monkeypatch.setattr("tui_eval.ui.screens.settings_screen.edit", edit)
    async with shown_on(it := app(config_file)) as pilot:
        await settings(pilot)
        await until_shown(pilot, 'did you mean "dark"?', "line 2")
        await pilot.press("e")
        await until(pilot, lambda: it.theme == "light")
        assert opened == [2]
        assert "mistakes: " not in text(it)


async def test_a_theme_chosen_elsewhere_is_remembered_where_it_stands(config_file: Path) -> None:
    async with shown_on(it := app(config_file)):
        it.action_set_theme("light")
    assert not there(config_file)
    assert app(config_file).theme == "light"
    write_config(config_file, 'theme = "dark"  # mine\n')
    async with shown_on(it := app(config_file)):
        assert it.theme == "dark"
        it.action_set_theme("light-contrast")
    assert said(config_file)["theme"] == "light-contrast"


async def test_what_is_cut_in_the_table_stands_whole_below_it(config_file: Path) -> None:
    async with shown_on(app(config_file), (100, 24)) as pilot:
        await settings(pilot)
        await choose(pilot, "keys", "AZURE_OPENAI_API_KEY")
        await until_shown(
            pilot,
            "AZURE_OPENAI_API_KEY: .cognitiveservices.azure.com, .openai.azure.com, "
            ".services.ai.azure.com",
        )
        await choose(pilot, "keymap", "run.undo")
        await until_shown(pilot, "Undo the last cancel, note, scores or marks")


async def test_a_word_out_of_a_few_is_chosen_not_typed(config_file: Path) -> None:
    async with shown_on(app(config_file)) as pilot:
        await settings(pilot)
        await choose(pilot, "log_level")
        await pilot.press("enter")
        await until_shown(pilot, "debug", "warning", "enter choose")
        await pilot.press("up", "enter")
        await until(pilot, config_file.exists)
        assert said(config_file)["log_level"] == "debug"
