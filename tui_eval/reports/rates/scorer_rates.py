"""What each scorer says of a run: over cases, each weighing as it does in its target's rate."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from tui_eval.model.states import Verdict
from tui_eval.reports.rates.pass_rates import a_case_is_a_trial
from tui_eval.statistics.estimates import reduce_passes, reduce_values
from tui_eval.store.read import report_queries
from tui_eval.store.read.report_queries import CaseScoreRow, ScorerRow
from tui_eval.suites.spec.run import Reduce, RunSettings


@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Values of cases, added up with the cases' weights."""

    weight: float = 0.0
    total: float = 0.0

    def plus(self, value: float, weight: float) -> "WeightedSum":
        """Return it with one more case."""
        return WeightedSum(self.weight + weight, self.total + weight * value)

    def merged(self, other: "WeightedSum") -> "WeightedSum":
        """Return both together."""
        return WeightedSum(self.weight + other.weight, self.total + other.total)

    @property
    def mean(self) -> float | None:
        """The weighted mean; None where there is nothing."""
        return self.total / self.weight if self.weight else None


@dataclass(frozen=True, slots=True)
class ScorerTally:
    """What the current scores of one scorer come to, over trials that are done."""

    passed: int = 0
    """Scores, as `failed` and `ungraded`."""
    failed: int = 0
    ungraded: int = 0
    required: bool = True
    """False: reported beside the verdicts, never part of them."""
    passes: WeightedSum = WeightedSum()
    """What the graded epochs of each case come to."""
    values: WeightedSum = WeightedSum()
    reduced: Mapping[str, WeightedSum] = field(default_factory=dict)
    """What the graded epochs of each case come to by the further reducers, by name."""

    @property
    def n(self) -> int:
        """Scores that passed or failed."""
        return self.passed + self.failed

    @property
    def pass_rate(self) -> float | None:
        """Of the cases, reduced and weighed as in the target's; None where nothing is graded."""
        return self.passes.mean

    @property
    def mean(self) -> float | None:
        """The mean value over the cases, likewise; None where nothing is graded."""
        return self.values.mean


def add(tallies: Sequence[ScorerTally]) -> ScorerTally:
    """Return the scores of several columns together."""
    passes = values = WeightedSum()
    reduced: dict[str, WeightedSum] = {}
    for tally in tallies:
        passes, values = passes.merged(tally.passes), values.merged(tally.values)
        for name, one in tally.reduced.items():
            reduced[name] = reduced.get(name, WeightedSum()).merged(one)
    return ScorerTally(
        passed=sum(tally.passed for tally in tallies),
        failed=sum(tally.failed for tally in tallies),
        ungraded=sum(tally.ungraded for tally in tallies),
        required=any(tally.required for tally in tallies),
        passes=passes,
        values=values,
        reduced=reduced,
    )


def scorer_tallies(
    db: sqlite3.Connection, run_id: int, rules: RunSettings
) -> dict[int, dict[str, ScorerTally]]:
    """Return what each scorer says of each column, by the column's index and the scorer's name.

    Scorers stand in the order they first graded. Only where a case is more than one trial, or
    weighs more than another, are all scores looked at.

    Raises:
        UnknownRunError: there is no such run.
    """
    if a_case_is_a_trial(db, run_id) and len(rules.reductions) == 1:
        return _counted(report_queries.scorers(db, run_id))
    return _reduced(report_queries.case_scores(db, run_id), rules.reductions)


def _counted(rows: Sequence[ScorerRow]) -> dict[int, dict[str, ScorerTally]]:
    of: dict[tuple[int, str], list[ScorerRow]] = {}
    for row in rows:
        of.setdefault((row.col, row.scorer), []).append(row)
    found: dict[int, dict[str, ScorerTally]] = {}
    for (col, scorer), alike in of.items():
        n = Counter({row.verdict: row.n for row in alike})
        passed, failed = n[Verdict.PASS], n[Verdict.FAIL]
        found.setdefault(col, {})[scorer] = ScorerTally(
            passed,
            failed,
            n[Verdict.UNGRADED],
            any(row.required for row in alike),
            WeightedSum(passed + failed, passed),
            WeightedSum(passed + failed, sum(row.value for row in alike)),
        )
    return found


@dataclass(slots=True)
class _Collector:
    """Adds up what a scorer says of a column; its size does not grow with the cases."""

    how: Sequence[Reduce]
    """The reducers; the first decides."""
    n: Counter[Verdict] = field(default_factory=Counter)
    required: bool = False
    passes: WeightedSum = WeightedSum()
    values: WeightedSum = WeightedSum()
    reduced: dict[str, WeightedSum] = field(default_factory=dict)
    first: int = 0
    """The score it gave first."""

    def add(self, epochs: Sequence[CaseScoreRow]) -> None:
        """Take the scores of one case's epochs."""
        n = Counter(score.verdict for score in epochs)
        self.n += n
        self.required = self.required or any(score.required for score in epochs)
        self.first = min(self.first or epochs[0].id, *(score.id for score in epochs))
        weight = epochs[0].weight
        first, *further = self.how
        graded = n[Verdict.PASS] + n[Verdict.FAIL]
        passed = reduce_passes(n[Verdict.PASS], graded, first)
        if passed is not None:
            self.passes = self.passes.plus(passed, weight)
        for one in further:
            before = self.reduced.get(one.name, WeightedSum())
            passed = reduce_passes(n[Verdict.PASS], graded, one)
            self.reduced[one.name] = before if passed is None else before.plus(passed, weight)
        value = reduce_values([score.value for score in epochs if score.value is not None], first)
        if value is not None:
            self.values = self.values.plus(value, weight)

    def tally(self) -> ScorerTally:
        """Return what it comes to."""
        return ScorerTally(
            self.n[Verdict.PASS],
            self.n[Verdict.FAIL],
            self.n[Verdict.UNGRADED],
            self.required,
            self.passes,
            self.values,
            self.reduced,
        )


def _reduced(
    rows: Iterator[CaseScoreRow], how: Sequence[Reduce]
) -> dict[int, dict[str, ScorerTally]]:
    of: dict[tuple[int, str], _Collector] = {}
    for (_, col), of_case in groupby(rows, attrgetter("seq", "col")):
        by_scorer: dict[str, list[CaseScoreRow]] = {}
        for row in of_case:
            by_scorer.setdefault(row.scorer, []).append(row)
        for scorer, epochs in by_scorer.items():
            of.setdefault((col, scorer), _Collector(how)).add(epochs)
    found: dict[int, dict[str, ScorerTally]] = {}
    for (col, scorer), collected in sorted(of.items(), key=lambda one: one[1].first):
        found.setdefault(col, {})[scorer] = collected.tally()
    return found
