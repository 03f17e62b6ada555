"""How far grades agree: short formulas, each with its source."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import atanh, sqrt, tanh
from typing import Final, TypeAlias

from tui_eval.statistics.distributions import joined
from tui_eval.statistics.intervals import Z95, Interval, wilson

Pair: TypeAlias = tuple[Hashable, Hashable]
"""What the first and the second of two raters said of an item."""
_NO_ERROR: Final = 1e-12


def cohen_kappa(pairs: Sequence[Pair], weights: Sequence[float] | None = None) -> float | None:
    """Return the agreement of two raters beyond chance.

    (p_o − p_e) / (1 − p_e) (Cohen 1960, "A coefficient of agreement for nominal scales").

    Args:
        pairs: What the first and the second said of each item.
        weights: How many items of the population each stands for; None: all alike.

    Returns:
        A number up to 1; 0 where one of them always says the same, which tells nothing apart; None
        where there is nothing, or both always say the same one thing.
    """
    shares = _shares(pairs, weights)
    if not shares:
        return None
    first, second = _margins(shares)
    seen = sum(share for (a, b), share in shares.items() if a == b)
    expected = sum(share * second.get(what, 0.0) for what, share in first.items())
    if len(shares) == 1 and seen:
        return None
    if len(first) == 1 or len(second) == 1:
        return 0.0  # what rounding would miss
    return min((seen - expected) / (1 - expected), 1.0)  # rounding may go beyond


def kappa_interval(
    pairs: Sequence[Pair], weights: Sequence[float] | None = None
) -> Interval | None:
    """Return the 95% interval of Cohen's kappa; None where there is no kappa, or no error of it.

    κ ± 1.96 standard errors for large samples (Fleiss, Cohen & Everitt 1969, "Large sample standard
    errors of kappa and weighted kappa", Psychol. Bull. 72, eq. 13), kept within −1..1. With weights
    n is the number of items of equal weight that would say as much (`effective_n`). Where all
    agree, or one rater always says the same, that error is 0 and says nothing.

    Args:
        pairs: As in `cohen_kappa`.
        weights: Likewise.
    """
    kappa = cohen_kappa(pairs, weights)
    if kappa is None:
        return None
    n = effective_n(weights) if weights is not None else len(pairs)
    shares = _shares(pairs, weights)
    first, second = _margins(shares)
    chance = sum(share * second.get(what, 0.0) for what, share in first.items())
    spread = 0.0
    for (a, b), share in shares.items():
        if a == b:
            spread += share * (1 - (first[a] + second[a]) * (1 - kappa)) ** 2
        else:
            both = first.get(b, 0.0) + second.get(a, 0.0)
            spread += share * ((1 - kappa) * both) ** 2
    variance = max(spread - (kappa - chance * (1 - kappa)) ** 2, 0.0) / (n * (1 - chance) ** 2)
    if variance < _NO_ERROR:
        return None
    half = Z95 * sqrt(variance)
    return max(kappa - half, -1.0), min(kappa + half, 1.0)


def effective_n(weights: Sequence[float]) -> float:
    """Return how many items of equal weight would say as much: (Σw)²/Σw² (Kish 1965, sec. 11.7).

    Args:
        weights: At least one above 0.
    """
    return sum(weights) ** 2 / sum(weight * weight for weight in weights)


def _shares(pairs: Sequence[Pair], weights: Sequence[float] | None) -> dict[Pair, float]:
    """Return the share of all items that each pair of grades has."""
    if weights is None:
        return {pair: times / len(pairs) for pair, times in Counter(pairs).items()}
    found: dict[Pair, float] = {}
    total = sum(weights)
    for pair, weight in zip(pairs, weights, strict=True):
        found[pair] = found.get(pair, 0.0) + weight / total
    return found


def _margins(shares: Mapping[Pair, float]) -> tuple[dict[Hashable, float], dict[Hashable, float]]:
    """Return the share of each grade among those of the first rater, and of the second."""
    first: dict[Hashable, float] = {}
    second: dict[Hashable, float] = {}
    for (a, b), share in shares.items():
        first[a] = first.get(a, 0.0) + share
        second[b] = second.get(b, 0.0) + share
    return first, second


def spearman_interval(r: float, n: float) -> Interval | None:
    """Return the 95% interval of a rank correlation.

    None for fewer than four pairs, and where all are in one order: no error is known of that.

    tanh(atanh r ± 1.96·√((1 + r²/2)/(n − 3))) (Bonett & Wright 2000, "Sample size requirements for
    estimating Pearson, Kendall and Spearman correlations", Psychometrika 65).

    Args:
        r: As `spearman` gives it.
        n: Of how many pairs; a fraction for weighted ones.
    """
    if n < 4 or 1 - abs(r) < _NO_ERROR:
        return None
    half = Z95 * sqrt((1 + r * r / 2) / (n - 3))
    return tanh(atanh(r) - half), tanh(atanh(r) + half)


def nominal_distance(a: float, b: float) -> float:
    """Return 0 for equal grades, else 1: grades without an order, for `krippendorff_alpha`."""
    return float(a != b)


def interval_distance(a: float, b: float) -> float:
    """Return (a − b)²: grades of an even scale, for `krippendorff_alpha`."""
    return (a - b) ** 2


def krippendorff_alpha(
    items: Iterable[Sequence[float]], distance: Callable[[float, float], float]
) -> float | None:
    """Return the agreement of any number of raters beyond chance, whoever graded what.

    1 − D_o/D_e (Krippendorff 2011, "Computing Krippendorff's alpha-reliability").

    Args:
        items: The grades of each item; one with fewer than two says nothing.
        distance: How far two grades are apart.

    Returns:
        A number up to 1; None where there is nothing to compare, or all grades are the same.
    """
    all_grades: Counter[float] = Counter()
    seen = 0.0
    for grades in items:
        if len(grades) < 2:
            continue
        counts = Counter(grades)
        all_grades.update(counts)
        seen += _apart(counts, distance) / (len(grades) - 1)
    n = sum(all_grades.values())
    expected = _apart(all_grades, distance) / (n - 1) if n else 0.0
    return None if expected == 0 else 1 - seen / expected


def _apart(grades: Counter[float], distance: Callable[[float, float], float]) -> float:
    """Return the distances of all ordered pairs of grades, summed."""
    return sum(
        times * others * distance(a, b)
        for a, times in grades.items()
        for b, others in grades.items()
    )


def spearman(
    xs: Sequence[float], ys: Sequence[float], weights: Sequence[float] | None = None
) -> float | None:
    """Return the rank correlation: Pearson's r of the ranks, ties sharing their average rank.

    Args:
        xs: The first values.
        ys: The second.
        weights: How many pairs of the population each stands for; None: all alike.

    Returns:
        A number in −1..1; None below two pairs, and where all xs or all ys are equal.
    """
    if len(xs) < 2:
        return None
    by = weights if weights is not None else [1.0] * len(xs)
    a, b = _ranks(xs, by), _ranks(ys, by)
    if len(set(a)) == 1 or len(set(b)) == 1:
        return None
    middle = sum(by) / 2  # the mean rank, whatever the weights
    first = sum(w * (x - middle) ** 2 for w, x in zip(by, a, strict=True))
    second = sum(w * (y - middle) ** 2 for w, y in zip(by, b, strict=True))
    both = sum(w * (x - middle) * (y - middle) for w, x, y in zip(by, a, b, strict=True))
    return both / sqrt(first * second)


def _ranks(values: Sequence[float], weights: Sequence[float]) -> list[float]:
    """Return the ranks: the weight below each value and half of that at it."""
    at: dict[float, float] = {}
    for value, weight in zip(values, weights, strict=True):
        at[value] = at.get(value, 0.0) + weight
    below, ranks = 0.0, {}
    for value in sorted(at):
        ranks[value] = below + at[value] / 2
        below += at[value]
    return [ranks[value] for value in values]


class PositionMeans:
    """How many values stood at each position, and their means."""

    def __init__(self) -> None:
        """Begin with none."""
        self._at: dict[int, tuple[int, float]] = {}

    def add(self, position: int, value: float) -> None:
        """Count a value."""
        n, total = self._at.get(position, (0, 0.0))
        self._at[position] = (n + 1, total + value)

    @property
    def means(self) -> list[tuple[int, float]]:
        """For each position from 0 how many values it has, and their mean; of none 0."""
        places = range(max(self._at, default=-1) + 1)
        found = (self._at.get(place, (0, 0.0)) for place in places)
        return [(n, total / n if n else 0.0) for n, total in found]


@dataclass(frozen=True, slots=True)
class ExcessDisagreement:
    """How much more often one verdict differs from two others than those two differ."""

    flips: float
    """The share in which it differs from either of the two, halved over both."""
    noise: float
    """The share in which the two differ."""
    low: float
    """The lower end of the 95% interval of `flips - noise`."""
    high: float

    @property
    def excess(self) -> float:
        """`flips` beyond `noise`."""
        return self.flips - self.noise


def excess(threes: Sequence[tuple[bool, bool, bool]]) -> ExcessDisagreement | None:
    """Compare a verdict with two others that were made alike, item by item; None: there are none.

    Of three verdicts at most one is the odd one out. Where it is the first, it differs from both
    others, which agree; where it is another one, the first differs from one of them, and they
    differ. So with the shares p of the former and q of the latter, the excess is p − q/2: none
    where each of the three is as often the odd one out. The interval puts together Wilson's of p
    and of q, which exclude each other, by the rule of Zou & Donner 2008, "Construction of
    confidence limits about effect measures: a general approach", Stat. Med. 27, with the term for
    estimates that are correlated (Zou 2007, "Toward using confidence intervals to compare
    correlations", Psychol. Methods 12). Newcombe 1998, "Improved confidence intervals for the
    difference between binomial proportions based on paired data", Stat. Med. 17, method 10, does
    the same for two marginal proportions.

    Args:
        threes: For each item the verdict in question and the two others.
    """
    if not threes:
        return None
    n = len(threes)
    odd = sum(a != b and b == c for a, b, c in threes)
    others = sum(b != c for _, b, c in threes)
    p, q = odd / n, others / n
    (p_low, p_high), (q_low, q_high) = wilson(p, n), wilson(q, n)
    away = p * q / ((1 - p) * (1 - q)) if p < 1 and q < 1 else 0.0
    r = sqrt(away)  # p and q exclude each other: correlated by -r, their difference by +r
    middle = p - q / 2
    low = middle - joined(p - p_low, (q_high - q) / 2, r)
    high = middle + joined(p_high - p, (q - q_low) / 2, r)
    return ExcessDisagreement(p + q / 2, q, max(low, -0.5), min(high, 1.0))
