"""What a key brings about is painted at once: it waits for no tick of a clock."""

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.app import App
from textual.geometry import Region
from textual.screen import Screen

from tests.ui.playing import app_on, plain_run, run_screen, shown_on, until
from tui_eval.ui.screens.base import laid_out_once


class NoTicks:
    """A clock that stands still, in place of that by which a screen is painted."""

    def pause(self) -> None:
        """Do nothing."""

    def resume(self) -> None:
        """Do nothing."""


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> list[Screen[Any]]:
    """Each screen that is painted, once for each time."""
    found: list[Screen[Any]] = []
    display = App._display

    def displayed(app: App[Any], screen: Screen[Any], renderable: Any) -> None:
        found.append(screen)
        display(app, screen, renderable)

    monkeypatch.setattr(App, "_display", displayed)
    return found


@pytest.mark.parametrize(("seconds", "seen"), [(math.inf, True), (0.0, False)])
async def test_a_key_is_seen_without_a_tick(
    tmp_path: Path,
    painted: list[Screen[Any]],
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
    seen: bool,
) -> None:
    monkeypatch.setattr(laid_out_once, "_AFTER_KEY_S", seconds)
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        screen._update_timer.stop()
        monkeypatch.setattr(screen, "_Screen__update_timer", NoTicks())
        painted.clear()
        app.post_message(events.Key("j", "j"))
        table = screen.trial_list.table
        while table.cursor != 1 or not app._key_queue.idle:
            await asyncio.sleep(0.01)  # the pilot's pause would paint
        while seen and not painted:
            await asyncio.sleep(0.01)
        assert bool(painted) == seen


async def test_of_a_burst_the_first_and_the_last_key_are_painted_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        pressed: list[int] = []
        monkeypatch.setattr(
            screen, "key_pressed", lambda: pressed.append(screen.trial_list.table.cursor)
        )
        for _ in range(6):
            app.post_message(events.Key("j", "j"))
        await until(pilot, lambda: screen.trial_list.table.cursor == 6)
        assert pressed == [0, 5]


async def test_what_is_to_be_drawn_is_painted_with_a_part_of_the_screen(tmp_path: Path) -> None:
    """What changes below a dialog is a part of it, and comes with what changes in the dialog."""
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await until(pilot, lambda: not screen._is_changed())
        title = screen.head._title
        title._set_dirty()
        screen._dirty_widgets.add(title)
        screen.refresh(Region(0, 5, 1, 1))
        screen._on_timer_update()
        assert not title._repaint_regions, "it is still to be drawn, and nothing wants it any more"


async def test_what_is_to_be_drawn_is_painted_with_a_layout_before_it(tmp_path: Path) -> None:
    """A layout in a batch of changes is painted after it: what came meanwhile, too."""
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await until(pilot, lambda: not screen._is_changed())
        title = screen.head._title
        title._set_dirty()
        screen._dirty_widgets.add(title)
        screen._compositor_refresh()
        assert not title._repaint_regions, "it is still to be drawn, and nothing wants it any more"
