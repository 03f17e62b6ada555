"""Reference values are scipy 1.17's and statsmodels 0.14's, on the numbers that are made here."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.statistics.paired import (
    PairedDifference,
    PairTally,
    ValuePair,
    VerdictPairs,
    difference_of_values,
)


def pairs(n: int = 40) -> list[tuple[float, float]]:
    rng = random.Random(5)
    a = [rng.random() for _ in range(n)]
    return [(x, min(1, max(0, x + rng.gauss(0.05, 0.2)))) for x in a]


def found(difference: PairedDifference | None) -> PairedDifference:
    assert difference is not None
    return difference


def test_labelled_solutions_of_two_systems() -> None:
    # 1,319 GSM8K cases; p as scipy's binomtest gives it
    difference = found(VerdictPairs(both=243, worse=43, better=499, neither=534).difference())
    assert difference.diff == pytest.approx(0.3457164518574678)
    assert difference.stderr == pytest.approx(0.014869117830683065)
    assert difference.p == pytest.approx(1.6569333623969997e-99)
    assert difference.interval95 == pytest.approx((0.3161, 0.3743), abs=5e-5)
    assert difference.mde == pytest.approx(0.0417, abs=5e-5)


def test_a_published_interval() -> None:
    # Newcombe 1998, table II: 36 both, 12 and 2 that differ, none neither; method 10
    difference = found(VerdictPairs(both=36, worse=2, better=12).difference())
    assert difference.interval95 == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_no_flips() -> None:
    difference = found(VerdictPairs(both=15, neither=5).difference())
    assert (difference.diff, difference.p, difference.stderr) == (0.0, 1.0, 0.0)
    assert difference.interval95 is not None
    low, high = difference.interval95
    assert low < 0 < high
    assert difference.mde is not None
    assert difference.mde > 0.1  # twenty cases that agree do not show that none ever differ


def test_all_flips() -> None:
    difference = found(VerdictPairs(better=20).difference())
    assert difference.diff == 1.0
    assert difference.p == pytest.approx(2 / 2**20)
    assert difference.interval95 is not None
    assert difference.interval95[1] == 1.0


def test_no_pairs_and_one() -> None:
    assert VerdictPairs().difference() is None
    one = found(VerdictPairs(better=1).difference())
    assert (one.stderr, one.p) == (None, 1.0)


@given(st.builds(VerdictPairs, *(st.integers(0, 60) for _ in range(4))).filter(lambda c: c.n > 0))
def test_an_interval_holds_its_difference_and_turns_with_it(counts: VerdictPairs) -> None:
    there = found(counts.difference())
    back = found(
        VerdictPairs(counts.both, counts.better, counts.worse, counts.neither).difference()
    )
    assert there.interval95 is not None
    assert back.interval95 is not None
    low, high = there.interval95
    assert low - 1e-12 <= there.diff <= high + 1e-12
    assert back.diff == -there.diff
    assert back.interval95 == pytest.approx((-high, -low), abs=1e-12)
    assert back.p == there.p


def test_values_are_compared_by_the_paired_t_test() -> None:
    difference = found(difference_of_values(ValuePair(*pair) for pair in pairs()))
    assert difference.p == pytest.approx(0.0029876740124306963)
    assert difference.interval95 == pytest.approx((0.029105422751324182, 0.13198818771127233))
    assert difference.method == "paired-t"


def test_weighted_cases() -> None:
    weighted = (ValuePair(*pair, 1 + place % 3) for place, pair in enumerate(pairs()))
    difference = found(difference_of_values(weighted))
    assert difference.diff == pytest.approx(0.10395274022668556)
    assert difference.stderr == pytest.approx(0.02914334812838471)
    assert difference.p == pytest.approx(0.0009750082046727977)


def test_clusters() -> None:
    clustered = [ValuePair(*pair, 1.0, place // 4) for place, pair in enumerate(pairs())]
    difference = found(difference_of_values(clustered, clustered=True))
    assert difference.clusters == 10
    assert difference.stderr == pytest.approx(0.018855221751992297)
    assert difference.interval95 == pytest.approx((0.037893330288880395, 0.12320028017371618))
    assert difference.method == "clustered-t, sign-exact"
    assert found(difference_of_values(clustered)).clusters is None


def test_one_cluster_says_nothing() -> None:
    one = [ValuePair(0.0, 1.0, 1.0, "passage")] * 50
    difference = found(difference_of_values(one, clustered=True))
    assert (difference.diff, difference.interval95, difference.p) == (1.0, None, None)


def test_few_cases_are_compared_by_their_signs() -> None:
    few = [ValuePair(0.0, 0.5)] * 12 + [ValuePair(0.5, 0.0)] * 2 + [ValuePair(0.3, 0.3)] * 5
    difference = found(difference_of_values(few))
    assert difference.p == pytest.approx(0.012939453125)  # binomtest(2, 14)
    assert difference.method == "paired-t, sign-exact"


def test_what_weighs_nothing_is_not_compared() -> None:
    assert difference_of_values([ValuePair(0.0, 1.0, 0.0)]) is None
    assert difference_of_values([]) is None


def test_many_equal_differences() -> None:
    same = found(difference_of_values([ValuePair(0.5, 0.5)] * 40))
    assert (same.diff, same.p) == (0.0, 1.0)
    apart = found(difference_of_values([ValuePair(0.25, 0.5)] * 40))
    assert apart.p == pytest.approx(2 * 0.5**40)  # binomtest(40, 40)
    assert apart.method == "paired-t, newcombe, sign-exact"


def test_values_that_never_differ_show_as_much_as_so_many_verdicts() -> None:
    plain = found(VerdictPairs(both=3, neither=2).difference())
    values = [ValuePair(1.0, 1.0)] * 3 + [ValuePair(0.0, 0.0)] * 2
    alike = found(difference_of_values(values))
    assert alike.interval95 == pytest.approx(plain.interval95)
    assert alike.mde == pytest.approx(plain.mde)
    twice = [ValuePair(a, b, 1.0, at) for at, (a, b, _, _) in enumerate(values) for _ in range(2)]
    clustered = found(difference_of_values(twice, clustered=True))
    assert (clustered.n, clustered.clusters) == (10, 5)
    assert clustered.interval95 == pytest.approx(plain.interval95)


def test_values_that_all_fall_by_the_same_are_no_certainty() -> None:
    low, high = found(difference_of_values([ValuePair(0.75, 0.5)] * 4)).interval95 or (0, 0)
    assert low < -0.25 < high


def _listed(pairs: list[ValuePair], mean: float, clustered: bool) -> tuple[float, int]:
    """Give standard error and units by the formula itself, case after case."""
    away: dict[object, float] = {}
    for place, (a, b, weight, cluster) in enumerate(pairs):
        unit = (cluster,) if clustered and cluster is not None else place
        away[unit] = away.get(unit, 0.0) + weight * (b - a - mean)
    n, weights = len(away), sum(pair.weight for pair in pairs)
    return (n / max(n - 1, 1) * sum(one * one for one in away.values())) ** 0.5 / weights, n


@given(
    st.lists(
        st.builds(
            ValuePair,
            st.sampled_from([0.0, 1 / 3, 0.5, 1.0]),
            st.sampled_from([0.0, 1 / 3, 0.5, 1.0]),
            st.sampled_from([0.25, 1.0, 3.0]),
            st.sampled_from([None, "a", "b", "c"]),
        ),
        min_size=6,
        max_size=60,
    ),
    st.booleans(),
)
def test_sums_say_what_the_cases_one_after_the_other_do(
    listed: list[ValuePair], clustered: bool
) -> None:
    weight = sum(pair.weight for pair in listed)
    mean = sum(pair.weight * (pair.b - pair.a) for pair in listed) / weight
    error, n = _listed(listed, mean, clustered)
    difference = found(difference_of_values(listed, clustered=clustered))
    assert difference.diff == pytest.approx(mean, abs=1e-12)
    if n > 1:
        assert difference.stderr == pytest.approx(error, abs=1e-12)
        assert difference.clusters == (n if clustered else None)


def test_pairs_that_are_alike_may_be_added_together() -> None:
    one_by_one, together = PairTally(), PairTally()
    for pair, n in ((ValuePair(0.5, 1.0, 2.0, "x"), 3), (ValuePair(1.0, 0.0, 0.5), 2)):
        together.add(pair, n)
        for _ in range(n):
            one_by_one.add(pair)
    assert together.n == one_by_one.n == 5
    assert together.verdicts() == one_by_one.verdicts() == VerdictPairs(0, 2, 3, 0)
    assert together.means() == pytest.approx(one_by_one.means())
    assert together.difference() == one_by_one.difference()
