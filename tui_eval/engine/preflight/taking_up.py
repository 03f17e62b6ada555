"""Whether a run may be taken up again, and with what it would be."""

import sqlite3
from collections.abc import Collection
from dataclasses import replace

from tui_eval.engine.executors.kinds import executor_problems
from tui_eval.engine.preflight.permission import permitted, refusal
from tui_eval.engine.preflight.readiness import unready
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.executor_choice import NamedExecutor
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite


class RunUntrustedError(Exception):
    """A run wants what nobody here has trusted it with; the message says what."""


class RunUnreadyError(Exception):
    """What is asked of a run cannot be done before something is put right."""

    def __init__(self, reasons: Collection[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = tuple(reasons)
        """What is missing, one line each, for a person."""


def settings_after(
    db: sqlite3.Connection,
    run: RunRow,
    verbs: Collection[str],
    named: NamedExecutor,
    *,
    trusted: bool,
) -> Settings:
    """Return the settings that a run which nobody works on has once it is taken up again.

    Whoever names an executor has it get the suite, as at a launch: that alone needs no trust.

    Args:
        db: A connection to the store.
        run: The run.
        verbs: What is to be asked of it, as far as that needs keys, models and programs.
        named: Who is to make its attempts from now on.
        trusted: Whether the person says that it may do what it wants.

    Raises:
        RunUntrustedError: nobody has said so.
        RunUnreadyError: something is missing.
        ValueError: an address is named, and nothing that is there.
    """
    suite = frozen_suite(db, run.id)
    before = Settings.from_json(run.settings)
    settings = replace(before, executor=named.in_place_of(before.executor))
    why = refusal(suite, before, staged=run.staged)
    if why is not None and not named.says_nothing:  # what it had is given up, or is the person's
        why = refusal(suite, replace(before, executor=None), staged=run.staged)
    if why is not None and not trusted:
        raise RunUntrustedError(why)
    if why is not None or settings != before:
        settings = permitted(suite, settings)
    missing = unready(db, run.id, verbs, settings)
    if not named.says_nothing and settings.executor is not None:
        missing = [*executor_problems(settings.executor, suite, ()), *missing]
    if missing:
        raise RunUnreadyError(list(dict.fromkeys(missing)))
    return settings
