"""What became of the cases of a suite, listed."""

from pathlib import Path

from tests.ui.playing import app_on, assert_clean, plain_run, shown_on, until, until_shown
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.screens.runs_screen import RunsScreen
from tui_eval.ui.screens.suite_history_screen import SuiteHistoryScreen


async def test_cases_are_listed_with_a_sign_for_each_run(store: Path) -> None:
    plain_run(store, failing=(3, 7))
    plain_run(store, failing=(7, 9))
    app = app_on(store)
    async with shown_on(app, (100, 30)) as pilot:
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.table.runs)
        await pilot.press("h")
        await until_shown(pilot, "history", "by-hand", "2 full runs", "2 of 30 cases")
        await until_shown(pilot, "case-003", "✗✓", "case-009", "✓✗")
        screen = app.screen
        assert isinstance(screen, SuiteHistoryScreen)
        await pilot.press("f")
        await until_shown(pilot, "that are flaky")
        await pilot.press("f")
        await until_shown(pilot, "30 of 30 cases", "case-000", "✗✗")
        screen.table.cursor = 7
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await until_shown(pilot, "expected 7")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("h")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        assert_clean(app)


async def test_a_suite_without_a_full_run_says_so(store: Path) -> None:
    plain_run(store)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await app.push_screen(SuiteHistoryScreen(app.context, "never"))
        await until_shown(pilot, "never has no full run yet")
        await pilot.press("f")
        await until_shown(pilot, "not available: there is no full run yet")
        await pilot.press("enter")
        await until_shown(pilot, "not available: there is no case here")
