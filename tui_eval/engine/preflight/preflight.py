"""What a launch would do, what it lacks and why it is refused: one value for every front end.

`check`, `run`, the Launch form and the preview of a suite show what stands in a `Preflight`, and
decide nothing of it themselves.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import partial
from itertools import islice
from typing import Final

from tui_eval.engine.judging.stored_answers import identity_of
from tui_eval.engine.launch.plan import ChosenCases, cases_of_verdict
from tui_eval.engine.preflight.column_forecast import ColumnForecast, column_forecasts
from tui_eval.engine.preflight.forecast import LaunchForecast, launch_forecast
from tui_eval.engine.preflight.judge_forecast import JudgeForecast, judge_forecasts
from tui_eval.engine.preflight.readiness import missing
from tui_eval.engine.preflight.survey import surveyed
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.json import canonical
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.data.hub import hub_rows
from tui_eval.suites.judge_choice import kinships
from tui_eval.suites.loading.errors import NEAR, Mistake, SuiteError, unknown_names
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey import template_check
from tui_eval.suites.survey.template_check import Survey
from tui_eval.targets import notes
from tui_eval.targets.base import at_most
from tui_eval.targets.build_context import fixed

_RUNS_LOOKED_AT: Final = 50
_WHEN_LAST_RUN: Final = {"failed": "failed", "errors": "errored", "ungraded": "was ungraded"}


class Depth(IntEnum):
    """How far a preflight looks; each includes those before it."""

    READ = 0
    """The data is read: mistakes, refusals, warnings."""
    RENDERED = 1
    """Every template is tried: troubles, and what all calls would send were nothing stored."""
    COUNTED = 2
    """Every trial is looked up in the store: what it has, what is asked of targets and judges."""


@dataclass(frozen=True, slots=True)
class Preflight:
    """What a launch would do, as far as was looked."""

    suite: Suite
    settings: Settings
    survey: Survey | None
    """None: its data or templates have `mistakes`."""
    mistakes: tuple[Mistake, ...] = ()
    refused: tuple[str, ...] = ()
    """What was chosen that there is not: targets, cases, tags, or any case at all."""
    missing: tuple[str, ...] = ()
    """Keys, models and prices without which nothing starts."""
    work: LaunchForecast | None = None
    """Trials by what the store has; None: nothing was counted."""
    targets: tuple[ColumnForecast, ...] = ()
    """What calls send and cost; without `work`: at most, were nothing stored."""
    judges: tuple[JudgeForecast, ...] = ()
    warnings: tuple[str, ...] = ()
    """What may not be meant so; it starts all the same."""
    baseline: str | None = None
    """The run that is pinned as the suite's baseline; None: none is."""

    @property
    def may_start(self) -> bool:
        """Whether nothing speaks against it."""
        return not (self.mistakes or self.refused or self.missing)


def preflight(
    db: sqlite3.Connection | None,
    suite: Suite,
    settings: Settings,
    depth: Depth = Depth.COUNTED,
    survey: Callable[[Suite], Survey] | None = None,
    *,
    has_base: bool = False,
) -> Preflight:
    """Look at a launch before it is made: no API calls, and nothing is written.

    Args:
        db: A connection to the store; None: there is no store yet.
        suite: The suite as loaded.
        settings: The launch's choices.
        depth: How far to look.
        survey: Gives the suite's survey where the caller keeps it; None: it is made.
        has_base: Whether the launch names what its run is compared with.
    """
    lacks = missing(suite, settings)
    if survey is None:
        read_only = partial(template_check.survey, rendered=False)
        survey = read_only if depth is Depth.READ else surveyed
    try:
        suite = hub_rows.pinned(suite)
        seen = survey(suite)
        refused = tuple(_refusals(db, suite, settings, seen))
    except SuiteError as error:
        return Preflight(suite, settings, None, error.mistakes, missing=lacks)
    with closing(Session(suite, settings)) as session:
        warnings = tuple(_warnings(db, session, seen))
        pinned = None if db is None else baseline_queries.baseline(db, suite.name)
        if pinned is None and not has_base:
            warnings += tuple(_without_baseline(suite))
        found = Preflight(
            suite,
            settings,
            seen,
            refused=refused,
            missing=lacks,
            warnings=warnings,
            baseline=None if pinned is None else pinned.name,
        )
        if refused or depth is Depth.READ:
            return found
        if depth is Depth.RENDERED:
            at_most = dict.fromkeys(
                (column.name for column in session.columns), seen.cases * seen.epochs
            )
            return replace(found, targets=tuple(column_forecasts(db, suite, seen, at_most)))
        return _counted(db, session, seen, found)


