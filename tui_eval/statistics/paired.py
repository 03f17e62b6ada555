"""How two columns differ over the same cases: differences, their intervals and tests.

A difference is always the second minus the first, B − A.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Final, NamedTuple

from tui_eval.statistics.distributions import (
    joined,
    normal_quantile,
    sign_test,
    t_quantile,
    two_sided_t,
)
from tui_eval.statistics.intervals import Z95, Interval, wilson

Z90: Final = normal_quantile(0.95)
"""The standard normal quantile of 0.95: two of it hold 90%."""
FEW: Final = 30
"""Below so many cases, or clusters, the sign test decides and not t."""
MARGIN: Final = 0.02
"""The difference of rates within which two columns are equivalent, where nobody says another."""
_NO_ERROR: Final = 1e-12
_POWER80: Final = normal_quantile(0.8)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """What two columns differ by, B − A, over `n` pairs."""

    n: int
    diff: float
    stderr: float | None
    """None: it cannot be said, of fewer than two cases or clusters."""
    interval95: Interval | None
    interval90: Interval | None
    p: float | None
    """Two-sided; None: nothing can be said."""
    method: str
    """How interval and p were found."""
    clusters: int | None = None
    """How many; None: each case is for itself."""

    @property
    def mde(self) -> float | None:
        """The difference that would be missed one time in five: (1.96 + 0.84) standard errors.

        Where no pair differs, the standard error is taken from the interval: half of its width is
        1.96 of them.
        """
        error = self.stderr
        if (error is None or error < _NO_ERROR) and self.interval95 is not None:
            error = (self.interval95[1] - self.interval95[0]) / 2 / Z95
        return None if error is None else (Z95 + _POWER80) * error


@dataclass(frozen=True, slots=True)
class VerdictPairs:
    """How often two columns passed or failed the same cases."""

    both: int = 0
    """Cases that both pass."""
    worse: int = 0
    """Cases that A passes and B fails."""
    better: int = 0
    """Cases that A fails and B passes."""
    neither: int = 0

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self.both + self.worse + self.better + self.neither

    def difference(self) -> PairedDifference | None:
        """Return what the rates differ by; None: there are no pairs.

        Interval: method 10 of Newcombe 1998, "Improved confidence intervals for the difference
        between binomial proportions based on paired data", Stat. Med. 17. p: the exact test of
        McNemar 1947, "Note on the sampling error of the difference between correlated proportions
        or percentages", Psychometrika 12, which looks at the pairs that differ.
        """
        n = self.n
        if n == 0:
            return None
        changed, net = self.worse + self.better, self.better - self.worse
        stderr = sqrt(max(changed - net * net / n, 0.0) / (n - 1) / n) if n > 1 else None
        return PairedDifference(
            n,
            net / n,
            stderr,
            self._interval(Z95),
            self._interval(Z90),
            sign_test(min(self.worse, self.better), changed),
            "newcombe, mcnemar-exact",
        )

    def _interval(self, z: float) -> Interval:
        return _newcombe((self.both, self.worse, self.better, self.neither), z)


def _newcombe(of: tuple[float, float, float, float], z: float) -> Interval:
    """Return the interval of a difference of rates, of how many pairs are of each kind."""
    both, worse, better, _ = of
    n = sum(of)
    a, b = (both + worse) / n, (both + better) / n
    (a_low, a_high), (b_low, b_high) = wilson(a, n, z), wilson(b, n, z)
    r = -_correlation(of)
    diff = (better - worse) / n
    low = diff - joined(b - b_low, a_high - a, r)
    high = diff + joined(b_high - b, a - a_low, r)
    return max(low, -1.0), min(high, 1.0)


def _correlation(of: tuple[float, float, float, float]) -> float:
    """Return φ, nearer to 0 by half a pair where it is above 0, as method 10 has it."""
    both, worse, better, neither = of
    a, b, n = both + worse, both + better, sum(of)
    spread = a * (n - a) * b * (n - b)
    if spread <= 0:
        return 0.0
    excess: float = both * neither - worse * better
    if excess > 0:
        excess = max(excess - n / 2, 0.0)
    return excess / sqrt(spread)


class ValuePair(NamedTuple):
    """What two columns came to for one case."""

    a: float
    b: float
    weight: float = 1.0
    cluster: Hashable = None
    """Which others it is not independent of; None: of none."""


def difference_of_values(
    pairs: Iterable[ValuePair], *, clustered: bool = False
) -> PairedDifference | None:
    """Return what the weighted means differ by; None: there are no pairs, or none that weighs.

    The standard error is √(Σ w²(d − m)²·n/(n − 1))/Σw, with n − 1 degrees of freedom (with equal
    weights the paired t test); with clusters √(C/(C − 1)·Σ_c(Σ w(d − m))²)/Σw with C − 1 (Miller
    2024, "Adding Error Bars to Evals", sec. 2.2 and 4). Of fewer than `FEW` cases or clusters p is
    the exact sign test's, over those that differ.

    Where all cases or clusters differ by the same, as where none differs, that error is 0 and says
    nothing: the interval is Newcombe's then, as of as many pairs of verdicts with these means, and
    p is the sign test's.

    Args:
        pairs: The cases.
        clustered: Whether their clusters are looked at.
    """
    kept = [pair for pair in pairs if pair.weight > 0]
    weight = sum(pair.weight for pair in kept)
    if not kept:
        return None
    diff = sum(pair.weight * (pair.b - pair.a) for pair in kept) / weight
    units = _units(kept, diff, clustered=clustered)
    n = len(units)
    stderr = None
    if n > 1:
        squares = sum(away * away for away, _ in units)
        stderr = sqrt(n / (n - 1) * squares) / weight
    alike = stderr is not None and stderr < _NO_ERROR
    by_signs = n < FEW or alike
    if by_signs:
        signs = [total for _, total in units if abs(total) > 1e-12]
        p = sign_test(min(sum(s > 0 for s in signs), sum(s < 0 for s in signs)), len(signs))
    else:
        p = two_sided_t(diff / stderr, n - 1) if stderr else 1.0
    interval95, interval90 = (_around(diff, stderr, q, n - 1) for q in (0.975, 0.95))
    how = "clustered-t" if clustered else "paired-t"
    if alike:
        kinds = _alike(kept, weight, n)
        interval95, interval90 = _newcombe(kinds, Z95), _newcombe(kinds, Z90)
        how = f"{how}, newcombe"
    return PairedDifference(
        len(kept),
        diff,
        stderr,
        interval95,
        interval90,
        p if n > 1 else None,
        how + (", sign-exact" if by_signs else ""),
        n if clustered else None,
    )


def _alike(pairs: list[ValuePair], weight: float, units: int) -> tuple[float, float, float, float]:
    """Return how many pairs of verdicts would be of each kind, had so many units these means."""
    a = sum(pair.weight * pair.a for pair in pairs) / weight
    b = sum(pair.weight * pair.b for pair in pairs) / weight
    kinds = (min(a, b), max(a - b, 0.0), max(b - a, 0.0), 1 - max(a, b))
    both, worse, better, neither = (max(share, 0.0) * units for share in kinds)
    return both, worse, better, neither


def _units(pairs: list[ValuePair], mean: float, *, clustered: bool) -> list[tuple[float, float]]:
    """Return of each independent unit its Σ w(d − mean), and its Σ w·d."""
    found: dict[Hashable, tuple[float, float]] = {}
    for place, (a, b, weight, cluster) in enumerate(pairs):
        unit = ("cluster", cluster) if clustered and cluster is not None else place
        away, total = found.get(unit, (0.0, 0.0))
        found[unit] = (away + weight * (b - a - mean), total + weight * (b - a))
    return list(found.values())


def _around(diff: float, stderr: float | None, p: float, df: int) -> Interval | None:
    if stderr is None:
        return None
    half = t_quantile(p, df) * stderr
    return max(diff - half, -1.0), min(diff + half, 1.0)
