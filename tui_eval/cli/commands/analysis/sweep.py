"""`tui-eval sweep`: how hard an endpoint can be driven."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import (
    WHOLE,
    grouped,
    json_option,
    max_cost_option,
    store_file,
    store_option,
    trust_option,
)
from tui_eval.model.bounds import MOST_CALLS
from tui_eval.model.runs.sweep_plan import CASES, LEVELS, STOP_AT, SweepPlan
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from tui_eval.cli.running.suite_sequence import CheckedSuite
    from tui_eval.engine.preflight.column_forecast import ColumnForecast
    from tui_eval.engine.preflight.preflight import Preflight
    from tui_eval.suites.spec import AskedSpec, Suite


class _Levels(click.ParamType[tuple[int, ...]]):
    """Whole numbers ≥ 1, parted by commas; in ascending order afterwards."""

    name = "levels"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """Read them; anything else is a mistake on the command line."""
        if isinstance(value, tuple):
            return value
        found: set[int] = set()
        for word in str(value).split(","):
            number = word.strip()
            if not (number.isascii() and number.isdecimal() and number.strip("0")):
                self.fail(f"{word!r} is no whole number ≥ 1, as in 1,10,50", param, ctx)
            if len(number) > 9 or int(number) > MOST_CALLS:
                self.fail(f"{number[:20]} is more than {MOST_CALLS}", param, ctx)
            found.add(int(number))
        return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What is measured."""

    target: Annotated[
        str | None,
        click.option("--target", metavar="NAME", help="The target to ask; needed if it has more."),
    ]
    levels: Annotated[
        tuple[int, ...],
        click.option(
            "--levels",
            type=_Levels(),
            default=",".join(map(str, LEVELS)),
            show_default=True,
            metavar="N,N,…",
            help="Calls in flight that are measured, one level after the other.",
        ),
    ]
    cases: Annotated[
        int,
        click.option(
            "--cases",
            type=WHOLE,
            default=str(CASES),
            show_default=True,
            metavar="N",
            help="Calls that count at a level, at least; 3 for each that is in flight.",
        ),
    ]
    stop_at: Annotated[
        float,
        click.option(
            "--stop-at",
            type=click.FloatRange(0, 1, max_open=True),
            default=STOP_AT,
            show_default=True,
            metavar="SHARE",
            help="The share of errors above which a level is too much, and the last one.",
        ),
    ]
    every_level: Annotated[
        bool,
        click.option("--all", "every_level", is_flag=True, help="Measure those above it, too."),
    ]

    def plan(self) -> SweepPlan:
        """Return what they mean."""
        return SweepPlan(self.levels, self.cases, self.stop_at, self.every_level)


@click.command()
@click.argument("suite", metavar="SUITE", type=click.Path(path_type=Path))
@grouped("options", PlanOptions)
@max_cost_option
@click.option("--yes", "-y", is_flag=True, help="Do not ask before calls that may cost.")
@trust_option
@json_option
@store_option
def sweep(
    suite: Path,
    options: PlanOptions,
    max_cost: float | None,
    yes: bool,
    trust: bool,
    as_json: bool,
    store: Path | None,
) -> int:
    """Measure how hard a target's endpoint can be driven: calls a second, latency and errors.

    Each level of concurrency gets fresh calls without retries. The knee is the lowest level within
    10% of the best throughput; its line for the suite is printed. Nothing is scored, no output is
    used again, and rpm and tpm are not held.
    """
    from tui_eval.cli.running.foreground import drive
    from tui_eval.cli.running.reporter import OutputForm
    from tui_eval.reports import json_output

    file = store_file(store)
    checked = _checked(suite, options, file, max_cost_usd=max_cost, trusted=trust, yes=yes)
    form = OutputForm.NOTHING if as_json else OutputForm.TEXT
    end = drive(file, checked.create(file), form)
    if as_json and end.results is not None and end.results.sweep is not None:
        document = {
            "run": end.results.run.name,
            "target": checked.settings.targets[0],
            "state": end.results.state,
            **end.results.sweep.as_json(),
        }
        streams.say(json_output.dumps(document, indent=2))
    return end.code