def _counted(
    db: sqlite3.Connection | None, session: Session, seen: Survey, found: Preflight
) -> Preflight:
    """Look every trial up; where a model's file is missing nobody knows what the store has."""
    suite, settings = session.suite, session.settings
    only = cases_of_verdict(db, suite.name, settings)
    try:
        work = launch_forecast(db, session, only)
        judges = judge_forecasts(db, session, only)
    except UnavailableError as error:
        return replace(found, missing=found.missing or (str(error),))
    calls = {name: counts.calls for name, counts in work.columns.items()}
    return replace(
        found,
        work=work,
        targets=tuple(column_forecasts(db, suite, seen, calls)),
        judges=tuple(judges),
        missing=missing(suite, settings, {one.judge for one in judges}),
    )


def _refusals(
    db: sqlite3.Connection | None, suite: Suite, settings: Settings, seen: Survey
) -> Iterator[str]:
    """Say what was chosen that there is not."""
    unknown = [
        *unknown_names("target", settings.targets, [target.name for target in suite.targets]),
        *unknown_names("case", settings.cases, _ids(suite, settings)),
        *unknown_names("tag", settings.tags, sorted(seen.tags)),
    ]
    yield from unknown
    if unknown:
        return
    only = cases_of_verdict(db, suite.name, settings)
    if settings.only is not None and not only:
        yield f"no case of {suite.name} {_WHEN_LAST_RUN[settings.only]} when last run"
    elif not any(True for _ in ChosenCases(cases(suite), settings, only, suite.dataset.seed)):
        asked = (("case", settings.cases), ("tag", settings.tags), ("only", settings.only))
        names = " and ".join(name for name, given in asked if given)
        yield f"no case is left: none is all that {names} ask for"


def _ids(suite: Suite, settings: Settings) -> list[str]:
    """Return the ids that were chosen, as far as they exist, and others that may be meant."""
    if not settings.cases:
        return []
    wanted = set(settings.cases)
    found = [case.id for case in cases(suite) if case.id in wanted]
    return (
        found
        if len(found) == len(wanted)
        else [*found, *(case.id for case in islice(cases(suite), NEAR))]
    )


def _warnings(db: sqlite3.Connection | None, session: Session, seen: Survey) -> Iterator[str]:
    """Say what may not be meant so: of the suite, its judges, its keys, and of other runs."""
    yield from seen.warnings
    if session.judges:
        yield from kinships(session.suite, session.settings.targets)
        yield from _same_judges(session)
    yield from notes(session.suite)
    yield from _cut_down(session)
    for name in [] if db is None else _at_the_same_endpoint(db, session):
        yield f"run {name} is asking the same endpoint just now: their limits add up"


def _same_judges(session: Session) -> Iterator[str]:
    """Say which judges of a jury are one: it is asked once, and counts as each of them."""
    for scorer in session.suite.scorers:
        jury = [*dict.fromkeys(scorer.judges_named() if scorer.asks_judge else ())]
        seen: dict[bytes, str] = {}
        for name in jury if len(jury) > 1 else []:
            if (identity := identity_of(session.judges[name])) is None:
                continue  # that its model is not there is said elsewhere
            first = seen.setdefault(canonical(identity), name)
            if first != name:
                yield (
                    f'scorer "{scorer.name}": judges "{first}" and "{name}" differ in nothing that '
                    "changes grades: what one says counts as both; `repeats` asks a judge again"
                )


def _without_baseline(suite: Suite) -> Iterator[str]:
    """Say where a suite's gate asks for the baseline that there is not."""
    asked = None if suite.gate is None else suite.gate.baseline
    if asked is None:
        return
    then = "the gate does not hold" if asked.unclear == "fail" else "it passes"
    yield (
        f"[gate.baseline]: {suite.name} has no baseline, so nobody can tell, and {then}; "
        f"`tui-eval baseline {suite.name} RUN` pins one"
    )


def _cut_down(session: Session) -> Iterator[str]:
    """Say which targets take fewer calls at once than the launch, or the suite, asks for."""
    for name in dict.fromkeys(column.target for column in session.columns):
        target = session.targets[name]
        wanted = fixed(session.settings.concurrency or target.default_concurrency) or 0
        if wanted > target.most_concurrency:
            yield f"target {name!r}: {at_most(target.most_concurrency)}"


def _at_the_same_endpoint(db: sqlite3.Connection, session: Session) -> Iterator[str]:
    """Yield the names of live runs that ask an endpoint of this launch."""
    asked = (session.targets[column.target] for column in session.columns)
    ours = {target.endpoint for target in asked if target.source is AnswerSource.ASKED}
    for run in run_queries.runs(db, limit=_RUNS_LOOKED_AT):
        if not run.state.settled and run.live:
            theirs = {column.endpoint for column in run_queries.columns(db, run.id)}
            if ours & theirs:
                yield run.name
