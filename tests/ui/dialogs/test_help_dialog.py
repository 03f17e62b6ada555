"""The help: groups of keys, narrowed by what is typed."""

from pathlib import Path

from tests.ui.playing import app_on, lines, shown_on, text, until, until_shown
from tui_eval.ui.dialogs.help_dialog import HelpDialog
from tui_eval.ui.screens.import_screen import ImportScreen
from tui_eval.ui.screens.suites_screen import SuitesScreen


async def test_the_help_is_narrowed_and_does_what_is_chosen(tmp_path: Path) -> None:
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.client.opened)
        await pilot.press("question_mark")
        await until_shown(pilot, "Launch the suite", "everywhere")
        assert "suites" in lines(app)[5], "the first group's name is in view"
        await pilot.press("slash", *"TOOL")
        await until_shown(pilot, "Import another tool's file")
        assert "Launch the suite" not in text(app)
        assert "everywhere" not in text(app)
        await pilot.press(*"zzz")
        await until_shown(pilot, "no key is like that")
        await pilot.press("enter", "enter")
        assert isinstance(app.screen, HelpDialog), "there is nothing to do"
        await pilot.press("escape")
        await until_shown(pilot, "Launch the suite")
        await pilot.press("slash", *"tool", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, ImportScreen))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
