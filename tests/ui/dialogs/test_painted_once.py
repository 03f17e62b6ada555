"""Dialogs are as large as what they say from the first, and nothing in them changes its size."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.command import CommandPalette
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget

from tests.ui.making import write_suite
from tests.ui.playing import app_on, plain_run, run_screen, shown_on, until, until_shown
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.cap_dialog import CapDialog, CapQuestion
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.key_dialog import KeyDialog
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.screens.launch_screen import LaunchScreen

SIZES = [
    (80, 24),
    *(pytest.param(size, marks=pytest.mark.whole) for size in ((60, 20), (160, 48))),
]


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> dict[Widget, set[Size]]:
    """The sizes that each widget has been shown in."""
    found: dict[Widget, set[Size]] = {}
    display = App._display

    def displayed(app: App[Any], screen: Screen[Any], renderable: Any) -> None:
        for widget in screen.query("*"):
            if widget.size and widget.is_on_screen:
                found.setdefault(widget, set()).add(widget.size)
        display(app, screen, renderable)

    monkeypatch.setattr(App, "_display", displayed)
    return found


def steady(found: dict[Widget, set[Size]], of: Screen[Any]) -> None:
    own = {widget: sizes for widget, sizes in found.items() if widget in set(of.query("*"))}
    assert own, "nothing was painted"
    assert {str(widget): sizes for widget, sizes in own.items() if len(sizes) > 1} == {}


def boxes(app: TuiEvalApp) -> dict[str, Callable[[], Screen[Any]]]:
    glyphs = app.context.glyphs
    cap = CapQuestion("At its cap", "$2 of $2 is spent", "new cap, $", "4", lambda _: "too low")
    menu = [Choice(f"choice {n}", n, str(n)) for n in range(30)]
    return {
        "confirm": lambda: ConfirmDialog("Stop it? " * 20, yes="Stop it", no="Let it run"),
        "menu": lambda: Menu("sort by", menu, glyphs),
        "name": lambda: NameDialog("Export to", "a.csv", "a hint", lambda _: None),
        "cap": lambda: CapDialog(cap),
        "key": lambda: KeyDialog("Stop the run", "C", lambda _: "it is taken " * 9),
    }


@pytest.mark.parametrize("size", SIZES)
async def test_a_box_keeps_its_size(
    tmp_path: Path, size: tuple[int, int], sizes: dict[Widget, set[Size]]
) -> None:
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app, size) as pilot:
        await until(pilot, lambda: app.context.client.opened)
        for make in boxes(app).values():
            box = make()
            await app.push_screen(box)
            await pilot.press("x", "y", "down")  # what is typed, and said of it
            steady(sizes, box)
            app.pop_screen()


@pytest.mark.parametrize("size", SIZES)
async def test_what_is_counted_late_moves_nothing(
    tmp_path: Path, size: tuple[int, int], sizes: dict[Widget, set[Size]]
) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app, size) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("enter")
        await until_shown(pilot, "Start", "reusable")
        assert isinstance(app.screen, LaunchScreen)
        steady(sizes, app.screen)
        await pilot.press("escape", "ctrl+p")
        await until_shown(pilot, "Launch the suite")
        assert isinstance(app.screen, CommandPalette)
        await pilot.press(*"run")
        await until_shown(pilot, "All runs")
        steady(sizes, app.screen)
        await pilot.press("escape", "question_mark", "slash", *"all")
        await until_shown(pilot, "All runs")
        steady(sizes, app.screen)


async def test_the_filter_keeps_its_size(tmp_path: Path, sizes: dict[Widget, set[Size]]) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("f", "space")
        await until_shown(pilot, " of 30 trials")
        steady(sizes, app.screen)
