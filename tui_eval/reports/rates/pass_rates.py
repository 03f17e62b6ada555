"""What of a run passes, as every list, head and report says it; cheap wherever that can be.

Rates are over cases. Where each case was asked once and weighs the same, a case is a trial, and the
counts that the store keeps of them are enough: no trial is looked at, however many there are.
"""

import sqlite3
from dataclasses import dataclass
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.model.reduction import FrozenRules
from tui_eval.reports.rates.run_rates import rates
from tui_eval.statistics.intervals import wilson
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.figures import chunk_queries
from tui_eval.store.read.judges.judge_figures import has_judges
from tui_eval.store.read.run_counts import Counts, board
from tui_eval.store.read.trials import trial_queries

_OF_ONE = frozenset({"mean", "max", "majority"})
"""Reductions that leave a single epoch what it is."""


@dataclass(frozen=True, slots=True)
class ColumnPassRate:
    """A column's pass rate, with its interval."""

    rate: float | None
    """Of the cases that can be rated; None: nothing to say."""
    n: int
    """Trials that count: passed, failed, and errored ones where they count as failed."""
    interval: tuple[float, float] | None
    """95%; None while trials are open or still to be staged, or where nothing can be said."""
    open: bool
    """Whether it may still change by itself."""
    clusters: int | None = None
    """How many the interval is over; None: it is over cases."""
    stderr: float | None = None
    """Of the mean score over cases, and over clusters; None: unknown, or there are no clusters."""
    stderr_clustered: float | None = None


def pass_rates(
    db: sqlite3.Connection, run_id: int, one_each: bool | None = None
) -> dict[int, ColumnPassRate]:
    """Return what each column of a run comes to, by the column's index; all that the run has.

    The same as `reports.rates` says of it. A run of a version that had rules this one does not know
    has no rates: they are not ours to guess.

    Args:
        db: The connection.
        run_id: The run.
        one_each: What `a_case_is_a_trial` says; None: not known, which takes a look at all cases.

    Raises:
        UnknownRunError: there is no such run.
    """
    rules = suite_queries.run_table(db, run_id)
    staged = run_queries.run(db, run_id).staged
    _, by_column = board(db, run_id)
    if a_case_is_a_trial(db, run_id) if one_each is None else one_each:
        fails = rules.get("errors") == "fail"
        counted = {column: _counted(of, fails, staged) for column, of in by_column.items()}
        # only an interval needs to know which cases belong together
        if suite_queries.cluster_column(db, run_id) is None or any(
            of.open for of in counted.values()
        ):
            return counted
    return _reduced(db, run_id, rules, staged)


def rests_on_judges(db: sqlite3.Connection, run_id: int) -> bool:
    """Say whether any verdict of a run rests on what a judge said of something required."""
    return has_judges(db, run_id) and figures_of(db, run_id, _JUDGED)


_JUDGED: Final[KeptFigures[bool, bool]] = KeptFigures("judged", chunk_queries.judged, any)


def a_case_is_a_trial(db: sqlite3.Connection, run_id: int) -> bool:
    """Say whether each case of a run is asked once and weighs the same; of a staged run, for good.

    Raises:
        UnknownRunError: there is no such run.
    """
    rules = suite_queries.run_table(db, run_id)
    return (
        _OF_ONE.issuperset(reducer_names(rules))
        and rules.get("errors", "leave_out") in ("leave_out", "fail")
        and trial_queries.epochs(db, run_id) <= 1
        and not trial_queries.weighted(db, run_id)
    )


def reducer_names(rules: JsonObject) -> list[str]:
    """Return the reducers of a run's `[run]` table as they stand there; the first decides."""
    named = rules.get("reduce", "mean")
    return [str(one) for one in (named if isinstance(named, list) else [named])]


def _counted(of: Counts, errors_fail: bool, staged: bool) -> ColumnPassRate:
    n = of.graded + (of.error if errors_fail else 0)
    rate = of.passed / n if n else None
    settled = staged and of.settled == of.total
    interval = wilson(rate, n) if rate is not None and settled else None
    return ColumnPassRate(rate, n, interval, not settled)


def _reduced(
    db: sqlite3.Connection, run_id: int, rules: JsonObject, staged: bool
) -> dict[int, ColumnPassRate]:
    try:
        known = FrozenRules.of_table(rules)
    except ValueError:
        return {}
    return {
        column: ColumnPassRate(
            of.pass_rate,
            of.n,
            of.interval,
            of.open > 0 or not staged,
            of.clusters,
            of.stderr if of.clusters else None,
            of.stderr_clustered,
        )
        for column, of in rates(db, run_id, known).columns.items()
    }
