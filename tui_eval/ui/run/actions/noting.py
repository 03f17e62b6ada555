"""Writing notes on trials: what is asked for, and what was there before."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from textual.app import App

from tui_eval.format import many
from tui_eval.store.write.people import notes
from tui_eval.store.writer import once
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.store_access.store_client import StoreClient


async def ask_note(
    app: App[Any], context: AppContext, trials: Sequence[int], about: str
) -> tuple[dict[int, str], dict[int, str]] | None:
    """Ask a person for a note on trials.

    Args:
        app: Where it is asked; from a worker.
        context: The way to the store.
        trials: Their ids.
        about: What they are called; may be foreign.

    Returns:
        The notes to write and those they replace, by trial, empty where there is none; None where
        nobody wanted to write any, or nothing is changed.
    """
    with context.keys_wait():
        there = await context.client.ponder(notes.of, trials)
    texts = set(there.values())
    first = texts.pop() if len(texts) == 1 and len(there) == len(trials) else ""
    hint = "empty takes it away" if there else "shown beside the trial, and exported"
    if there and len(trials) > 1:
        hint = f"{many(len(there), 'of them has a note', 'of them have notes')}: this replaces it"
    text = await app.push_screen_wait(NameDialog(f"note on {about}", first, hint, note_too_long))
    if text is None:
        return None
    wanted = {trial: text.strip() for trial in trials if there.get(trial, "") != text.strip()}
    before = {trial: there.get(trial, "") for trial in wanted}
    return (wanted, before) if wanted else None


async def write_notes(client: StoreClient, wanted: Mapping[int, str]) -> None:
    """Write notes.

    Raises:
        StoreError: the store cannot be written; no note was changed.
    """
    await client.act(once, client.path, partial(notes.write, notes=wanted))


def note_too_long(text: str) -> str | None:
    """Say that a note is too long; None: it is not."""
    over = len(text) - notes.LONGEST
    return f"{many(over, 'character')} too many" if over > 0 else None
