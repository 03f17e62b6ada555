"""What can be scored again in a run, and with what: the menu behind `S`."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.format import many
from tui_eval.model.json import Json, JsonObject
from tui_eval.store.errors import StoreError
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.requests import Verb
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.ui.dialogs.menu import Choice
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.actions.commands import Command, sentence

if TYPE_CHECKING:
    from tui_eval.engine.preflight.request_forecast import RequestForecast

# The suite's format is imported where it is used: it is slow to load.


@dataclass(frozen=True, slots=True)
class Rescoring:
    """What a person may choose to score again."""

    words: str
    """After "Score … again": which trials, with what."""
    trials: int
    args: JsonObject


@dataclass(frozen=True, slots=True)
class RunScorers:
    """How a run is scored, and how its suite's file would score it now."""

    scorers: tuple[str, ...]
    """The run's scorers by name."""
    edited: JsonObject | None = None
    """What a request says of the suite's file as it is now; None: nothing else."""
    changed: tuple[str, ...] = ()
    """What the file has changed, for a person."""
    affected: tuple[str, ...] = ()
    """The scorers that grade otherwise with it, or are gone."""
    problem: str | None = None
    """Why the file cannot be used as it is now."""


def scored(db: sqlite3.Connection, store: Path, run_id: int) -> RunScorers:
    """Read how a run is scored, and what its suite's file would change; in a thread."""
    from tui_eval.engine.control.changed_scorers import edited, edits, rescoring

    run = run_queries.run(db, run_id)
    frozen = frozen_suite(db, run_id)
    names = tuple(scorer.name for scorer in frozen.scorers)
    known = RunScorers(names)
    if run.path is None or not Path(run.path).exists():
        return known
    try:
        args = rescoring(store, run, Path(run.path))
    except (SuiteError, StoreError) as error:
        return RunScorers(names, problem=str(error).splitlines()[0])
    now = edited(frozen, args)
    found = edits(frozen, now)
    if not found.words:
        return known
    return RunScorers(names, args, found.words, found.scorers)


def choices(
    found: RunScorers, total: Counts, marked: Sequence[int], *, edited_first: bool = False
) -> list[Choice[Rescoring]]:
    """Return the lines of the menu.

    Args:
        found: How the run is scored.
        total: Its trials.
        marked: The ids of those that are marked.
        edited_first: Whether the suite's file as it is now comes before all else.
    """
    lines = [_choice("everything", total.done, {"which": "all"})]
    if total.ungraded:
        lines.append(_choice("what is ungraded", total.ungraded, {"which": "ungraded"}))
    if len(found.scorers) > 1:
        lines += [
            _choice(f"everything by {name}", total.done, {"which": "all", "scorers": [name]})
            for name in found.scorers
        ]
    if found.edited is not None:
        what = f"as the file says now ({', '.join(found.changed)})"
        # only what the file changes grades again: no judge is asked twice for the same
        changed: JsonObject = {"scorers": [*found.affected], **found.edited}
        some: list[Json] = [*marked]
        args: JsonObject = {"which": "all", **changed}
        as_edited = [_choice(f"everything {what}", total.done, args)]
        if marked:
            args = {"trials": some, **changed}
            as_edited.append(_choice(f"the marked {what}", len(marked), args))
        lines = [*as_edited, *lines] if edited_first else [*lines, *as_edited]
    return lines


def command(chosen: Rescoring, taken: "RequestForecast") -> Command:
    """Return the command of a choice, with the question that comes before it.

    Args:
        chosen: The choice.
        taken: What it takes.
    """
    undo = key("run.undo", "U")
    return Command(
        Verb.RESCORE,
        chosen.args,
        f"Score {chosen.words} again: {many(chosen.trials, 'trial')}?",
        f"Score {many(chosen.trials, 'trial')}",
        "Keep the scores",
        f"{sentence(taken.words())}; no target is asked; {undo} undoes it.",
    )


def _choice(words: str, trials: int, args: JsonObject) -> Choice[Rescoring]:
    return Choice(words, Rescoring(words, trials, args), many(trials, "trial"))
