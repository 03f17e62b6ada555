"""What can be scored again in a run, and with what: the menu behind `S`."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tui_eval.model.json import Json, JsonObject
from tui_eval.store import reader
from tui_eval.store.board import Counts
from tui_eval.store.requests import Verb
from tui_eval.ui.run.costs import batches, judge_calls
from tui_eval.ui.run.errands import Errand
from tui_eval.ui.screens.menu import Choice
from tui_eval.ui.words import many

# The suite's format is imported where it is used: it is slow to load.


@dataclass(frozen=True, slots=True)
class Rescoring:
    """What a person may choose to score again."""

    words: str
    """After "Score … again": which trials, with what."""
    trials: int
    args: JsonObject
    scorers: tuple[str, ...] = ()
    """The scorers that grade again; empty: all."""


@dataclass(frozen=True, slots=True)
class Scored:
    """How a run is scored, and how its suite's file would score it now."""

    scorers: tuple[str, ...]
    """The run's scorers by name."""
    batches: dict[str, float] = field(default_factory=dict)
    """Judge calls for each trial, by the names of the scorers that ask a judge."""
    edited: JsonObject | None = None
    """What a request says of the suite's file as it is now; None: nothing else."""
    changed: tuple[str, ...] = ()
    """What the file has changed, for a person."""
    problem: str | None = None
    """Why the file cannot be used as it is now."""

    def calls(self, scorers: Sequence[str], trials: int) -> int:
        """Give about how many judge calls it takes to score so many trials again."""
        return judge_calls(self.batches, scorers, trials)


def scored(db: sqlite3.Connection, store: Path, run_id: int) -> Scored:
    """Read how a run is scored, and what its suite's file would change; in a thread."""
    from tui_eval.engine.edited import rescoring
    from tui_eval.store.errors import StoreError
    from tui_eval.suites.errors import SuiteError
    from tui_eval.suites.spec import Suite

    run = reader.run(db, run_id)
    frozen = Suite.model_validate_json(reader.spec(db, run_id))
    names = tuple(scorer.name for scorer in frozen.scorers)
    known = Scored(names, batches(frozen))
    if run.path is None or not Path(run.path).exists():
        return known
    try:
        args = rescoring(store, run, Path(run.path))
    except (SuiteError, StoreError) as error:
        return Scored(names, known.batches, problem=str(error).splitlines()[0])
    changed = _changes(frozen.model_dump(mode="json"), args)
    return Scored(names, known.batches, args if changed else None, changed)


def choices(found: Scored, total: Counts, marked: Sequence[int]) -> list[Choice[Rescoring]]:
    """Give the lines of the menu."""
    lines = [_choice("everything", total.done, {"which": "all"})]
    if total.ungraded:
        lines.append(_choice("what is ungraded", total.ungraded, {"which": "ungraded"}))
    if len(found.scorers) > 1:
        lines += [
            _choice(f"everything by {name}", total.done, {"which": "all", "scorers": [name]}, name)
            for name in found.scorers
        ]
    if found.edited is not None:
        what = f"as the suite's file says now ({', '.join(found.changed)})"
        lines.append(_choice(f"everything {what}", total.done, {"which": "all", **found.edited}))
        if marked:
            some: list[Json] = [*marked]
            args: JsonObject = {"trials": some, **found.edited}
            lines.append(_choice(f"the marked {what}", len(marked), args))
    return lines


def errand(found: Scored, chosen: Rescoring) -> Errand:
    """Give the errand of a choice, with the question that comes before it."""
    calls = found.calls(chosen.scorers, chosen.trials)
    cost = f"about {many(calls, 'judge call')}" if calls else "no judge is asked"
    if "judge_specs" in chosen.args:
        cost = "judges are asked as the file says"
    return Errand(
        Verb.RESCORE,
        chosen.args,
        f"Score {chosen.words} again: {many(chosen.trials, 'trial')}?",
        "score",
        f"{cost[0].upper()}{cost[1:]}; no target is asked, what was graded stays in the history.",
    )


def _choice(words: str, trials: int, args: JsonObject, *scorers: str) -> Choice[Rescoring]:
    return Choice(words, Rescoring(words, trials, args, scorers), many(trials, "trial"))


def _changes(frozen: JsonObject, edited: JsonObject) -> tuple[str, ...]:
    """Name what differs: scorers and judges that are changed, new or gone."""
    found: list[str] = []
    for field_, key, noun in (
        ("scorers", "scorer_specs", "scorer"),
        ("judges", "judge_specs", "judge"),
    ):
        before, now = _by_name(frozen[field_]), _by_name(edited[key])
        for name in dict.fromkeys([*before, *now]):
            if name not in now:
                found.append(f"{noun} {name} gone")
            elif name not in before:
                found.append(f"{noun} {name} new")
            elif before[name] != now[name]:
                found.append(f"{noun} {name} changed")
    return tuple(found)


def _by_name(specs: Json) -> dict[str, Json]:
    listed = specs if isinstance(specs, list) else []
    return {str(spec["name"]): spec for spec in listed if isinstance(spec, dict)}
