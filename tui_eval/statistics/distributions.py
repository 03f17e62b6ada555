"""Tails and quantiles of the distributions that tests are made of."""

from functools import lru_cache
from math import exp, fabs, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import Final

_SMALLEST: Final = 1e-300
_MOST_STEPS: Final = 10_000
_NORMAL: Final = NormalDist()


def normal_quantile(p: float) -> float:
    """Return the standard normal quantile of p, in 0..1 without its ends."""
    return _NORMAL.inv_cdf(p)


def two_sided_t(t: float, df: float) -> float:
    """Return how often Student's t with df degrees of freedom is as far from 0 as t, or farther.

    I(df/(df + t²); df/2, 1/2), the regularised incomplete beta function (Abramowitz & Stegun 1964,
    26.7.1 and 26.5.27).

    Args:
        t: A number; infinite: 0 is returned.
        df: Above 0.
    """
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


@lru_cache(maxsize=256)
def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t.

    Args:
        p: In 0.5..1, without 1.
        df: Degrees of freedom, above 0.
    """
    outside = 2 * (1 - p)
    low, high = 0.0, 1.0
    while two_sided_t(high, df) > outside:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if two_sided_t(middle, df) > outside:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def sign_test(fewer: int, n: int) -> float:
    """Return how often a fair coin falls as unevenly, or more so: the exact two-sided p.

    min(1, 2·P(X ≤ fewer)) with X binomial of n and 1/2 (Dixon & Mood 1946, "The statistical sign
    test", JASA 41).

    Args:
        fewer: How often the rarer side fell.
        n: How often it was thrown; 0: 1 is returned.
    """
    if 2 * fewer >= n:
        return 1.0
    term = total = 1.0  # relative to P(X = fewer), from there downwards
    for k in range(fewer, 0, -1):
        term *= k / (n - k + 1)
        total += term
        if term < total * 1e-17:
            break
    most = lgamma(n + 1) - lgamma(fewer + 1) - lgamma(n - fewer + 1) - n * log(2)
    return min(1.0, 2 * exp(most + log(total)))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Return I(x; a, b) by its continued fraction (DLMF 8.17.22), on the side where it is short."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return 1/(1+ d₁/(1+ d₂/(1+ …))) by Lentz's method (Thompson & Barnett 1986)."""
    c, d = 1.0, _away_from_0(1 - (a + b) * x / (a + 1))
    found = d = 1 / d
    for m in range(1, _MOST_STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for part in (even, odd):
            d = 1 / _away_from_0(1 + part * d)
            c = _away_from_0(1 + part / c)
            found *= c * d
        if fabs(c * d - 1) < 1e-15:
            break
    return found


def _away_from_0(value: float) -> float:
    return value if fabs(value) > _SMALLEST else _SMALLEST


def joined(a: float, b: float, r: float = 0.0) -> float:
    """Return √(a² + b² + 2·r·a·b): the error of a sum of two estimates correlated by r."""
    return sqrt(max(a * a + b * b + 2 * r * a * b, 0.0))
