"""Taking up a run again: only where it may do what its suite wants."""

from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError

if TYPE_CHECKING:
    from tui_eval.store.rows import RunRow


def need_targets(store: Path, run: "RunRow", verb: str) -> None:
    """Refuse to take up a run whose targets could not be asked.

    Args:
        store: The store's file.
        run: The run.
        verb: What is to be asked of it.

    Raises:
        Refused: naming the keys or models that are missing.
    """
    if run.live:
        return  # its engine has them
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.preflight.readiness import unready

    with readable(store) as db:
        missing = unready(db, run.id, [verb])
    if missing:
        raise CommandError("\n".join(missing))


def need_permission(store: Path, run: "RunRow", trust: bool) -> None:
    """Refuse to work on a run that wants what it was not trusted with here.

    Args:
        store: The store's file.
        run: The run.
        trust: Whether the person says that it may; written down with the run.

    Raises:
        Refused: with the list of what it wants.
        StoreError: the store cannot be used.
    """
    if run.live:
        return  # its engine has looked already
    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.preflight.permission import permitted, refusal
    from tui_eval.engine.settings import Settings
    from tui_eval.store.write import run_writes
    from tui_eval.store.writer import once
    from tui_eval.suites.frozen_suite import frozen_suite

    with readable(store) as db:
        suite = frozen_suite(db, run.id)
    settings = Settings.from_json(run.settings)
    why = refusal(suite, settings, staged=run.staged)
    if why is None:
        return
    if not trust:
        raise CommandError(f"{why}; look at where it comes from, then add --trust")
    kept = permitted(suite, settings).as_json()
    once(store, lambda tx: run_writes.set_settings(tx, run.id, kept))
