"""What people would have said, from what a judge said of all and people of some."""

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Final, NamedTuple

from tui_eval.statistics.distributions import t_quantile
from tui_eval.statistics.intervals import Z95, Interval, wilson

LEAST_UNITS: Final = 2
"""Cases, or clusters of them, below which nobody knows how far they vary."""


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A pass rate as people would have given it."""

    rate: float
    interval95: Interval


@dataclass(frozen=True, slots=True)
class GradedShare:
    """How often people passed what they were shown of one kind."""

    passed: int
    n: int
    """Above 0."""
    counts: float = 1.0
    """As how many independent ones each counts, see `independence`."""

    @property
    def rate(self) -> float:
        """The share."""
        return self.passed / self.n

    @property
    def interval95(self) -> Interval:
        """Its interval, after Wilson."""
        return wilson(self.rate, self.n * self.counts)


class GradedVerdict(NamedTuple):
    """What was said of one output."""

    judged: bool
    """Whether the judge passed it."""
    person: bool
    """Whether people did."""
    unit: Hashable
    """Equal where outputs are not independent: of one case, or of one cluster of cases."""


def independence(graded: Collection[GradedVerdict], passed: float) -> float | None:
    """Return as how many independent outputs each of those that people graded counts.

    1 over the design effect of people's rate, Σ_c(Σ u)²·C/(C − 1) over Σ u²·n/(n − 1) with
    u = w(x − y)/m: the error over units by that over outputs, of the estimate put together of both
    kinds (Kish 1965, "Survey Sampling", sec. 8.2), at least 1. Times (1.96/t)² with t of C − 1
    degrees of freedom, so that intervals of such a number are as wide as t's (Korn & Graubard 1998,
    "Confidence intervals for proportions with small expected number of positive counts estimated
    from survey data", Survey Methodology 24).

    Args:
        graded: What was graded, at least one.
        passed: w, the share of all outputs that the judge passed.

    Returns:
        1 where each output is a unit for itself; None where there are fewer than `LEAST_UNITS`.
    """
    n, units = len(graded), {one.unit for one in graded}
    if len(units) == n:
        return 1.0
    if len(units) < LEAST_UNITS:
        return None
    weight = {True: passed, False: 1 - passed}
    of_kind = {kind: [one.person for one in graded if one.judged is kind] for kind in weight}
    rate = {kind: sum(said) / len(said) for kind, said in of_kind.items() if said}
    alone, together = 0.0, dict.fromkeys(units, 0.0)
    for one in graded:
        off = weight[one.judged] * (one.person - rate[one.judged]) / len(of_kind[one.judged])
        alone += off * off
        together[one.unit] += off
    # where people said the same of all, nothing tells how far outputs of a unit are alike
    return _counts(n, len(units), alone * n / (n - 1), sum(one * one for one in together.values()))


def independence_of_verdicts(units: Iterable[tuple[int, int]]) -> float | None:
    """Return as how many independent outputs each of a judge's verdicts counts.

    See `independence`, of the one share that the judge passed.

    Args:
        units: Of each unit, how many outputs the judge passed, and of how many.

    Returns:
        None where there are fewer than `LEAST_UNITS`.
    """
    count = passed = n = squares = products = sizes = 0
    for good, size in units:
        count, passed, n = count + 1, passed + good, n + size
        squares, products, sizes = squares + good * good, products + good * size, sizes + size**2
    if count < LEAST_UNITS:
        return None
    if count == n:
        return 1.0
    rate = passed / n
    together = squares - 2 * rate * products + rate * rate * sizes
    return _counts(n, count, rate * (1 - rate) * n * n / (n - 1), together)


def _counts(n: int, units: int, alone: float, together: float) -> float:
    """Return what `independence` says.

    Args:
        n: Outputs.
        units: Units, fewer.
        alone: The variance, were the outputs independent.
        together: The sum of squares over units, without C/(C − 1).
    """
    effect = together * units / (units - 1) / alone if alone > 0 else n / units
    t = t_quantile(0.975, units - 1)
    return (Z95 / t) ** 2 / max(effect, 1.0)


def corrected_by_grades(
    passed: int, n: int, of_passed: GradedShare, of_failed: GradedShare, *, counts: float = 1.0
) -> CorrectedRate:
    """Return people's rate where some of the run's own outputs were graded by people.

    θ = w₁y₁ + w₀y₀: the shares that the judge passed and failed, times people's rate in each
    (Tenenbein 1970, "A double sampling scheme for estimating from binomial data with
    misclassifications", JASA 65). Interval: Wilson's of y₁ and y₀ put together (Zou & Donner 2008,
    "Construction of confidence limits about effect measures: a general approach", Stat. Med. 27),
    with z²w₁w₀(y₁ − y₀)²/n for the shares. Where outputs are not independent, as epochs of one case
    or cases of one cluster are not, each n is the number of independent ones that say as much.

    Args:
        passed: Outputs that the judge passed.
        n: Outputs that it passed or failed, above 0.
        of_passed: What people said of some that it passed, drawn by chance.
        of_failed: What people said of some that it failed.
        counts: As how many independent outputs each of `n` counts.
    """
    w1 = passed / n
    w0 = 1 - w1
    y1, y0 = of_passed.rate, of_failed.rate
    rate = w1 * y1 + w0 * y0
    (low1, high1), (low0, high0) = of_passed.interval95, of_failed.interval95
    shares = Z95 * Z95 * w1 * w0 * (y1 - y0) ** 2 / (n * counts)
    below = sqrt((w1 * (y1 - low1)) ** 2 + (w0 * (y0 - low0)) ** 2 + shares)
    above = sqrt((w1 * (high1 - y1)) ** 2 + (w0 * (high0 - y0)) ** 2 + shares)
    return CorrectedRate(rate, (max(rate - below, 0.0), min(rate + above, 1.0)))


def corrected_by_gold(
    rate: float, n: float, good: GradedShare, bad: GradedShare
) -> CorrectedRate | None:
    """Return people's rate where the judge was measured on gold from elsewhere.

    θ = (p + q₀ − 1)/(q₀ + q₁ − 1) (Rogan & Gladen 1978, "Estimating prevalence from the results of
    a screening test", Am. J. Epidemiol. 107); interval of Lee et al. 2025, "How to Correctly Report
    LLM-as-a-Judge Evaluations", arXiv 2511.21140: after z²/2 further successes and failures of p
    and one of each of q₀ and q₁.

    Args:
        rate: p, the share that the judge passed.
        n: Of how many, above 0; where they are not independent, how many independent ones say
            as much.
        good: How many of the gold that people pass the judge passed: q₁.
        bad: How many of the gold that people fail the judge failed: q₀.

    Returns:
        None where the judge is no better than chance, q₀ + q₁ ≤ 1: its word says nothing.
    """
    q1, q0 = good.rate, bad.rate
    if q0 + q1 <= 1:
        return None
    point = (rate + q0 - 1) / (q0 + q1 - 1)
    wide = n + Z95 * Z95
    p = (n * rate + Z95 * Z95 / 2) / wide
    m1, m0 = good.n + 2, bad.n + 2
    q1, q0 = (good.passed + 1) / m1, (bad.passed + 1) / m0
    power = q0 + q1 - 1
    if power <= 0:
        return None
    theta = (p + q0 - 1) / power
    v1, v0 = q1 * (1 - q1) / m1, q0 * (1 - q0) / m0
    moved = theta + 2 * Z95 * Z95 * (theta * v1 - (1 - theta) * v0)
    error = sqrt(p * (1 - p) / wide + (1 - theta) ** 2 * v0 + theta**2 * v1) / power
    low, high = _within(moved - Z95 * error), _within(moved + Z95 * error)
    return CorrectedRate(_within(point), (low, high))


def _within(rate: float) -> float:
    return min(max(rate, 0.0), 1.0)
