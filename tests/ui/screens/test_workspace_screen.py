"""What a trial's program changed, listed and compared with what it found."""

from pathlib import Path

from textual.pilot import Pilot

from tests.ui.agents import agent_run
from tests.ui.playing import (
    app_on,
    assert_clean,
    plain_run,
    run_screen,
    shown_on,
    text,
    until,
    until_shown,
)
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.screens.diff_screen import DiffScreen
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.screens.workspace_screen import WorkspaceScreen


async def opened(pilot: Pilot[None]) -> WorkspaceScreen:
    """Open the workspace of the first trial, and wait until its files are listed."""
    screen = await run_screen(pilot)
    await until(pilot, lambda: screen.detail.found is not None)
    await pilot.press("w")
    await until(pilot, lambda: isinstance(pilot.app.screen, WorkspaceScreen))
    shown = pilot.app.screen
    assert isinstance(shown, WorkspaceScreen)
    await until(pilot, lambda: shown.changes is not None)
    return shown


async def on_file(pilot: Pilot[None], screen: WorkspaceScreen, name: bytes) -> None:
    """Stand on a file and ask for its diff."""
    paths = [file.path for file in screen.files.files]
    screen.files.cursor = paths.index(name)
    await pilot.press("d")


async def test_changed_files_are_listed_with_what_became_of_them(
    store: Path, tmp_path: Path
) -> None:
    await agent_run(store, tmp_path)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await opened(pilot)
        await until_shown(pilot, "5 added, 1 changed, 1 removed", "greet.py", "old.txt")
        told = {file.name: (file.sign, file.size) for file in screen.files.files}
        assert told["greet.py"] == ("*", "48 bytes")
        assert told["picture.bin"] == ("+", "300 bytes")
        assert told["large.txt"] == ("+", "2.0 MB")
        assert told["old.txt"] == ("-", "")
        await until_shown(pilot, "link to /etc/passwd", "removed")
        assert_clean(app)
        await pilot.press("w")
        await until(pilot, lambda: isinstance(pilot.app.screen, RunScreen))


async def test_a_changed_file_is_compared_with_the_one_it_found(
    store: Path, tmp_path: Path
) -> None:
    await agent_run(store, tmp_path)
    async with shown_on(app_on(store, run="last"), (120, 36)) as pilot:
        screen = await opened(pilot)
        await on_file(pilot, screen, b"greet.py")
        await until(pilot, lambda: isinstance(pilot.app.screen, DiffScreen))
        await until_shown(pilot, "greet.py", "1 change", "Hello, {name}", "Good day, {name}")


async def test_what_cannot_be_compared_says_why(store: Path, tmp_path: Path) -> None:
    await agent_run(store, tmp_path)
    async with shown_on(app_on(store, run="last"), (120, 36)) as pilot:
        screen = await opened(pilot)
        await on_file(pilot, screen, b"picture.bin")
        await until_shown(pilot, "it is binary, 300 bytes")
        await on_file(pilot, screen, b"link")
        await until_shown(pilot, "nothing to compare")
        (tmp_path / "fixture" / "greet.py").unlink()
        await on_file(pilot, screen, b"greet.py")
        await until_shown(pilot, "not in the fixture")


async def test_of_a_huge_file_the_beginning_is_compared(store: Path, tmp_path: Path) -> None:
    await agent_run(store, tmp_path)
    async with shown_on(app_on(store, run="last"), (120, 36)) as pilot:
        screen = await opened(pilot)
        await on_file(pilot, screen, b"large.txt")
        await until_shown(pilot, "the first 1.0 MB of each", "large.txt")


async def test_a_trial_without_a_workspace_says_so(store: Path) -> None:
    plain_run(store, 2)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await until(pilot, lambda: screen.detail.found is not None)
        await pilot.press("w")
        await until_shown(pilot, "nothing of a workspace was kept")
        assert isinstance(app, TuiEvalApp)
        assert "workspace.back" not in text(app)
