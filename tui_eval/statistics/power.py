"""How many cases tell a difference, and what the cases there are can tell."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Final

from tui_eval.statistics.distributions import normal_quantile
from tui_eval.statistics.intervals import Z95

ASSUMED_DIFFERING: Final = 0.2
"""The share of cases taken to differ between two columns, where no two have been compared."""
EFFECT: Final = 0.03
"""The difference of rates that is to be seen, where nobody names another."""
POWER: Final = 0.8
"""How often it is to be seen, likewise."""


def cases_needed(effect: float, differing: float, power: float = POWER) -> int:
    """Return how many cases show a difference of rates.

    (1.96√ψ + z√(ψ − δ²))²/δ² (Connor 1987, "Sample size for testing differences in proportions for
    the paired-sample design", Biometrics 43), two-sided at 5%; the exact test wants about 5% more.

    Args:
        effect: δ, the difference of the rates, in 0..1 without 0.
        differing: ψ, the share of cases whose verdicts differ; at least δ is taken.
        power: How often the difference is to be seen.
    """
    share = max(differing, effect)
    root = Z95 * sqrt(share) + normal_quantile(power) * sqrt(share - effect * effect)
    return ceil(root * root / (effect * effect))


def smallest_effect(n: int, differing: float, power: float = POWER) -> float | None:
    """Return the smallest difference that n cases show, by the formula of `cases_needed`.

    None: so few cases show none at all.
    """
    if n < 1 or cases_needed(1.0, differing, power) > n:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle and cases_needed(middle, differing, power) <= n:
            high = middle
        else:
            low = middle
    return high


def cases_like_these(n: int, mde: float, effect: float) -> int:
    """Return how many cases show a difference, were they to vary as those there are.

    n·(MDE/δ)²: a standard error falls with the root of the number of cases.

    Args:
        n: The cases there are.
        mde: The smallest difference that they show.
        effect: δ, the difference that is to be seen, above 0.
    """
    return ceil(n * (mde / effect) ** 2)


def cases_without_flips(n: int, half: float, effect: float) -> int:
    """Return how many cases rule a difference out, should none of them differ, as none does now.

    n·h/(1 − h)·(1 − δ)/δ: where nothing differs, Wilson's bounds, and with them Newcombe's, are
    z²/(n + z²) away, which falls with n and not with its root.

    Args:
        n: The cases there are.
        half: h, half of the width of the 95% interval of their difference, below 1.
        effect: δ, the difference that is to be ruled out, above 0.
    """
    return ceil(n * half / (1 - half) * (1 - effect) / effect)


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """What the results of a column vary by."""

    between: float
    """Variance of the cases' own rates: how unlike the cases are."""
    within: float
    """Variance of one epoch around its case's rate: how much the target varies by itself."""
    n: int
    """Cases that they are over."""

    def stderr(self, epochs: int) -> float:
        """Return the standard error of the rate with so many epochs: √((between + within/K)/n).

        Miller 2024, "Adding Error Bars to Evals", sec. 3.1.
        """
        return sqrt((self.between + self.within / epochs) / self.n)


def variance_parts(cases: Iterable[tuple[int, int]]) -> VarianceParts | None:
    """Split the variance of verdicts; None: no two cases have two graded epochs each.

    Analysis of variance for one random factor with unequal numbers (Searle, Casella & McCulloch
    1992, "Variance Components", sec. 3.6).

    Args:
        cases: Of each case how many epochs passed, and how many were graded.
    """
    seen = [(passed, n) for passed, n in cases if n > 1]
    if len(seen) < 2:
        return None
    total = sum(n for _, n in seen)
    mean = sum(passed for passed, _ in seen) / total
    inside = sum(passed * (n - passed) / n for passed, n in seen)
    within = inside / (total - len(seen))
    among = sum(n * (passed / n - mean) ** 2 for passed, n in seen) / (len(seen) - 1)
    usual = (total - sum(n * n for _, n in seen) / total) / (len(seen) - 1)
    return VarianceParts(max((among - within) / usual, 0.0), within, len(seen))


def mean_parts(columns: Sequence[VarianceParts]) -> VarianceParts | None:
    """Return the parts of a usual column: the mean of those of each; None: there is none.

    Each column's cases vary around its own rate. Put together before they are split, the difference
    of the columns would be counted as one of the cases.
    """
    if not columns:
        return None
    return VarianceParts(
        sum(one.between for one in columns) / len(columns),
        sum(one.within for one in columns) / len(columns),
        min(one.n for one in columns),
    )