def _checked(
    path: Path,
    options: PlanOptions,
    store: Path,
    *,
    max_cost_usd: float | None,
    trusted: bool,
    yes: bool,
) -> "CheckedSuite":
    """Read the suite, say what the sweep would send and cost, and ask whether it may.

    Raises:
        SuiteError: the suite or its data has mistakes, or needs trust.
        CommandError: the target cannot be swept, something is missing, or it may not.
    """
    from tui_eval.cli.named.runs import readable_if_there
    from tui_eval.cli.running.suite_sequence import CheckedSuite
    from tui_eval.engine.preflight.preflight import Depth, preflight
    from tui_eval.engine.sweep.sweep_suite import sweep_settings, sweep_suite, unheld
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.loading.suite_file import load

    suite = load(path, trusted=trusted)
    spec = _target(suite, options.target)
    plan = options.plan()
    settings = sweep_settings(plan, spec.name, max_cost_usd)
    swept = sweep_suite(suite, spec.name)
    with readable_if_there(store) as db:
        found = preflight(db, swept, settings, Depth.RENDERED)
        if found.mistakes:
            raise SuiteError(found.mistakes)
        if not found.may_start:
            raise CommandError("\n".join((*found.refused, *found.missing)))
        _refuse_unswept(found, spec, plan)
        _ask(spec.name, plan, _forecast(db, found, plan), yes=yes)
    notes = [one for one in found.warnings if one not in _of_survey(found)]
    return CheckedSuite(path, swept, settings, None, (*notes, *unheld(spec)))


def _of_survey(found: "Preflight") -> "Sequence[str]":
    """Return what is said of scorers and columns: nothing is scored here."""
    return () if found.survey is None else found.survey.warnings


def _target(suite: "Suite", name: str | None) -> "AskedSpec":
    from tui_eval.cli.named.suggest import refuse_unknown

    names = [target.name for target in suite.targets]
    if name is None and len(names) > 1:
        raise CommandError(
            f"{suite.name} has {len(names)} targets, and one is measured at a time: say "
            f"--target {' or --target '.join(names)}"
        )
    wanted = names[0] if name is None else name
    refuse_unknown("target", [wanted], names)
    return next(target for target in suite.targets if target.name == wanted)


def _refuse_unswept(found: "Preflight", spec: "AskedSpec", plan: SweepPlan) -> None:
    from contextlib import closing

    from tui_eval.engine.session import Session
    from tui_eval.engine.sweep.sweep_suite import why_not_swept

    with closing(Session(found.suite, found.settings)) as session:
        most = session.targets[spec.name].most_concurrency
    if (why := why_not_swept(spec, most, plan.levels)) is not None:
        raise CommandError(why)


def _forecast(
    db: "sqlite3.Connection | None", found: "Preflight", plan: SweepPlan
) -> "list[ColumnForecast]":
    """Return what all calls of a sweep would send and cost, by column: they take turns."""
    from tui_eval.engine.preflight.column_forecast import column_forecasts

    assert found.survey is not None, "a suite with mistakes is refused"
    names = [one.column for one in found.targets]
    each, more = divmod(plan.calls, len(names))
    calls = {name: each + (at < more) for at, name in enumerate(names)}
    return column_forecasts(db, found.suite, found.survey, calls)


def _ask(target: str, plan: SweepPlan, forecast: "list[ColumnForecast]", *, yes: bool) -> None:
    """Say what all levels would send and cost, and ask a person whether they may.

    Raises:
        CommandError: they may not.
    """
    from tui_eval.engine.preflight.column_forecast import tokens_and_cost
    from tui_eval.format import many, number

    levels = ", ".join(map(number, plan.levels))
    streams.tell(
        f"sweep of {visible_line(target)} at concurrency {levels}: up to "
        f"{many(plan.calls, 'call')}, {tokens_and_cost(forecast)}"
    )
    free = all(one.cost_usd == 0 for one in forecast)
    if free or yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    if not click.confirm("Make these calls?", err=True):
        raise CommandError("nothing was started")
