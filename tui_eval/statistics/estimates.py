"""Rates, errors and intervals: short formulas, each with its source.

Everything works on values in 0..1, one for each case: a case that was asked several times is one
value (`reduce_passes`), because its repeats are not independent of each other.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import comb, sqrt
from typing import TYPE_CHECKING, Final

from tui_eval.statistics.distributions import t_quantile
from tui_eval.statistics.intervals import Z95, Interval, wilson

if TYPE_CHECKING:
    from tui_eval.suites.spec.run import Reduce

_NO_ERROR: Final = 1e-12


def reduce_passes(passed: int, n: int, how: "Reduce") -> float | None:
    """Make one value of a case's graded epochs.

    pass@k is the chance that at least one of k draws without replacement passes,
    1 − C(n−c, k)/C(n, k) (Chen et al. 2021, "Evaluating Large Language Models Trained on Code",
    eq. 1); pass^k the chance that all k do, C(c, k)/C(n, k) (Yao et al. 2024, "τ-bench", sec. 4).

    Args:
        passed: Epochs that passed.
        n: Epochs that passed or failed.
        how: The reduction.

    Returns:
        A value in 0..1; None where there are too few graded epochs to say.
    """
    if n == 0:
        return None
    match how.kind:
        case "mean":
            return passed / n
        case "max":
            return 1.0 if passed else 0.0
        case "majority":
            return 1.0 if 2 * passed > n else 0.0
    k = how.k or 1
    if n < k:
        return None
    match how.kind:
        case "at_least":
            return 1.0 if passed >= k else 0.0
        case "pass@":
            return 1.0 - comb(n - passed, k) / comb(n, k)
        case "pass^":
            return comb(passed, k) / comb(n, k)


def reduce_values(values: Sequence[float], how: "Reduce") -> float | None:
    """Make one value of the values of a case's graded epochs: their mean, or with `max` the best.

    None where there is none.
    """
    if not values:
        return None
    return max(values) if how.kind == "max" else sum(values) / len(values)


@dataclass(slots=True)
class Sample:
    """Values of independent cases with their weights, kept as sums: its size does not grow."""

    n: int = 0
    weight: float = 0.0
    zero_or_one: bool = True
    """Whether every value so far is 0 or 1."""
    _w2: float = field(default=0.0, repr=False)
    _wx: float = field(default=0.0, repr=False)
    _w2x: float = field(default=0.0, repr=False)
    _w2x2: float = field(default=0.0, repr=False)

    def add(self, value: float, weight: float = 1.0, cluster: Hashable = None) -> None:
        """Take one case's value; its cluster makes no difference here."""
        self.n += 1
        self.weight += weight
        self.zero_or_one = self.zero_or_one and value in (0.0, 1.0)
        self._w2 += weight * weight
        self._wx += weight * value
        self._w2x += weight * weight * value
        self._w2x2 += weight * weight * value * value

    @property
    def mean(self) -> float | None:
        """The weighted mean; None where there is nothing, or nothing that weighs."""
        return self._wx / self.weight if self.weight > 0 else None

    @property
    def effective_n(self) -> float:
        """How many cases of equal weight would say as much: (Σw)² / Σw² (Kish 1965, sec. 11.7)."""
        return self.weight**2 / self._w2 if self._w2 > 0 else 0.0

    @property
    def stderr(self) -> float | None:
        """The standard error of the weighted mean; None below two cases.

        √(Σ w²(x − m)² · n/(n − 1)) / Σw: the linearised error of a ratio (Cochran 1977,
        "Sampling Techniques", sec. 6.3); with equal weights s/√n.
        """
        mean = self.mean
        if mean is None or self.n < 2:
            return None
        squares = self._w2x2 - 2 * mean * self._w2x + mean * mean * self._w2
        return sqrt(max(squares, 0.0) * self.n / (self.n - 1)) / self.weight

    @property
    def clusters(self) -> int | None:
        """How many clusters the cases are in; None: each case is for itself."""
        return None

    @property
    def stderr_clustered(self) -> float | None:
        """The standard error of the weighted mean over clusters; None where there are none."""
        return None

    @property
    def interval95(self) -> Interval | None:
        """The 95% interval of the mean; None where nothing can be said.

        Wilson where every case is 0 or 1; otherwise the mean ± 1.96 standard errors over the
        cases, kept within 0..1 (Miller 2024, "Adding Error Bars to Evals", sec. 2).
        """
        mean = self.mean
        if mean is None:
            return None
        if self.zero_or_one:
            return wilson(mean, self.effective_n)
        error = self.stderr
        if error is None:
            return None
        return (max(mean - Z95 * error, 0.0), min(mean + Z95 * error, 1.0))


@dataclass(slots=True)
class ClusteredSample(Sample):
    """Values of cases that may not be independent within a cluster; it grows with the clusters."""

    _units: dict[Hashable, tuple[float, float]] = field(default_factory=dict, repr=False)
    """Of each cluster, or case without one, the sum of its weights, and of its weighted values."""

    def add(self, value: float, weight: float = 1.0, cluster: Hashable = None) -> None:
        """Take one case's value.

        Args:
            value: The value.
            weight: Its weight.
            cluster: Which others it is not independent of; None: of none.
        """
        Sample.add(self, value, weight)
        if weight > 0:
            unit = ("case", self.n) if cluster is None else ("cluster", cluster)
            weights, values = self._units.get(unit, (0.0, 0.0))
            self._units[unit] = (weights + weight, values + weight * value)

    @property
    def clusters(self) -> int:
        """How many clusters the cases are in; a case without one is one."""
        return len(self._units)

    @property
    def stderr_clustered(self) -> float | None:
        """The standard error of the weighted mean over clusters; None below two of them.

        √(C/(C − 1)·Σ_c(Σ w(x − m))²)/Σw (Miller 2024, "Adding Error Bars to Evals", sec. 2.2).
        """
        mean, n = self.mean, self.clusters
        if mean is None or n < 2:
            return None
        squares = sum((values - mean * weights) ** 2 for weights, values in self._units.values())
        return sqrt(n / (n - 1) * squares) / self.weight

    @property
    def interval95(self) -> Interval | None:
        """The 95% interval of the mean, kept within 0..1; None below two clusters.

        The mean ± t of C − 1 degrees of freedom times the error over clusters. Where all clusters
        came to the same that error says nothing: Wilson, as if each cluster were a case.
        """
        mean, error = self.mean, self.stderr_clustered
        if mean is None or error is None:
            return None
        if error < _NO_ERROR:
            return wilson(mean, self.clusters)
        half = t_quantile(0.975, self.clusters - 1) * error
        return (max(mean - half, 0.0), min(mean + half, 1.0))


def percentile(ascending: Sequence[float], q: float) -> float | None:
    """Return a quantile by linear interpolation (Hyndman & Fan 1996, type 7).

    Args:
        ascending: The values in ascending order.
        q: In 0..1: 0.5 is the median.

    Returns:
        None where there are no values.
    """
    if not ascending:
        return None
    place = q * (len(ascending) - 1)
    below = int(place)
    above = min(below + 1, len(ascending) - 1)
    return ascending[below] + (place - below) * (ascending[above] - ascending[below])
