"""Questions before an act."""

from pathlib import Path

import pytest

from tests.ui.playing import app_on, shown_on, text, until, until_shown
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.screens.suites_screen import SuitesScreen


@pytest.mark.parametrize("size", [(60, 20), (80, 24)])
async def test_no_word_of_a_question_is_cut_where_it_can_be_folded(
    store: Path, size: tuple[int, int]
) -> None:
    more = " ".join(f"{n:04}" for n in range(30))
    app = app_on(store)
    async with shown_on(app, size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        app.push_screen(
            ConfirmDialog("Delete it?", yes="Delete suite-b9nw", no="Keep it", more=more)
        )
        await until_shown(pilot, "Delete suite-b9nw enter", "Keep it esc")
        assert set(more.split()) <= set(text(app).split())


async def test_a_question_is_folded_anew_where_the_terminal_becomes_narrower(store: Path) -> None:
    more = " ".join(f"{n:04}" for n in range(30))
    app = app_on(store)
    async with shown_on(app, (100, 30)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        app.push_screen(
            ConfirmDialog("Delete it?", yes="Delete suite-b9nw", no="Keep it", more=more)
        )
        await until_shown(pilot, "Delete suite-b9nw enter", "Keep it esc")
        await pilot.resize_terminal(60, 20)
        await until_shown(pilot, *more.split(), "Delete suite-b9nw enter", "Keep it esc")


async def test_a_menu_stays_whole_where_the_terminal_becomes_smaller(store: Path) -> None:
    app = app_on(store)
    async with shown_on(app, (120, 40)) as pilot:
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        choices = [Choice(f"a choice with a long name {n}", n, f"note {n}") for n in range(30)]
        app.push_screen(Menu("choose one", choices, app.context.glyphs))
        await until_shown(pilot, "a choice with a long name 29", "enter choose")
        await pilot.resize_terminal(60, 20)
        await until_shown(pilot, "a choice with a long name 3", "note 3", "enter choose")
