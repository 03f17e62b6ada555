"""Pass rates of a run: for each column and each tag, over cases, with what was left out."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import attrgetter

from tui_eval.reports.rates.case_results import (
    CaseVerdict,
    case_score,
    case_verdict,
    fate,
    graded_scores,
)
from tui_eval.statistics.estimates import ClusteredSample, Sample
from tui_eval.statistics.intervals import Interval
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.report_queries import CaseRow, GradeRow
from tui_eval.suites.spec.run import Reduce, RunSettings

SMALL_GROUP = 20
"""Cases below which a group is shown with counts instead of rates."""
LEFT_OUT_SHOWN = 0.01
"""Share of trials or cases left out above which the range says what they could have changed."""


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


def rates(db: sqlite3.Connection, run_id: int, rules: RunSettings) -> RunRates:
    """Return a run's rates, from one pass over its trials.

    Until all of them are staged a rate has no interval.

    Raises:
        UnknownRunError: there is no such run.
    """
    staged = run_queries.run(db, run_id).staged
    clusters = run_queries.cluster_column(db, run_id)
    collector = partial(_Collector, rules, Sample if clusters is None else ClusteredSample)
    columns = {column.index: collector() for column in run_queries.columns(db, run_id)}
    tags: dict[str, dict[int, _Collector]] = {}
    for case, trials in _by_case(db, run_id, clusters):
        for col, of_column in groupby(trials, attrgetter("col")):
            asked = list(of_column)
            columns.setdefault(col, collector()).add(asked, case)
            for tag in case.tags:
                of_tag = tags.setdefault(tag, {})
                of_tag.setdefault(col, collector()).add(asked, case)
    return RunRates(
        {col: columns[col].rates(staged) for col in sorted(columns)},
        {
            tag: {col: of_tag[col].rates(staged) for col in sorted(of_tag)}
            for tag, of_tag in tags.items()
        },
    )


def _by_case(
    db: sqlite3.Connection, run_id: int, clusters: str | None
) -> Iterator[tuple[CaseRow, Iterator[GradeRow]]]:
    trials = groupby(report_queries.grades(db, run_id), attrgetter("seq"))
    cases = report_queries.cases(db, run_id, clusters)
    for seq, of_case in trials:
        case = next(case for case in cases if case.seq == seq)  # both ascend: never looks back
        yield case, of_case


@dataclass(slots=True)
class _Collector:
    """Adds cases up; its size does not grow with them, but with their clusters."""

    rules: RunSettings
    sample: type[Sample]
    _first: "_Reducer" = field(init=False)
    """The one that decides."""
    _further: list["_Reducer"] = field(init=False)
    _cases: int = 0
    _n: int = 0
    _fates: Counter[str] = field(default_factory=Counter)
    _unjudged: int = 0

    def __post_init__(self) -> None:
        reducers = [_Reducer(how, self.sample(), self.sample()) for how in self.rules.reductions]
        self._first, *self._further = reducers

    def add(self, trials: Sequence[GradeRow], of: CaseRow) -> None:
        """Take the epochs of one case."""
        fates = tuple(map(fate, trials))
        scores = graded_scores(trials, fates)
        self._cases += 1
        for one in (self._first, *self._further):
            case = case_verdict(fates, self.rules.errors, one.how)
            one.add(case, case_score(scores, case, one.how), of)
        self._fates.update(case.fates)
        self._n += case.n
        self._unjudged += case.fates["passed"] + case.fates["failed"] - len(scores)

    def rates(self, staged: bool) -> Rates:
        """Return what all cases so far come to; `staged`: there are no others."""
        fates = self._fates
        n = self._n
        settled = fates.total() - fates["open"]
        closed = staged and not fates["open"]
        first = self._first.rates(closed)
        return Rates(
            cases=self._cases,
            trials=fates.total(),
            n=n,
            passed=fates["passed"],
            failed=fates["failed"],
            ungraded=fates["ungraded"],
            error=fates["error"],
            cancelled=fates["cancelled"],
            open=fates["open"],
            left_out=settled - n,
            unjudged=self._unjudged,
            rated=first.rated,
            cases_left_out=first.cases_left_out,
            pass_rate=first.pass_rate,
            interval=first.interval,
            bounds=self._first.bounds((settled - n) / settled if settled else 0.0),
            mean_score=first.mean_score,
            stderr=first.stderr,
            stderr_clustered=first.stderr_clustered,
            clusters=first.clusters,
            reduced={one.how.name: one.rates(closed) for one in self._further},
        )


@dataclass(slots=True)
class _Reducer:
    """Adds up what cases come to by one way to reduce their epochs."""

    how: Reduce
    _passes: Sample
    _scores: Sample
    _cases_left_out: int = 0
    _worst: Sample = field(default_factory=Sample)
    _best: Sample = field(default_factory=Sample)

    def add(self, case: CaseVerdict, score: float | None, of: CaseRow) -> None:
        """Take the result of one case."""
        weight = of.weight
        if case.value is not None:
            self._passes.add(case.value, weight, of.cluster)
            self._worst.add(case.least, weight)
            self._best.add(case.most, weight)
        elif not case.fates["open"]:
            self._cases_left_out += 1
            self._worst.add(0.0, weight)
            self._best.add(1.0, weight)
        if score is not None:
            self._scores.add(score, weight, of.cluster)

    def bounds(self, trials_left_out: float) -> Interval | None:
        """Return the bounds of the pass rate where a share above `LEFT_OUT_SHOWN` is left out."""
        said = self._passes.n + self._cases_left_out
        left_out = max(trials_left_out, self._cases_left_out / said if said else 0.0)
        worst, rate, best = self._worst.mean, self._passes.mean, self._best.mean
        if left_out <= LEFT_OUT_SHOWN or worst is None or best is None:
            return None
        # sums in another order may differ from the rate's in the last digit
        return (worst, best) if rate is None else (min(worst, rate), max(best, rate))

    def rates(self, closed: bool) -> ReducedRates:
        """Return what all cases so far come to; `closed`: nothing will change any more."""
        return ReducedRates(
            rated=self._passes.n,
            cases_left_out=self._cases_left_out,
            pass_rate=self._passes.mean,
            interval=self._passes.interval95 if closed else None,
            mean_score=self._scores.mean,
            stderr=self._scores.stderr,
            stderr_clustered=self._scores.stderr_clustered,
            clusters=self._passes.clusters,
        )
