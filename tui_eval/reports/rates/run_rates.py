"""Pass rates of a run: for each column and each tag, over cases, with what was left out."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from tui_eval.model.reduction import CaseRules
from tui_eval.reports.rates.counted_rates import new_sums, sums_of_run
from tui_eval.reports.rates.rate_sums import RateSums, ReducedSums
from tui_eval.statistics.intervals import Interval
from tui_eval.store.read import run_queries, suite_queries

SMALL_GROUP = 20
"""Cases below which a group is shown with counts instead of rates."""


@dataclass(frozen=True, slots=True)
class ReducedRates:
    """What one way to reduce epochs makes of a column, or of a tag within one."""

    rated: int
    """Cases the pass rate and its interval are over."""
    cases_left_out: int
    """Settled cases with too few graded epochs for a result: they are not in the pass rate."""
    pass_rate: float | None
    """None: nothing to say."""
    interval: Interval | None
    """95%; None while trials are open or still to be staged, or where nothing can be said."""
    mean_score: float | None
    stderr: float | None
    """Of the mean score, over cases; None below two cases."""
    stderr_clustered: float | None
    """The same over clusters; None: there are none, or fewer than two."""
    clusters: int | None
    """How many the pass rate's interval is over; None: it is over cases."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of a column, or of a tag within one."""

    cases: int
    trials: int
    n: int
    """Trials that count: passed, failed, and errored ones where they count as failed."""
    passed: int
    failed: int
    ungraded: int
    error: int
    cancelled: int
    open: int
    """Trials to which something will still happen."""
    left_out: int
    """Settled trials that are not in `n`."""
    unjudged: int
    """Trials that passed because nothing was required of their outputs: they have no score."""
    rated: int
    """Cases the pass rate and its interval are over."""
    cases_left_out: int
    """Settled cases with too few graded epochs for a result: they are not in the pass rate."""
    pass_rate: float | None
    """None: nothing to say."""
    interval: Interval | None
    """95%; None while trials are open or still to be staged, or where nothing can be said."""
    bounds: Interval | None
    """The pass rate if all that was left out had failed, and had passed; None up to 1%.

    A case that is not in the pass rate counts as 0, and as 1: the rate lies within.
    """
    mean_score: float | None
    stderr: float | None
    """Of the mean score, over cases; None below two cases."""
    stderr_clustered: float | None
    """The same over clusters; None: there are none, or fewer than two."""
    clusters: int | None
    """How many the pass rate's interval is over; None: it is over cases."""
    reduced: Mapping[str, ReducedRates]
    """What the further reducers of `[run] reduce` say, by name; they decide nothing."""

    @property
    def small(self) -> bool:
        """Whether there are too few cases to speak in rates."""
        return self.cases < SMALL_GROUP


@dataclass(frozen=True, slots=True)
class RunRates:
    """The rates of a run, never pooled over columns."""

    columns: dict[int, Rates]
    """By the column's index: all that the run has, also those without trials."""
    tags: dict[str, dict[int, Rates]]
    """For each tag, in the order they turn up, by the column's index."""


def rates(db: sqlite3.Connection, run_id: int, rules: CaseRules) -> RunRates:
    """Return a run's rates; of a large run, those of its chunks put together.

    Until all of them are staged a rate has no interval.

    Raises:
        UnknownRunError: there is no such run.
    """
    staged = run_queries.run(db, run_id).staged
    found = sums_of_run(db, run_id, rules)
    nothing = new_sums(rules, suite_queries.cluster_column(db, run_id))
    columns = {column.index for column in run_queries.columns(db, run_id)} | found.columns.keys()
    return RunRates(
        {col: _rates(found.columns.get(col, nothing), staged) for col in sorted(columns)},
        {
            tag: {col: _rates(of_tag[col], staged) for col in sorted(of_tag)}
            for tag, of_tag in found.tags.items()
        },
    )


def _rates(of: RateSums, staged: bool) -> Rates:
    """Return what all cases so far come to; `staged`: there are no others."""
    fates, n = of.fates, of.n
    settled = fates.total() - fates["open"]
    closed = staged and not fates["open"]
    decides, *further = of.reduced
    first = _reduced(decides, closed)
    return Rates(
        cases=of.cases,
        trials=fates.total(),
        n=n,
        passed=fates["passed"],
        failed=fates["failed"],
        ungraded=fates["ungraded"],
        error=fates["error"],
        cancelled=fates["cancelled"],
        open=fates["open"],
        left_out=settled - n,
        unjudged=of.unjudged,
        rated=first.rated,
        cases_left_out=first.cases_left_out,
        pass_rate=first.pass_rate,
        interval=first.interval,
        bounds=decides.bounds((settled - n) / settled if settled else 0.0),
        mean_score=first.mean_score,
        stderr=first.stderr,
        stderr_clustered=first.stderr_clustered,
        clusters=first.clusters,
        reduced={one.how.name: _reduced(one, closed) for one in further},
    )


def _reduced(of: ReducedSums, closed: bool) -> ReducedRates:
    """Return what all cases so far come to; `closed`: nothing will change any more."""
    return ReducedRates(
        rated=of.passes.n,
        cases_left_out=of.cases_left_out,
        pass_rate=of.passes.mean,
        interval=of.passes.interval95 if closed else None,
        mean_score=of.scores.mean,
        stderr=of.scores.stderr,
        stderr_clustered=of.scores.stderr_clustered,
        clusters=of.passes.clusters,
    )
