"""Pinning a run as its suite's baseline from the app: the question, and the deed in a thread."""

import sqlite3
from functools import partial
from pathlib import Path

from tui_eval.store.errors import StoreError
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.rows import RunRow
from tui_eval.store.write import baseline_writes
from tui_eval.store.writer import once
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.screens.base.base_screen import BaseScreen


async def pin_or_unpin(screen: BaseScreen, run: RunRow) -> None:
    """Make a run its suite's baseline, or take that back; ask where it replaces another one."""
    client = screen.context.client
    with screen.context.keys_wait():
        pinned = await client.read(baseline_queries.baseline, run.suite)
    if pinned is not None and pinned.id != run.id:
        more = (
            f"{pinned.name} is it now. Runs that were launched with it go on being compared with "
            "it; later ones are compared with this one."
        )
        question = f"Make {run.name} the baseline of {run.suite}?"
        dialog = ConfirmDialog(question, yes="Replace it", no="Keep it", more=more)
        if not await screen.app.push_screen_wait(dialog):
            return
    taken_back = pinned is not None and pinned.id == run.id
    try:
        await client.act(_write, client.path, run, pin=not taken_back)
    except (StoreError, OSError, sqlite3.Error) as error:
        screen.say(f"{run.name}: {error}", "error")
        return
    screen.say(
        f"{run.name} is the baseline of {run.suite} no more"
        if taken_back
        else f"{run.name} is the baseline of {run.suite}: later runs are compared with it"
    )


def _write(path: Path, run: RunRow, *, pin: bool) -> None:
    if pin:
        once(path, partial(baseline_writes.pin, suite=run.suite, run=run.id))
    else:
        once(path, partial(baseline_writes.unpin, suite=run.suite))
