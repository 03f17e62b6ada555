import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.statistics.agreement import (
    ExcessDisagreement,
    PositionMeans,
    cohen_kappa,
    effective_n,
    excess,
    interval_distance,
    kappa_interval,
    krippendorff_alpha,
    nominal_distance,
    spearman,
    spearman_interval,
)
from tui_eval.statistics.intervals import wilson


def test_kappa_agrees_with_a_table_worked_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: (0.7 - 0.5) / (1 - 0.5)
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert cohen_kappa([(1, 1), (0, 0)]) == 1
    assert cohen_kappa([(1, 0), (0, 1)]) == -1
    assert cohen_kappa([(1, 1)] * 9) is None
    assert cohen_kappa([]) is None


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [  # sklearn.metrics.cohen_kappa_score of scikit-learn 1.9
        ("110100110111", "100101110110", 0.47058823529411764),
        ("ppfopffpop", "pffopfpppp", 0.4915254237288136),
    ],
)
def test_kappa_agrees_with_the_reference(first: str, second: str, kappa: float) -> None:
    assert cohen_kappa([*zip(first, second, strict=True)]) == pytest.approx(kappa, abs=1e-12)
    assert cohen_kappa([*zip(second, first, strict=True)]) == pytest.approx(kappa, abs=1e-12)


@pytest.mark.parametrize(
    ("xs", "ys", "rho"),
    [
        (  # scipy.stats.spearmanr of scipy 1.17
            [7, 3, 10, 0, 5, 5, 8, 2, 9, 7, 6, 4],
            [8, 3, 9, 1, 5, 6, 8, 2, 10, 5, 6, 6],
            0.8883202135552613,
        ),
        # the first as scipy documents it, the second by hand: -4.5 / √(4.5 · 5)
        ([1, 2, 3, 4, 5], [5, 6, 7, 8, 7], 0.8207826816681233),
        ([1, 1, 2, 3], [4, 3, 2, 1], -0.9486832980505138),
        ([1, 2, 3], [3, 2, 1], -1.0),
    ],
)
def test_spearman_agrees_with_the_reference(xs: list[float], ys: list[float], rho: float) -> None:
    assert spearman(xs, ys) == pytest.approx(rho, abs=1e-12)


def test_spearman_says_nothing_without_spread() -> None:
    assert spearman([1, 1, 1], [1, 2, 3]) is None
    assert spearman([1], [1]) is None


def test_the_excess_is_what_batch_flips_beyond_the_others() -> None:
    threes = [(True, False, False)] * 10 + [(True, True, False)] * 4 + [(True, True, True)] * 26
    found = excess(threes)
    assert found is not None
    # 10 of 40 differ from both, 4 from one of two
    assert found.flips == pytest.approx((10 + 4 / 2) / 40)
    assert found.noise == pytest.approx(4 / 40)
    assert found.excess == pytest.approx(0.2)
    assert found.low < 0.2 < found.high


def test_without_noise_the_excess_is_a_proportion() -> None:
    found = excess([(True, False, False)] * 6 + [(True, True, True)] * 24)
    assert found is not None
    low, high = wilson(0.2, 30)
    above = wilson(0, 30)[1] / 2
    assert found.high == pytest.approx(high)
    assert found.low == pytest.approx(0.2 - math.hypot(0.2 - low, above))


SHARES = [0.0, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5]


@pytest.mark.parametrize("n", [30, 60])
def test_the_interval_misses_the_true_excess_about_as_often_as_it_says(n: int) -> None:
    """Over all that n items can show, with the chance of each: 2.5% are wanted on each side."""
    found = {(odd, others): _excess(n, odd, others) for odd, others in _counts(n)}
    for p, q in product(SHARES, SHARES):
        true = p - q / 2
        above = below = wrongly_off = 0.0
        for (odd, others), one in found.items():
            chance = _chance(n, odd, others, p, q)
            above += chance * (true < one.low - 1e-12)
            below += chance * (true > one.high + 1e-12)
            wrongly_off += chance * (one.low > 0.05)
        assert above < 0.041
        assert below < 0.035
        if true <= 0.05:
            assert wrongly_off < 0.035


def _counts(n: int) -> list[tuple[int, int]]:
    return [(odd, others) for odd in range(n + 1) for others in range(n + 1 - odd)]


