"""What each scorer says of a run: over cases, each weighing as it does in its target's rate."""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, Final

from tui_eval.model.json import Json
from tui_eval.model.reduction import CaseRules, Reduce
from tui_eval.model.states import Verdict
from tui_eval.reports.rates.pass_rates import a_case_is_a_trial
from tui_eval.statistics.estimates import reduce_passes, reduce_values
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of
from tui_eval.store.read.figures import chunk_queries
from tui_eval.store.read.figures.chunk_queries import CaseScoreRow, ScorerRow


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
    db: sqlite3.Connection, run_id: int, rules: CaseRules
) -> dict[int, dict[str, ScorerTally]]:
    """Return what each scorer says of each column, by the column's index and the scorer's name.

    Scorers stand in the order they first graded. Only where a case is more than one trial, or
    weighs more than another, are all scores looked at.

    Raises:
        UnknownRunError: there is no such run.
    """
    if a_case_is_a_trial(db, run_id) and len(rules.reductions) == 1:
        return figures_of(db, run_id, _COUNTED)
    how = rules.reductions
    key = " ".join(one.name for one in how)
    figures: KeptFigures[Any, dict[int, dict[str, ScorerTally]]] = KeptFigures(
        f"scorers {key}", partial(_count_cases, how=how), partial(_merge_cases, how=how)
    )
    return figures_of(db, run_id, figures)


def _count_trials(db: sqlite3.Connection, run_id: int, cases: range) -> list[ScorerRow]:
    return chunk_queries.scorers(db, run_id, cases)


def _merge_trials(parts: Iterable[list[ScorerRow]]) -> dict[int, dict[str, ScorerTally]]:
    of: dict[tuple[int, str, Verdict], ScorerRow] = {}
    for row in chain.from_iterable(parts):
        key = (row.col, row.scorer, row.verdict)
        of[key] = of[key].plus(row) if key in of else row
    return _counted(sorted(of.values(), key=attrgetter("first")))


_COUNTED: Final[KeptFigures[list[ScorerRow], dict[int, dict[str, ScorerTally]]]] = KeptFigures(
    "scorers of trials",
    _count_trials,
    _merge_trials,
    as_json=lambda rows: [[*astuple(row)] for row in rows],
    of_json=lambda rows: [
        ScorerRow(col, scorer, Verdict(verdict), *rest) for col, scorer, verdict, *rest in rows
    ],
)


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
        n = Counter(Verdict(score.verdict) for score in epochs)
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

    def sums(self) -> list[Json]:
        """Return all that it knows, as `add_sums` takes it."""
        return [
            {str(verdict): n for verdict, n in self.n.items()},
            self.required,
            [*astuple(self.passes)],
            [*astuple(self.values)],
            {name: [*astuple(one)] for name, one in self.reduced.items()},
            self.first,
        ]

    def add_sums(self, sums: Sequence[Any]) -> None:
        """Take all that another one of this kind has taken."""
        n, required, passes, values, reduced, first = sums
        self.n.update({Verdict(verdict): number for verdict, number in n.items()})
        self.required = self.required or required
        self.passes = self.passes.merged(WeightedSum(*passes))
        self.values = self.values.merged(WeightedSum(*values))
        for name, one in reduced.items():
            self.reduced[name] = self.reduced.get(name, WeightedSum()).merged(WeightedSum(*one))
        self.first = min(self.first or first, first)

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


def _count_cases(
    db: sqlite3.Connection, run_id: int, cases: range, *, how: Sequence[Reduce]
) -> Json:
    of: dict[tuple[int, str], _Collector] = {}
    rows = chunk_queries.case_scores(db, run_id, cases)
    for (_, col), of_case in groupby(rows, attrgetter("seq", "col")):
        by_scorer: dict[str, list[CaseScoreRow]] = {}
        for row in of_case:
            by_scorer.setdefault(row.scorer, []).append(row)
        for scorer, epochs in by_scorer.items():
            of.setdefault((col, scorer), _Collector(how)).add(epochs)
    return [[col, scorer, collected.sums()] for (col, scorer), collected in of.items()]


def _merge_cases(
    parts: Iterable[Any], *, how: Sequence[Reduce]
) -> dict[int, dict[str, ScorerTally]]:
    of: dict[tuple[int, str], _Collector] = {}
    for col, scorer, sums in chain.from_iterable(parts):
        of.setdefault((col, scorer), _Collector(how)).add_sums(sums)
    found: dict[int, dict[str, ScorerTally]] = {}
    for (col, scorer), collected in sorted(of.items(), key=lambda one: one[1].first):
        found.setdefault(col, {})[scorer] = collected.tally()
    return found
