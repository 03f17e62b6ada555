"""Confidence intervals of proportions."""

from collections.abc import Sequence
from math import sqrt
from typing import Final, TypeAlias

Z95: Final = 1.959963984540054
"""The standard normal quantile of 0.975."""

Interval: TypeAlias = tuple[float, float]


def wilson(p: float, n: float, z: float = Z95) -> Interval:
    """Return the score interval of a proportion.

    Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22;
    without continuity correction.

    Args:
        p: The proportion seen, 0..1.
        n: How many independent cases it is over, above 0; a fraction for weighted cases.
        z: How many standard errors it reaches; 1.96 for 95%.
    """
    centre = p + z * z / (2 * n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low, high = (centre - half) / scale, (centre + half) / scale
    # at the ends the exact bound is 0 or 1, which rounding may miss
    return (0.0 if p == 0 else max(low, 0.0), 1.0 if p == 1 else min(high, 1.0))


def mean_interval(rates: Sequence[float], intervals: Sequence[Interval]) -> Interval:
    """Return the 95% interval of the unweighted mean of rates that are independent of each other.

    From the interval of each, so that it keeps their asymmetry: the distances of the rates from
    their bounds, as a root of squares (Zou & Donner 2008, "Construction of confidence limits about
    effect measures: a general approach", Statistics in Medicine 27, eq. 3, for a sum of any
    number). The rates are all there is: it says nothing of others that might have been chosen.

    Args:
        rates: The rates, at least one.
        intervals: The 95% interval of each.
    """
    n = len(rates)
    mean = sum(rates) / n
    pairs = list(zip(rates, intervals, strict=True))
    below = sqrt(sum((rate - low) ** 2 for rate, (low, _) in pairs)) / n
    above = sqrt(sum((high - rate) ** 2 for rate, (_, high) in pairs)) / n
    return max(mean - below, 0.0), min(mean + above, 1.0)
