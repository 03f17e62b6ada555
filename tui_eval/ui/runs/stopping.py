"""Stopping and pausing live runs from the list: the question, and what is asked of them."""

import sqlite3
from collections.abc import Sequence

from tui_eval.format import many
from tui_eval.model.states import RunState
from tui_eval.store.errors import StoreError
from tui_eval.store.requests import Verb
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.runs.run_list import ListedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.store_access import run_requests


def why_not_steered(chosen: Sequence[ListedRun]) -> str | None:
    """Say why none of the runs can be stopped or paused; None: one can."""
    if any(one.run.live for one in chosen):
        return None
    if all(one.run.state is RunState.DONE for one in chosen):
        return "the run is finished" if len(chosen) == 1 else "all of them are finished"
    whose = f"{chosen[0].run.name}: no engine works on it" if len(chosen) == 1 else "none is live"
    return f"{whose}; {key('runs.resume', 'u')} resumes what is missing"


async def stop(screen: BaseScreen, chosen: Sequence[ListedRun]) -> None:
    """Stop the live ones, once a person has said yes."""
    live = [one for one in chosen if one.run.live]
    left = sum(one.total.total - one.total.settled for one in live)
    more = f"{many(left, 'trial')} stay open; {key('runs.resume', 'u')} resumes them."
    if await screen.app.push_screen_wait(
        ConfirmDialog(
            f"Stop {_named(live)}?",
            yes=f"Stop {_named(live)}",
            no="Let it run" if len(live) == 1 else "Let them run",
            more=more,
        )
    ):
        await _ask(screen, live, Verb.STOP, "stopping")


async def pause(screen: BaseScreen, chosen: Sequence[ListedRun]) -> None:
    """Pause the live runs, or resume them where all are paused, once a person agrees."""
    live = [one for one in chosen if one.run.live]
    going = [one for one in live if one.run.state is not RunState.PAUSED]
    if not going:
        await _ask(screen, live, Verb.CONTINUE, "resuming")
        return
    more = f"What is in flight ends, nothing new starts; {key('runs.pause', 'p')} resumes."
    if await screen.app.push_screen_wait(
        ConfirmDialog(
            f"Pause {_named(going)}?",
            yes=f"Pause {_named(going)}",
            no="Let it run" if len(going) == 1 else "Let them run",
            more=more,
        )
    ):
        await _ask(screen, going, Verb.PAUSE, "pausing")


async def _ask(screen: BaseScreen, live: Sequence[ListedRun], verb: Verb, words: str) -> None:
    try:
        await run_requests.ask_all(screen.context.client, [one.run.id for one in live], verb)
    except (StoreError, OSError, sqlite3.Error) as error:
        screen.say(f"not done: {error}", "error", seconds=15)
    else:
        screen.say(f"{words} {_named(live)}")


def _named(live: Sequence[ListedRun]) -> str:
    return live[0].run.name if len(live) == 1 else many(len(live), "run")
