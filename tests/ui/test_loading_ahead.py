"""What first openings need is there before: their modules, and their styles."""

import asyncio
import gc
from pathlib import Path

import pytest
from textual.css.stylesheet import Stylesheet

from tests.ui.playing import app_on, plain_run, run_screen, shown_on, until
from tui_eval.resources import styles_dir
from tui_eval.ui import app as app_module
from tui_eval.ui import loading_ahead
from tui_eval.ui.dialogs.help_dialog import HelpDialog
from tui_eval.ui.loading_ahead import load_ahead


async def at_once() -> None:
    """Wait for nobody."""


async def test_every_style_sheet_is_read_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        styles = app.stylesheet
        files = {str(file) for file in styles_dir().glob("*.tcss")}
        assert not files <= {path for path, _ in styles.source}  # a test's app reads none ahead
        before = list(styles.rules)
        await load_ahead(lambda: app.stylesheet, at_once)
        assert files <= {path for path, _ in styles.source}
        assert styles.rules[: len(before)] == before  # what is shown keeps its rules
        monkeypatch.setattr(Stylesheet, "read", lambda *_: pytest.fail("read when it opened"))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        assert app.screen.query_one(".box").styles.max_width is not None


async def test_nothing_is_loaded_while_keys_are_pressed(tmp_path: Path) -> None:
    variables = app_on(tmp_path / "s.sqlite3").get_css_variables()
    styles, pressed = Stylesheet(variables=variables), asyncio.Event()
    asked: list[int] = []

    async def quiet() -> None:
        asked.append(len(styles.source))
        await pressed.wait()

    loading = asyncio.create_task(load_ahead(lambda: styles, quiet))
    while not asked:
        await asyncio.sleep(0)
    assert asked == [0]
    assert not styles.source
    pressed.set()
    await loading
    assert styles.source


async def test_what_was_loaded_is_not_looked_through_for_garbage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would take a tenth of a second, whenever somebody presses a key."""
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    done: list[str] = []

    async def loading(*_: object) -> None:
        done.append("loaded")

    monkeypatch.setattr(app_module, "_FIRST_S", 0.0)
    monkeypatch.setattr(loading_ahead, "load_ahead", loading)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        monkeypatch.setattr(gc, "freeze", lambda: done.append("frozen"))
        await app._load_ahead().wait()
    assert done == ["loaded", "frozen"]
