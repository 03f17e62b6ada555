"""What cases come to in one column, or in one with a tag, kept as sums: their size does not grow.

Sums of some cases and of others make those of all.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tui_eval.model.json import Json
from tui_eval.model.reduction import Reduce
from tui_eval.reports.rates.case_results import case_score, case_verdict
from tui_eval.statistics.estimates import Sample
from tui_eval.statistics.intervals import Interval

LEFT_OUT_SHOWN = 0.01
"""Share of trials or cases left out above which the range says what they could have changed."""


@dataclass(frozen=True, slots=True)
class AskedCases:
    """Cases that are alike, and what became of their epochs."""

    fates: tuple[str, ...]
    """Of each epoch, see `case_results.fate`."""
    weight: float
    cluster: str | None
    """Which others they are not independent of; None: of none, or nobody asked."""


@dataclass(slots=True)
class ReducedSums:
    """Cases by one way to reduce their epochs."""

    how: Reduce
    passes: Sample
    scores: Sample
    cases_left_out: int = 0
    """Settled cases with too few graded epochs for a result."""
    _worst: Sample = field(default_factory=Sample)
    _best: Sample = field(default_factory=Sample)

    def add(self, errors: Literal["leave_out", "fail"], cases: AskedCases, times: int) -> None:
        """Take what cases come to."""
        verdict, weight = case_verdict(cases.fates, errors, self.how), cases.weight
        if verdict.value is not None:
            self.passes.add(verdict.value, weight, cases.cluster, times)
            self._worst.add(verdict.least, weight, times=times)
            self._best.add(verdict.most, weight, times=times)
        elif not verdict.fates["open"]:
            self.cases_left_out += times
            self._worst.add(0.0, weight, times=times)
            self._best.add(1.0, weight, times=times)

    def add_scores(
        self,
        errors: Literal["leave_out", "fail"],
        cases: AskedCases,
        scores: Sequence[float],
        times: int,
    ) -> None:
        """Take the scores of cases."""
        verdict = case_verdict(cases.fates, errors, self.how)
        score = case_score(scores, verdict, self.how)
        if score is not None:
            self.scores.add(score, cases.weight, cases.cluster, times)

    def bounds(self, trials_left_out: float) -> Interval | None:
        """Return the bounds of the pass rate where a share above `LEFT_OUT_SHOWN` is left out."""
        said = self.passes.n + self.cases_left_out
        left_out = max(trials_left_out, self.cases_left_out / said if said else 0.0)
        worst, rate, best = self._worst.mean, self.passes.mean, self._best.mean
        if left_out <= LEFT_OUT_SHOWN or worst is None or best is None:
            return None
        # sums in another order may differ from the rate's in the last digit
        return (worst, best) if rate is None else (min(worst, rate), max(best, rate))

    def sums(self) -> list[Json]:
        """Return all that it knows, as `add_sums` takes it."""
        samples = (self.passes, self.scores, self._worst, self._best)
        return [self.cases_left_out, *(sample.sums() for sample in samples)]

    def add_sums(self, sums: Sequence[Any]) -> None:
        """Take all that others of this kind have taken."""
        left_out, *of_samples = sums
        self.cases_left_out += left_out
        samples = (self.passes, self.scores, self._worst, self._best)
        for sample, of_sample in zip(samples, of_samples, strict=True):
            sample.add_sums(of_sample)


@dataclass(slots=True)
class RateSums:
    """Cases by all the ways that a run's rules name."""

    errors: Literal["leave_out", "fail"]
    reduced: Sequence[ReducedSums]
    """By the reducers; the first decides."""
    cases: int = 0
    n: int = 0
    """Trials that count: passed, failed, and errored ones where they count as failed."""
    fates: Counter[str] = field(default_factory=Counter)
    """Trials by what became of them."""
    unjudged: int = 0
    """Trials that passed or failed and have no score."""

    def add(self, cases: AskedCases, times: int) -> None:
        """Take so many cases; their scores are another thing."""
        first = case_verdict(cases.fates, self.errors, self.reduced[0].how)
        self.cases += times
        self.n += times * first.n
        for fate, n in first.fates.items():
            self.fates[fate] += times * n
        self.unjudged += times * (first.fates["passed"] + first.fates["failed"])
        for one in self.reduced:
            one.add(self.errors, cases, times)

    def add_scores(self, cases: AskedCases, scores: Sequence[float], times: int) -> None:
        """Take the scores of cases whose trials were taken: of those that passed or failed."""
        self.unjudged -= times * len(scores)
        for one in self.reduced:
            one.add_scores(self.errors, cases, scores, times)

    def sums(self) -> list[Json]:
        """Return all that it knows, as `add_sums` takes it."""
        fates: Json = dict(self.fates)
        reduced: Json = [one.sums() for one in self.reduced]
        return [self.cases, self.n, fates, self.unjudged, reduced]

    def add_sums(self, sums: Sequence[Any]) -> None:
        """Take all that others of this kind have taken."""
        cases, n, fates, unjudged, reduced = sums
        self.cases += cases
        self.n += n
        for fate, number in fates.items():
            self.fates[fate] += number
        self.unjudged += unjudged
        for one, of_one in zip(self.reduced, reduced, strict=True):
            one.add_sums(of_one)
