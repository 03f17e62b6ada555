"""Opening a dialog costs one picture, and lays out nothing of what is below."""

import sqlite3
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import LayoutUpdate
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.pilot import Pilot
from textual.screen import ModalScreen, Screen

from tests.ui.playing import app_on, plain_run, run_screen, shown_on, text, until
from tui_eval.store.search.groups import Groups
from tui_eval.ui.dialogs.dialog import PaintedOnce
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.screens import groups_screen
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.widgets.rows import Rows

KEYS = ("question_mark", "ctrl+p", "f", "E")


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the whole of a screen was painted, and which screens were laid out."""
    found: Counter[str] = Counter()
    display, lay_out = App._display, RunScreen._refresh_layout

    def displayed(app: App[Any], screen: Screen[Any], update: Any) -> None:
        if update is not None:
            found["whole" if isinstance(update, LayoutUpdate) else "part"] += 1
        display(app, screen, update)

    def laid_out(screen: RunScreen, *arguments: Any, **named: Any) -> None:
        found["below"] += 1
        lay_out(screen, *arguments, **named)

    monkeypatch.setattr(App, "_display", displayed)
    monkeypatch.setattr(RunScreen, "_refresh_layout", laid_out)
    return found


async def settled(pilot: Pilot[None], done: Counter[str]) -> None:
    """Wait until a dialog stands, and nothing more is painted."""
    await until(pilot, lambda: isinstance(pilot.app.screen, ModalScreen) and done["whole"])
    before = None
    while before != done:
        before = Counter(done)
        await pilot.pause(0.03)  # two ticks of a screen


async def test_a_dialog_is_painted_once(tmp_path: Path, done: Counter[str]) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        for key in KEYS:
            await pilot.press(key)
            await settled(pilot, done)
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await pilot.pause(0.03)
            done.clear()
            await pilot.press(key)  # its style sheet has been read by now
            await settled(pilot, done)
            assert done["whole"] == 1, key
            assert done["below"] == 0, key
            if key != "ctrl+p":  # what is offered there comes bit by bit
                assert done["part"] <= 2, key  # what is counted later
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))
            await pilot.pause(0.03)
            done.clear()


async def test_styles_of_a_dialog_are_applied_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has the focus is styled once more; a box knows the size of its screen from the first."""
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    applied: Counter[DOMNode] = Counter()
    apply = Stylesheet.apply

    def applying(styles: Stylesheet, node: DOMNode, **named: Any) -> None:
        applied[node] += 1
        apply(styles, node, **named)

    async with shown_on(app) as pilot:
        await run_screen(pilot)
        monkeypatch.setattr(Stylesheet, "apply", applying)
        for key in KEYS:
            applied.clear()
            await pilot.press(key)
            await until(pilot, lambda: isinstance(app.screen, ModalScreen))
            await until(pilot, lambda: app.screen.focused is not None)
            await pilot.pause(0.03)
            assert app.screen.has_class("-normal")
            if key != "ctrl+p":  # Textual's own gives itself classes as its list comes
                still = [app.screen, *app.screen.query("Vertical, Hints, Bar")]
                assert {applied[node] for node in still} == {1}, key
            await pilot.press("escape")
            await until(pilot, lambda: isinstance(app.screen, RunScreen))


@pytest.mark.parametrize("seconds", [60.0, 0.0])
async def test_the_first_picture_waits_for_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Groups are painted with what was counted first, not empty before; but not for ever."""
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    seen: list[str] = []
    ticks: list[PaintedOnce[Any]] = []
    counts = threading.Event()
    display, tick, step = App._display, PaintedOnce._on_timer_update, Groups.step

    def displayed(app: App[Any], screen: Screen[Any], update: Any) -> None:
        display(app, screen, update)
        if isinstance(screen, ModalScreen) and update is not None:
            seen.append(text(app))  # type: ignore[arg-type]

    def ticking(dialog: PaintedOnce[Any]) -> None:
        tick(dialog)
        ticks.append(dialog)
        if len(ticks) == 8:  # it would have been painted by now
            counts.set()

    def counting(groups: Groups, db: sqlite3.Connection) -> bool:
        assert counts.wait(60)
        return step(groups, db)

    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        monkeypatch.setattr(groups_screen, "TOGETHER_S", seconds)
        monkeypatch.setattr(App, "_display", displayed)
        monkeypatch.setattr(PaintedOnce, "_on_timer_update", ticking)
        monkeypatch.setattr(Groups, "step", counting)
        await pilot.press("b")
        await until(pilot, lambda: seen)
        assert ("did not pass" in seen[0]) == (seconds > 0)
        counts.set()
        await until(pilot, lambda: "did not pass" in text(app))


async def test_a_dialog_knows_what_is_still_to_be_drawn(tmp_path: Path) -> None:
    """Its first picture is not painted before: a part of it would be painted again."""
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.client.opened)
        menu = Menu("one", [Choice(str(n), n) for n in range(40)], app.context.glyphs)
        await app.push_screen(menu)
        await until(pilot, lambda: not menu._is_awaited())
        rows = menu.query_one(Rows)
        for widget in (rows, rows.vertical_scrollbar):
            widget.refresh()
            assert menu._is_awaited()
            await until(pilot, lambda: not menu._is_awaited())


async def test_a_dialog_on_a_dialog_shows_both(tmp_path: Path) -> None:
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.client.opened)
        small = [Choice("yes", 1)]
        wide = [Choice(f"a long choice, number {n}", n) for n in range(12)]
        await app.push_screen(Menu("below", wide, app.context.glyphs))
        await app.push_screen(Menu("above", small, app.context.glyphs))  # before the first is seen
        await until(pilot, lambda: "yes" in text(app))
        app.pop_screen()
        await until(pilot, lambda: "number 3" in text(app) and "yes" not in text(app))


async def test_a_dialog_heeds_another_size(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("f")
        await pilot.resize_terminal(130, 40)
        await until(pilot, lambda: app.screen.size == screen.size == (130, 40))
        assert app.screen.has_class("-wide")
