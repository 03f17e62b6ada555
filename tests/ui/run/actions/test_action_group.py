"""What the store does not give is said, and the app goes on."""

from pathlib import Path

import pytest

from tests.ui.playing import app_on, plain_run, run_screen, shown_on, until_shown


@pytest.mark.parametrize("keys", ["r", "S"])
async def test_a_suite_that_cannot_be_read_is_said(tmp_path: Path, keys: str) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)  # its frozen suite is {}
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press(*keys)
        await until_shown(pilot, "not done: run by-hand", "name: Field required")
        assert app.screen is screen
        assert app.is_running
