"""Questions before an act."""

from pathlib import Path

import pytest

from tests.ui.playing import app_on, shown_on, text, until, until_shown
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
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
