"""The list of all actions, and of where one may go."""

from pathlib import Path

from textual.command import CommandList, CommandPalette
from textual.widgets import Input, OptionList

from tests.ui.making import write_suite
from tests.ui.playing import app_on, lines, plain_run, run_screen, shown_on, until, until_shown
from tui_eval.ui.screens.launch_screen import LaunchScreen
from tui_eval.ui.theme.themes import THEMES

HOSTILE = "[@click=app.quit]x\\u001b[2J"
SUITE = """\
name = "sums"
cases = [{ id = "a", q = "1 + 1?", a = "2" }]
prompt = { user = "{{ q }}" }
targets = [{ kind = "simulated", name = "one", answers = ["2"] }]
scorers = [{ kind = "exact", expected = "{{ a }}" }]
"""


async def test_what_is_found_while_the_palette_is_taken_away_harms_nothing(
    tmp_path: Path,
) -> None:
    app = app_on(tmp_path / "s.sqlite3", tmp_path)
    async with shown_on(app) as pilot:
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        palette = app.screen
        assert isinstance(palette, CommandPalette)
        await palette.query(CommandList).remove()
        palette._show_busy = True
        palette._list_visible = not palette._list_visible
        await pilot.pause()


async def test_suites_are_launched_and_runs_opened_from_anywhere(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    (tmp_path / "sums.toml").write_text(SUITE)
    (tmp_path / "hostile.toml").write_text(SUITE.replace("sums", HOSTILE))
    app = app_on(store, tmp_path)
    async with shown_on(app, (100, 30)) as pilot:
        await until(pilot, lambda: len(app.context.suites) > 1 and app.context.client.opened)
        await pilot.press("2", "ctrl+p", *"sums")
        await until_shown(pilot, "Launch sums…")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        await pilot.press("escape", "ctrl+p", *"click")
        await until_shown(pilot, "Launch [@click=app.quit]x␛[2J…")  # as it is, and never a link
        await pilot.press("escape", "escape", "ctrl+p", *"open by-h")
        await until_shown(pilot, "Open by-hand-", "A run, done")
        await pilot.press("enter")
        await run_screen(pilot)


async def test_the_palette_follows_a_theme_that_is_changed_while_it_is_open(tmp_path: Path) -> None:
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.client.opened)
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, CommandPalette))
        app.theme = "light"
        panel = app.screen.query_one(OptionList).styles
        await until(pilot, lambda: panel.background.hex.lower() == THEMES["light"].panel)
        assert app.screen.query_one(Input).styles.color.hex.lower() == THEMES["light"].foreground


async def test_an_action_is_a_line_with_its_key_at_the_right(tmp_path: Path) -> None:
    write_suite(tmp_path)
    app = app_on(tmp_path / "s.sqlite3", tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums")
        await until(pilot, lambda: app.context.client.opened)
        await pilot.press("ctrl+p")
        await until_shown(pilot, "launch ", "Launch the suite")
        box = app.screen.query_one(OptionList).region
        line = next(one for one in lines(app) if "Launch the suite" in one)
        assert line.rstrip(" │▇▁█").endswith("⏎")
        await pilot.press(*"import")
        await until_shown(pilot, "Import another tool's file")
        assert app.screen.query_one(OptionList).region == box, "nothing grows while it is filled"
