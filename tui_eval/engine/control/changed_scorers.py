"""Scoring a run with the scorers and judges of an edited suite; everything else stays frozen."""

import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tui_eval.engine.preflight.permission import permitted, refusal
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.connection import open_readable
from tui_eval.store.read import report_queries
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.judge_choice import judges_of
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.overrides import Sets
from tui_eval.suites.loading.suite_file import look, look_again
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.needed_names import unknown_names
from tui_eval.suites.trust.capabilities import wanted_permissions
from tui_eval.suites.trust.needs_trust import NeedsTrust

_BROUGHT: Final = {
    "scorers": "scorer_specs",
    "judges": "judge_specs",
    "scorer_code": "scorer_code",
    "outside": "outside",
}
"""The fields of a suite that a request may bring, and what it calls each."""


def rescoring(
    store: Path,
    run: RunRow,
    file: Path | None,
    *,
    sets: Sets = (),
    trusted: bool = False,
    given: Mapping[str, object] | None = None,
) -> JsonObject:
    """Return what a request to score a run again says of an edited suite.

    Args:
        store: The store's file.
        run: The run.
        file: The edited suite; its targets, prompts and data do not matter. None: the run's own.
        sets: Fields to set in it, as `--set PATH=VALUE` has them.
        trusted: Whether a person says that its judges may get their keys wherever they are.
        given: What the file would hold, as `suite_file.load` has it.

    Returns:
        `scorer_specs`, `judge_specs` and `scorer_code`, and `permit`, the mark that the run may do
        what they want.

    Raises:
        NeedsTrust: it reads files outside its folder, or its judges would get keys elsewhere.
        SuiteError: it has mistakes, or its scorers need what no case of the run has.
        StoreError: the store cannot be used.
    """
    db = open_readable(store)
    try:
        frozen = frozen_suite(db, run.id)
        if file is None:
            found = look_again(frozen, sets, trusted=trusted)
        else:
            found = look(file, sets=sets, trusted=trusted, given=given)
        if found.suite is None:
            raise NeedsTrust(str(file), found.refused)
        _need_columns(db, run, found.suite)
    finally:
        db.close()
    judged = found.suite.model_dump(mode="json")
    args: JsonObject = {request: judged[field] for field, request in _BROUGHT.items()}
    args["outside"] = [*sorted({*frozen.outside, *found.suite.outside})]
    changed = edited(frozen, args)
    before = {permission.exactly for permission in wanted_permissions(frozen)}
    new = {permission.exactly for permission in wanted_permissions(changed)} - before
    new |= _holding_otherwise(frozen, changed)
    if refused := [ask for ask in found.refused if ask.permission.exactly in new]:
        raise NeedsTrust(str(file or run.path or run.suite), refused)
    if new:
        args["permit"] = permitted(changed, Settings.from_json(run.settings)).permit
    return args


def _holding_otherwise(frozen: Suite, changed: Suite) -> set[str]:
    """Return the permissions of scorers to run files that hold something else by now."""
    folder = None if changed.file is None else Path(changed.file).parent
    return {
        permission.exactly
        for scorer in changed.scorers
        if changed.scorer_code.get(scorer.name) != frozen.scorer_code.get(scorer.name)
        for permission in scorer.permissions(scorer.model_dump(mode="json", by_alias=True), folder)
        if permission.path is not None
    }


def _need_columns(db: sqlite3.Connection, run: RunRow, suite: Suite) -> None:
    mistakes = unknown_names(suite, report_queries.case_columns(db, run.id))
    if wrong := [mistake for mistake in mistakes if mistake.field.startswith("scorers[")]:
        raise SuiteError(wrong)


def edited(frozen: Suite, args: JsonObject) -> Suite:
    """Return a run's frozen suite with the scorers and judges that a request names.

    Raises:
        ValueError: they are none.
    """
    kept: dict[str, Json] = frozen.model_dump(mode="json")
    for field, named in _BROUGHT.items():
        if named in args:
            kept[field] = args[named]
    return Suite.model_validate(kept)


@dataclass(frozen=True, slots=True)
class ScorerEdits:
    """What an edited suite scores otherwise."""

    words: tuple[str, ...]
    """Scorers and judges that are changed, new or gone, for a person."""
    scorers: tuple[str, ...]
    """The scorers that grade otherwise, or are gone: also those whose judge is changed."""


def edits(frozen: Suite, changed: Suite) -> ScorerEdits:
    """Say what a suite scores otherwise than a run does."""
    before, now = frozen.model_dump(mode="json"), changed.model_dump(mode="json")
    scorers = _differing(before["scorers"], now["scorers"])
    for name, held in now["scorer_code"].items():
        if name in before["scorer_code"] and before["scorer_code"][name] != held:
            scorers.setdefault(name, "changed: its files")
    judges = _differing(before["judges"], now["judges"])
    names = [str(judge["name"]) for judge in now["judges"]]
    asking = [
        str(scorer["name"])
        for scorer in now["scorers"]
        if not judges.keys().isdisjoint(judges_of(scorer, names))
    ]
    words = [f"scorer {name} {how}" for name, how in scorers.items()]
    words += [
        f"judge {how}" if name == "judge" else f"judge {name} {how}" for name, how in judges.items()
    ]
    return ScorerEdits(tuple(words), tuple(dict.fromkeys([*scorers, *asking])))


def _differing(before: Sequence[JsonObject], now: Sequence[JsonObject]) -> dict[str, str]:
    """Return what differs by its name: `changed`, `new` or `gone`."""
    were = {str(one["name"]): one for one in before}
    are = {str(one["name"]): one for one in now}
    return {
        name: "gone" if name not in are else "new" if name not in were else "changed"
        for name in dict.fromkeys([*were, *are])
        if were.get(name) != are.get(name)
    }


def allowed(
    changed: Suite, settings: Settings, args: JsonObject, brought: Collection[str]
) -> Settings:
    """Return a run's settings as they are with an edited suite.

    Args:
        changed: The suite.
        settings: The run's settings so far.
        args: The request's.
        brought: Judges that scorers of the run's cases name.

    Raises:
        ValueError: its judges want what nobody here has trusted it with, or cannot be asked.
    """
    permit = args.get("permit")
    marked = replace(settings, no_judge=False, permit=str(permit) if permit else settings.permit)
    why_not = refusal(changed, marked, staged=True)
    if why_not is not None:
        raise ValueError(why_not)
    try:
        session = Session(changed, marked)
        problems = session.judge_problems(brought)
        for judge in session.judges.values():
            judge.identity()
    except UnavailableError as error:
        raise ValueError(str(error)) from error
    if problems:
        raise ValueError("; ".join(problems))
    return marked
