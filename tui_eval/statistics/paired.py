"""How two columns differ over the same cases: differences, their intervals and tests.

A difference is always the second minus the first, B − A.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import astuple, dataclass
from math import sqrt
from operator import attrgetter
from typing import Any, Final, NamedTuple

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


@dataclass(slots=True)
class _Alike:
    """Pairs of the same two values, summed up."""

    a: float
    b: float
    n: int = 0
    weight: float = 0.0
    weighing: int = 0
    """Those that weigh anything."""
    alone: int = 0
    """Those of them that are in no cluster."""
    squares: float = 0.0
    """Σ w² of those."""


class PairTally:
    """What two columns came to for the same cases, summed up as they come.

    It holds an entry for each two values that occur and for each cluster, however many cases there
    are.
    """

    def __init__(self) -> None:
        self.n = 0
        """How many pairs there are."""
        self._alike: dict[tuple[float, float], _Alike] = {}
        self._clusters: dict[Hashable, tuple[float, float]] = {}
        """Of each its Σ w and its Σ w·(b − a)."""
        self._even = True
        """Whether every pair weighs 1."""

    def add(self, pair: ValuePair, n: int = 1) -> None:
        """Add so many pairs that are alike."""
        a, b, weight, cluster = pair
        of = self._alike.get((a, b))
        if of is None:
            of = self._alike[a, b] = _Alike(a, b)
        self.n += n
        of.n += n
        self._even = self._even and weight == 1.0
        if cluster is not None and cluster not in self._clusters:
            self._clusters[cluster] = 0.0, 0.0
        if weight <= 0:
            return
        of.weight += n * weight
        of.weighing += n
        if cluster is None:
            of.alone += n
            of.squares += n * weight * weight
        else:
            weights, total = self._clusters[cluster]
            self._clusters[cluster] = weights + n * weight, total + n * weight * (b - a)

    def as_json(self) -> list[object]:
        """Return all of it as JSON can hold it; `of_json` gives it back to the last digit."""
        alike = [astuple(of) for of in self._alike.values()]
        clusters = [[cluster, *of] for cluster, of in self._clusters.items()]
        return [self.n, self._even, alike, clusters]

    @classmethod
    def of_json(cls, kept: Sequence[Any]) -> "PairTally":
        """Return what `as_json` gave; its clusters are texts, or numbers."""
        made = cls()
        made.n, made._even, alike, clusters = kept
        made._alike = {(of[0], of[1]): _Alike(*of) for of in alike}
        made._clusters = {cluster: (weights, total) for cluster, weights, total in clusters}
        return made

    def verdicts(self) -> "VerdictPairs":
        """Return how many are worse, better and alike; of values `both` are those not 0."""
        worse = sum(of.n for of in self._alike.values() if of.b < of.a)
        better = sum(of.n for of in self._alike.values() if of.b > of.a)
        neither = sum(of.n for of in self._alike.values() if of.a == of.b == 0.0)
        return VerdictPairs(self.n - worse - better - neither, worse, better, neither)

    def means(self) -> tuple[float | None, float | None]:
        """Return the weighted means of both columns; None: nothing weighs anything."""
        weight = sum(of.weight for of in self._alike.values())
        if not weight:
            return None, None
        a, b = (sum(of.weight * value(of) for of in self._alike.values()) for value in (_a, _b))
        return a / weight, b / weight

    def difference(self) -> PairedDifference | None:
        """Return the difference by the method that fits: exact for verdicts of independent cases.

        None: there are no pairs, or none that weighs.
        """
        of_verdicts = all({of.a, of.b} <= {0.0, 1.0} for of in self._alike.values())
        if self._even and of_verdicts and not self._clusters:
            return self.verdicts().difference()
        return self.difference_of_values(clustered=bool(self._clusters))

    def difference_of_values(self, *, clustered: bool = False) -> PairedDifference | None:
        """Return what the weighted means differ by (see the function of this name).

        Args:
            clustered: Whether the pairs have clusters.
        """
        weight = sum(of.weight for of in self._alike.values())
        if not weight:
            return None
        diff = sum(of.weight * (of.b - of.a) for of in self._alike.values()) / weight
        alone, together = self._alone(), self._together()
        n = sum(of.alone for of in alone) + len(together)
        stderr = None
        if n > 1:
            squares = sum(of.squares * (of.b - of.a - diff) ** 2 for of in alone)
            squares += sum((total - diff * weights) ** 2 for weights, total in together)
            stderr = sqrt(n / (n - 1) * squares) / weight
        alike = stderr is not None and stderr < _NO_ERROR
        by_signs = n < FEW or alike
        if by_signs:
            up, down = self._signs()
            p = sign_test(min(up, down), up + down)
        else:
            p = two_sided_t(diff / stderr, n - 1) if stderr else 1.0
        interval95, interval90 = (_around(diff, stderr, q, n - 1) for q in (0.975, 0.95))
        how = "clustered-t" if clustered else "paired-t"
        if alike:
            kinds = self._kinds(n)
            interval95, interval90 = _newcombe(kinds, Z95), _newcombe(kinds, Z90)
            how = f"{how}, newcombe"
        return PairedDifference(
            sum(of.weighing for of in self._alike.values()),
            diff,
            stderr,
            interval95,
            interval90,
            p if n > 1 else None,
            how + (", sign-exact" if by_signs else ""),
            n if clustered else None,
        )

    def _alone(self) -> list[_Alike]:
        return [of for of in self._alike.values() if of.alone]

    def _together(self) -> list[tuple[float, float]]:
        """Return the clusters that weigh anything."""
        return [of for of in self._clusters.values() if of[0]]

    def _signs(self) -> tuple[int, int]:
        """Return how many units, cases or clusters, have more in B, and less."""
        alone, totals = self._alone(), [total for _, total in self._together()]
        up = sum(of.alone for of in alone if of.b - of.a > _NO_ERROR)
        down = sum(of.alone for of in alone if of.a - of.b > _NO_ERROR)
        up += sum(total > _NO_ERROR for total in totals)
        return up, down + sum(total < -_NO_ERROR for total in totals)

    def _kinds(self, units: int) -> tuple[float, float, float, float]:
        """Return how many pairs of verdicts are of each kind, had so many units these means."""
        a, b = (mean or 0.0 for mean in self.means())
        kinds = (min(a, b), max(a - b, 0.0), max(b - a, 0.0), 1 - max(a, b))
        both, worse, better, neither = (max(share, 0.0) * units for share in kinds)
        return both, worse, better, neither


_a, _b = attrgetter("a"), attrgetter("b")


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
    tally = PairTally()
    for pair in pairs:
        tally.add(pair if clustered else pair._replace(cluster=None))
    return tally.difference_of_values(clustered=clustered)


def _around(diff: float, stderr: float | None, p: float, df: int) -> Interval | None:
    if stderr is None:
        return None
    half = t_quantile(p, df) * stderr
    return max(diff - half, -1.0), min(diff + half, 1.0)
