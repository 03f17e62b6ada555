"""Keys that come in one burst, as from a slow line: each is dealt with before the next."""

import sqlite3
import time
from pathlib import Path

import pytest
from textual import events
from textual.app import App

from tests.ui.playing import (
    app_on,
    plain_run,
    run_screen,
    shown_on,
    until,
)
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.screens.runs_screen import RunsScreen

_NAMED = {"\r": "enter", "\x7f": "backspace", "\x1b": "escape", "/": "slash", " ": "space"}


def burst(app: TuiEvalApp, keys: str) -> None:
    """Press keys so fast that none is dealt with before the last has come."""
    for key in keys:
        app.post_message(events.Key(_NAMED.get(key, key), key if key.isprintable() else None))


async def state_after(
    store: Path, keys: str, wanted: tuple[str, int] | None = None
) -> tuple[str, int]:
    """Give what a run's list is narrowed to and how many trials are marked.

    Not what is selected: a list that was narrowed for a moment may not have been read yet.

    Args:
        store: The store.
        keys: What is pressed.
        wanted: What it has to come to, and to stay at; None: whatever it comes to.
    """
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)

        def state() -> tuple[str, int]:
            return screen.trial_list.view.text, screen.trial_list.marks.count

        burst(app, keys)
        if wanted is not None:
            await until(pilot, lambda: state() == wanted)
        await until(pilot, lambda: all((app._message_queue.empty(), app._key_queue.idle)))
        await pilot.pause(0.3)
        return state()


@pytest.mark.whole
@pytest.mark.parametrize(
    ("keys", "state"),
    [
        ("/answer 29\x7f\r", ("answer 2", 0)),
        ("/anx\x7fs\r", ("ans", 0)),
        ("/answer 1\rjj  ", ("answer 1", 2)),
    ],
)
async def test_a_burst_does_what_the_same_keys_do_typed_slowly(
    store: Path, keys: str, state: tuple[str, int]
) -> None:
    plain_run(store, 30)
    assert await state_after(store, keys, state) == state


@pytest.mark.whole
async def test_without_turns_a_burst_goes_wrong(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control: as the toolkit deals with keys, they overtake each other."""
    plain_run(store, 30)
    monkeypatch.setattr(TuiEvalApp, "on_event", App.on_event)
    assert await state_after(store, "/answer 29\x7f\r") != ("answer 2", 0)


async def test_keys_wait_for_a_screen_that_is_still_being_made(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        burst(app, "fj\r")
        await until(pilot, lambda: screen.trial_list.trials.count == 2)
        burst(app, "q")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_a_key_whose_screen_closes_under_it_holds_up_no_other(store: Path) -> None:
    plain_run(store, 30)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        for _ in range(5):
            burst(app, "f\x1bo\x1bj")
        await until(pilot, lambda: screen.trial_list.table.cursor == 5)


async def test_keys_wait_for_a_dialog_that_is_still_being_read(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_run(store, 3)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await until(pilot, lambda: screen.detail.found is not None)
        whole = trial_queries.whole

        def slowly(db: sqlite3.Connection, run: int, trial: int) -> WholeTrial | None:
            time.sleep(0.2)
            return whole(db, run, trial)

        monkeypatch.setattr(trial_queries, "whole", slowly)
        burst(app, "y\r")
        await until(pilot, lambda: app.clipboard == "answer 0")
        assert not screen.detail.zoomed
