"""What people would have said, from what a judge said of all and people of some."""

from dataclasses import dataclass
from math import sqrt

from tui_eval.statistics.intervals import Z95, Interval, wilson


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

    @property
    def rate(self) -> float:
        """The share."""
        return self.passed / self.n

    @property
    def interval95(self) -> Interval:
        """Its interval, after Wilson."""
        return wilson(self.rate, self.n)


def corrected_by_grades(
    passed: int, n: int, of_passed: GradedShare, of_failed: GradedShare
) -> CorrectedRate:
    """Return people's rate where some of the run's own outputs were graded by people.

    θ = w₁y₁ + w₀y₀: the shares that the judge passed and failed, times people's rate in each
    (Tenenbein 1970, "A double sampling scheme for estimating from binomial data with
    misclassifications", JASA 65). Interval: Wilson's of y₁ and y₀ put together (Zou & Donner 2008,
    "Construction of confidence limits about effect measures: a general approach", Stat. Med. 27),
    with z²w₁w₀(y₁ − y₀)²/n for the shares.

    Args:
        passed: Outputs that the judge passed.
        n: Outputs that it passed or failed, above 0.
        of_passed: What people said of some that it passed, drawn by chance.
        of_failed: What people said of some that it failed.
    """
    w1 = passed / n
    w0 = 1 - w1
    y1, y0 = of_passed.rate, of_failed.rate
    rate = w1 * y1 + w0 * y0
    (low1, high1), (low0, high0) = of_passed.interval95, of_failed.interval95
    shares = Z95 * Z95 * w1 * w0 * (y1 - y0) ** 2 / n
    below = sqrt((w1 * (y1 - low1)) ** 2 + (w0 * (y0 - low0)) ** 2 + shares)
    above = sqrt((w1 * (high1 - y1)) ** 2 + (w0 * (high0 - y0)) ** 2 + shares)
    return CorrectedRate(rate, (max(rate - below, 0.0), min(rate + above, 1.0)))


def corrected_by_gold(
    rate: float, n: int, good: GradedShare, bad: GradedShare
) -> CorrectedRate | None:
    """Return people's rate where the judge was measured on gold from elsewhere.

    θ = (p + q₀ − 1)/(q₀ + q₁ − 1) (Rogan & Gladen 1978, "Estimating prevalence from the results of
    a screening test", Am. J. Epidemiol. 107); interval of Lee et al. 2025, "How to Correctly Report
    LLM-as-a-Judge Evaluations", arXiv 2511.21140: after z²/2 further successes and failures of p
    and one of each of q₀ and q₁.

    Args:
        rate: p, the share that the judge passed.
        n: Of how many, above 0.
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
