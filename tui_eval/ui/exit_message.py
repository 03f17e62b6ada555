"""The line the terminal is left with: what goes on, and how to come back to it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tui_eval.format import many
from tui_eval.invocation import command_name
from tui_eval.store.location import naming
from tui_eval.store.rows import RunRow


def farewell(
    live: Sequence[RunRow], store: Path, *, stopped: bool, environ: Mapping[str, str] = os.environ
) -> str:
    """Say what becomes of the runs that were live as the app was left.

    Args:
        live: These runs, the newest first; at least one.
        store: The store they are in.
        stopped: Whether they were asked to stop.
        environ: Names the store that is looked into where nobody names one.
    """
    of_store = naming(store, environ)
    one = live[0].name
    if len(live) == 1:
        command = f"{command_name()} {'resume' if stopped else 'watch'} {one}{of_store}"
        if stopped:
            return f"{one} is being stopped; `{command}` finishes it"
        return f"{one} goes on; `{command}` comes back to it"
    names = f"{one} and {many(len(live) - 1, 'other run')}"
    if stopped:
        return f"{names} are being stopped; `{command_name()}{of_store}` opens them again"
    return f"{names} go on; `{command_name()} watch {one}{of_store}` comes back to it"
