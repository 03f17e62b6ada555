"""Taking up a run again: only where it may do what its suite wants, and has what it needs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import executor_after
from tui_eval.model.runs.executor_choice import AS_BEFORE, NamedExecutor

if TYPE_CHECKING:
    from collections.abc import Collection

    from tui_eval.store.requests import Verb
    from tui_eval.store.rows import RunRow
    from tui_eval.store.tx import Tx

_LIVE = (
    "an engine works on {run}, and its attempts are made as they were: stop it first, or leave "
    "out --executor and --address"
)


def take_up(
    store: Path,
    run: "RunRow",
    verbs: "Collection[Verb]",
    named: NamedExecutor = AS_BEFORE,
    *,
    trusted: bool,
) -> "RunRow":
    """Return a run as it is taken up again, and have the store keep that.

    Args:
        store: The store's file.
        run: The run.
        verbs: What is to be asked of it, as far as that needs keys, models and programs.
        named: Who is to make its attempts from now on.
        trusted: Whether the person says that it may do what it wants; kept with the run.

    Raises:
        CommandError: see `as_taken_up`.
        StoreError: the store cannot be used.
    """
    taken = as_taken_up(store, run, verbs, named, trusted=trusted)
    keep_settings(store, run, taken)
    return taken


def as_taken_up(
    store: Path, run: "RunRow", verbs: "Collection[Verb]", named: NamedExecutor, *, trusted: bool
) -> "RunRow":
    """Return a run as it would be once it is taken up again; nothing is written.

    Raises:
        CommandError: it is not trusted with what it wants, keys or models are missing, or its
            engine works.
        UsageError: an address is named, and nothing that is there.
    """
    if run.live:
        if not named.says_nothing:
            raise CommandError(_LIVE.format(run=run.name))
        return run  # its engine has looked already
    import json

    from tui_eval.cli.named.runs import readable
    from tui_eval.engine.preflight.taking_up import (
        RunUnreadyError,
        RunUntrustedError,
        settings_after,
    )
    from tui_eval.engine.settings import Settings

    before = Settings.from_json(run.settings)
    executor_after(named, before.executor)
    try:
        with readable(store) as db:
            settings = settings_after(db, run, verbs, named, trusted=trusted)
    except RunUntrustedError as error:
        raise CommandError(f"{error}; look at where it comes from, then add --trust") from None
    except RunUnreadyError as error:
        raise CommandError(str(error)) from None
    if settings == before:
        return run
    return replace(run, settings=json.loads(json.dumps(settings.as_json())))


def keep_settings(store: Path, before: "RunRow", taken: "RunRow") -> None:
    """Have the store keep what `as_taken_up` has changed.

    Raises:
        CommandError: an engine has begun to work on the run meanwhile.
    """
    if taken is before:
        return
    from tui_eval.store.read import run_queries
    from tui_eval.store.write import run_writes
    from tui_eval.store.writer import once

    def write(tx: "Tx") -> bool:
        if run_queries.run(tx.db, taken.id).live:
            return False
        run_writes.set_settings(tx, taken.id, dict(taken.settings))
        return True

    if not once(store, write):
        raise CommandError(_LIVE.format(run=taken.name))
