"""Deleting runs from the app: the question, and the deed in a thread."""

import asyncio
import sqlite3
from collections.abc import Sequence

from tui_eval.engine.run_deletion import delete as delete_run
from tui_eval.format import many, number
from tui_eval.reports.terminal.removal import consequences, removed_words
from tui_eval.store.errors import StoreError
from tui_eval.store.rows import RunRow
from tui_eval.store.write import deletion
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.screens.base.base_screen import BaseScreen


class _AppClosedError(Exception):
    """The app is on its way out; what is left is deleted next time."""


async def confirm_deletion(screen: BaseScreen, runs: Sequence[RunRow]) -> bool:
    """Ask whether runs may go, with how much that is."""
    client = screen.context.client
    screen.say("counting what would go…")
    with screen.context.keys_wait():
        extent = await client.ponder(deletion.deletion_extent, [run.id for run in runs])
    what = runs[0].name if len(runs) == 1 else many(len(runs), "run")
    more = f"{removed_words(extent)}. {consequences(extent)}".strip()
    screen.app.clear_notifications()
    yes = await screen.app.push_screen_wait(
        ConfirmDialog(
            f"Delete {what} for good?",
            yes=f"Delete {what}",
            no="Keep it" if len(runs) == 1 else "Keep them",
            more=more,
        )
    )
    return yes is True


async def delete(screen: BaseScreen, run: RunRow) -> None:
    """Delete a run off the screen's loop; say what was in the way, if anything was."""
    client = screen.context.client

    def told(gone: int) -> None:
        if client.closed:
            raise _AppClosedError(f"{number(gone)} gone")

    try:
        await asyncio.to_thread(delete_run, client.path, run.id, told)
    except (StoreError, OSError, sqlite3.Error) as error:
        screen.say(f"{run.name}: {error}", "error")
    except _AppClosedError:
        return