def _excess(n: int, odd: int, others: int) -> ExcessDisagreement:
    threes = [(True, False, False)] * odd + [(True, True, False)] * others
    found = excess(threes + [(True, True, True)] * (n - odd - others))
    assert found is not None
    return found


def _chance(n: int, odd: int, others: int, p: float, q: float) -> float:
    ways = math.comb(n, odd) * math.comb(n - odd, others)
    return ways * p**odd * q**others * max(1 - p - q, 0.0) ** (n - odd - others)


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1))
def test_the_interval_is_around_the_excess(threes: list[tuple[bool, bool, bool]]) -> None:
    found = excess(threes)
    assert found is not None
    assert -0.5 - 1e-9 <= found.low <= found.excess + 1e-9
    assert found.excess - 1e-9 <= found.high <= 1


def test_means_stand_by_position() -> None:
    positions = PositionMeans()
    assert positions.means == []
    for place, value in [(0, 1.0), (2, 4.0), (0, 3.0)]:
        positions.add(place, value)
    assert positions.means == [(2, 2.0), (0, 0.0), (1, 4.0)]
    assert excess([]) is None


TABLE = [[20, 5, 2], [3, 15, 4], [1, 6, 30]]


def test_the_interval_of_kappa_agrees_with_the_reference() -> None:
    # statsmodels 0.14, cohens_kappa
    pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(TABLE[a][b])]
    assert cohen_kappa(pairs) == pytest.approx(0.6271676300578035)
    assert kappa_interval(pairs) == pytest.approx((0.49046723944534093, 0.7638680206702662))
    assert kappa_interval([]) is None


def test_no_interval_is_told_where_the_formula_has_no_error() -> None:
    assert kappa_interval([(1, 1)] * 15 + [(0, 0)] * 15) is None
    one_sided = [(1, 1)] * 7 + [(1, 0)] * 3
    for pairs in (one_sided, [(b, a) for a, b in one_sided]):
        assert cohen_kappa(pairs, [0.3] * 10) == 0.0
        assert kappa_interval(pairs, [0.3] * 10) is None


def test_the_interval_of_a_rank_correlation() -> None:
    # by hand: tanh(atanh 0.8 ± 1.959964·√(1.32/47))
    assert spearman_interval(0.8, 50) == pytest.approx((0.647016, 0.891066), abs=1e-6)
    assert spearman_interval(0.8, 3) is None
    assert spearman_interval(1.0, 10) is None
    assert spearman_interval(-1.0, 10) is None


# Krippendorff 2011, example C: four observers, twelve units
UNITS = [
    [1, 1, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [5, 5, 5],
    [1, 1],
    [3],
]


def test_alpha_of_the_published_example() -> None:
    assert krippendorff_alpha(UNITS, nominal_distance) == pytest.approx(0.743421, abs=1e-6)
    assert krippendorff_alpha(UNITS, interval_distance) == pytest.approx(0.849107, abs=1e-6)


def test_alpha_of_nothing_to_compare() -> None:
    assert krippendorff_alpha([[1], []], nominal_distance) is None
    assert krippendorff_alpha([[1, 1], [1, 1]], nominal_distance) is None


def test_weights_stand_for_repeats() -> None:
    # sklearn's cohen_kappa_score with sample_weight; scipy's spearmanr of each pair repeated
    pairs = [(1, 1)] * 18 + [(1, 0)] * 7 + [(0, 1)] * 4 + [(0, 0)] * 21
    weights = [3.0] * 25 + [1.0] * 25
    assert cohen_kappa(pairs, weights) == pytest.approx(0.4565217391304348)
    xs = [7.0, 3, 10, 0, 5, 5, 8, 2, 9, 7, 6, 4]
    ys = [8.0, 3, 9, 1, 5, 6, 8, 2, 10, 5, 6, 6]
    by = [1.0, 2, 3, 1, 1, 2, 3, 1, 2, 2, 1, 1]
    assert spearman(xs, ys, by) == pytest.approx(0.907360264775689)
    assert spearman(xs, ys, [2.5] * 12) == pytest.approx(0.8883202135552613)


def test_equal_weights_say_what_none_say_and_unequal_ones_say_less() -> None:
    pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(TABLE[a][b])]
    alike = kappa_interval(pairs, [0.7] * len(pairs))
    assert alike == pytest.approx(kappa_interval(pairs))
    assert effective_n([0.7] * 20) == pytest.approx(20)
    assert effective_n([1.0] * 10 + [9.0] * 10) == pytest.approx(100**2 / (10 + 810))
