"""Rates, errors and intervals: short formulas, each with its source.

Everything works on values in 0..1, one for each case: a case that was asked several times is one
value (`reduce_passes`), because its repeats are not independent of each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import comb, sqrt
from typing import TYPE_CHECKING, Any, Final

from tui_eval.model.json import Json
from tui_eval.statistics.distributions import t_quantile
from tui_eval.statistics.intervals import Z95, Interval, wilson

if TYPE_CHECKING:
    from tui_eval.model.reduction import Reduce

_NO_ERROR: Final = 1e-12
_ALIKE: Final = 1e-12
"""Mean squares of distances from the mean that rounding alone may leave."""


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

    def add(
        self, value: float, weight: float = 1.0, cluster: str | None = None, times: int = 1
    ) -> None:
        """Take the value of one case, or of several that are alike.

        Args:
            value: The value.
            weight: The weight of each.
            cluster: It makes no difference here.
            times: How many cases there are.
        """
        w, w2 = times * weight, times * weight * weight
        self.n += times
        self.weight += w
        self.zero_or_one = self.zero_or_one and value in (0.0, 1.0)
        self._w2 += w2
        self._wx += w * value
        self._w2x += w2 * value
        self._w2x2 += w2 * value * value

    def sums(self) -> list[Json]:
        """Return all that it knows, as `add_sums` takes it."""
        return [self.n, self.weight, self.zero_or_one, self._w2, self._wx, self._w2x, self._w2x2]

    def add_sums(self, sums: Sequence[Any]) -> None:
        """Take all that another sample has taken."""
        n, weight, zero_or_one, w2, wx, w2x, w2x2 = sums
        self.n += n
        self.weight += weight
        self.zero_or_one = self.zero_or_one and zero_or_one
        self._w2 += w2
        self._wx += wx
        self._w2x += w2x
        self._w2x2 += w2x2

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
        cases, kept within 0..1 (Miller 2024, "Adding Error Bars to Evals", sec. 2). Where all cases
        came to the same that error says nothing: Wilson, whose variance m(1 − m) is the most that
        values in 0..1 with this mean can have.
        """
        mean = self.mean
        if mean is None:
            return None
        if self.zero_or_one:
            return wilson(mean, self.effective_n)
        error = self.stderr
        if error is None:
            return None
        if self._alike(mean):
            return wilson(mean, self.effective_n)
        return (max(mean - Z95 * error, 0.0), min(mean + Z95 * error, 1.0))

    def _alike(self, mean: float) -> bool:
        """Whether all values are the mean, as far as sums tell: squares lose half the digits."""
        squares = self._w2x2 - 2 * mean * self._w2x + mean * mean * self._w2
        return squares <= _ALIKE * self._w2


@dataclass(slots=True)
class ClusteredSample(Sample):
    """Values of cases that may not be independent within a cluster; it grows with the clusters."""

    _units: dict[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """Of each cluster the sum of its weights, and of its weighted values."""
    _alone: list[tuple[float, float]] = field(default_factory=list, repr=False)
    """Of each case without a cluster its weight, and its weighted value."""

    def add(
        self, value: float, weight: float = 1.0, cluster: str | None = None, times: int = 1
    ) -> None:
        """Take the value of one case, or of several that are alike.

        Args:
            value: The value.
            weight: The weight of each.
            cluster: Which others they are not independent of; None: of none.
            times: How many cases there are.
        """
        Sample.add(self, value, weight, times=times)
        if weight <= 0:
            return
        if cluster is None:
            self._alone += [(weight, weight * value)] * times
        else:
            self._add_to(cluster, times * weight, times * weight * value)

    def _add_to(self, cluster: str, weight: float, value: float) -> None:
        weights, values = self._units.get(cluster, (0.0, 0.0))
        self._units[cluster] = (weights + weight, values + value)

    def sums(self) -> list[Json]:
        """Return all that it knows, as `add_sums` takes it."""
        units: Json = [[cluster, *unit] for cluster, unit in self._units.items()]
        return [*Sample.sums(self), units, [[*case] for case in self._alone]]

    def add_sums(self, sums: Sequence[Any]) -> None:
        """Take all that another sample of this kind has taken."""
        *shared, units, alone = sums
        Sample.add_sums(self, shared)
        for cluster, weight, value in units:
            self._add_to(cluster, weight, value)
        self._alone += [(weight, value) for weight, value in alone]

    @property
    def clusters(self) -> int:
        """How many clusters the cases are in; a case without one is one."""
        return len(self._units) + len(self._alone)

    @property
    def stderr_clustered(self) -> float | None:
        """The standard error of the weighted mean over clusters; None below two of them.

        √(C/(C − 1)·Σ_c(Σ w(x − m))²)/Σw (Miller 2024, "Adding Error Bars to Evals", sec. 2.2).
        """
        mean, n = self.mean, self.clusters
        if mean is None or n < 2:
            return None
        units = chain(self._units.values(), self._alone)
        squares = sum((values - mean * weights) ** 2 for weights, values in units)
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
