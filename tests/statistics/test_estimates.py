import json
import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.reduction import Reduce, parse_reduce
from tui_eval.statistics.estimates import ClusteredSample, Sample, percentile, reduce_passes
from tui_eval.statistics.intervals import wilson

# k, n, low, high as scipy 1.17 computes them (binomtest(k, n).proportion_ci(method="wilson"))
REFERENCE = [
    (286, 1319, 0.1954313944055889, 0.23987508543066718),
    (515, 1319, 0.3644740968441599, 0.4170567902678588),
    (458, 1319, 0.32201685382696354, 0.3733359057098653),
    (742, 1319, 0.5356326528399583, 0.5890988475978164),
]


@pytest.mark.parametrize(("k", "n", "low", "high"), REFERENCE)
def test_wilson_agrees_with_the_reference(k: int, n: int, low: float, high: float) -> None:
    assert wilson(k / n, n) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(("k", "n", "low", "high"), REFERENCE)
def test_a_sample_of_verdicts_has_the_wilson_interval(
    k: int, n: int, low: float, high: float
) -> None:
    sample = Sample()
    for i in range(n):
        sample.add(1.0 if i < k else 0.0)
    assert sample.interval95 == pytest.approx((low, high), abs=1e-9)
    assert sample.mean == pytest.approx(k / n)


def test_wilson_reaches_the_ends_exactly() -> None:
    assert wilson(0.0, 10)[0] == 0.0
    assert wilson(1.0, 10)[1] == 1.0
    assert wilson(1.0, 10)[0] == pytest.approx(0.7224672, abs=1e-6)


@given(st.integers(1, 500), st.data())
def test_wilson_holds_the_rate_and_stays_within_bounds(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    low, high = wilson(k / n, n)
    assert 0.0 <= low <= k / n <= high <= 1.0


def test_the_error_of_a_mean_is_s_over_root_n() -> None:
    sample = Sample()
    for value in (0.1, 0.4, 0.4, 0.9):
        sample.add(value)
    # s² = Σ(x − 0.45)²/3 = 0.11; √(0.11/4)
    assert sample.stderr == pytest.approx(math.sqrt(0.11 / 4))
    assert sample.interval95 == pytest.approx(
        (0.45 - 1.959963984540054 * math.sqrt(0.0275), 0.45 + 1.959963984540054 * math.sqrt(0.0275))
    )


def test_an_interval_never_leaves_zero_to_one() -> None:
    sample = Sample()
    for value in (0.5, 1.0, 1.0):
        sample.add(value)
    assert sample.interval95 is not None
    assert sample.interval95[1] == 1.0


def test_weights_move_the_mean_and_lower_the_effective_number() -> None:
    sample = Sample()
    sample.add(1.0, 3.0)
    sample.add(0.0, 1.0)
    assert sample.mean == 0.75
    assert sample.effective_n == pytest.approx(16 / 10)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.1, 10))
def test_equal_weights_change_nothing(values: list[float], weight: float) -> None:
    plain, weighted = Sample(), Sample()
    for value in values:
        plain.add(value)
        weighted.add(value, weight)
    assert weighted.mean == pytest.approx(plain.mean)
    assert weighted.stderr == pytest.approx(plain.stderr, abs=1e-6)
    assert weighted.effective_n == pytest.approx(plain.n)


def test_nothing_has_no_rate_and_one_case_no_error() -> None:
    sample = Sample()
    assert (sample.mean, sample.stderr, sample.interval95) == (None, None, None)
    sample.add(0.5)
    assert (sample.mean, sample.stderr, sample.interval95) == (0.5, None, None)


def test_cases_that_weigh_nothing_have_no_rate() -> None:
    sample = Sample()
    sample.add(1.0, 0.0)
    assert (sample.mean, sample.interval95) == (None, None)


@pytest.mark.parametrize(
    ("text", "passed", "n", "value"),
    [
        ("mean", 1, 4, 0.25),
        ("max", 1, 4, 1.0),
        ("max", 0, 4, 0.0),
        ("majority", 2, 4, 0.0),
        ("majority", 3, 4, 1.0),
        ("at_least_2", 2, 4, 1.0),
        ("at_least_3", 2, 4, 0.0),
        ("at_least_3", 2, 2, None),
        ("pass@1", 1, 4, 0.25),
        ("pass@2", 1, 4, 0.5),
        ("pass@4", 1, 4, 1.0),
        ("pass@5", 1, 4, None),
        ("pass^1", 3, 4, 0.75),
        ("pass^2", 3, 4, 0.5),
        ("pass^4", 3, 4, 0.0),
        ("pass^4", 4, 4, 1.0),
        ("mean", 0, 0, None),
    ],
)
def test_epochs_become_one_value(text: str, passed: int, n: int, value: float | None) -> None:
    assert reduce_passes(passed, n, parse_reduce(text)) == value


@given(st.integers(1, 8), st.data())
def test_pass_at_k_and_pass_hat_k_are_shares_of_all_draws(n: int, data: st.DataObject) -> None:
    passed, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([True] * passed + [False] * (n - passed), k))
    some = sum(any(draw) for draw in draws) / len(draws)
    every = sum(all(draw) for draw in draws) / len(draws)
    assert reduce_passes(passed, n, Reduce("pass@", k)) == pytest.approx(some)
    assert reduce_passes(passed, n, Reduce("pass^", k)) == pytest.approx(every)


def test_percentiles_interpolate() -> None:
    assert percentile([], 0.5) is None
    assert percentile([2.0], 0.95) == 2.0
    assert percentile([1.0, 2.0, 3.0, 4.0], 0.5) == 2.5
    assert percentile([float(i) for i in range(101)], 0.95) == pytest.approx(95.0)


def test_an_error_over_clusters_is_that_of_their_sums() -> None:
    sample = ClusteredSample()
    for value, cluster in ((1, "a"), (1, "a"), (0, "b"), (0, "b"), (1, "c"), (0, "c")):
        sample.add(float(value), 1.0, cluster)
    # by hand: m = 1/2, cluster sums of x − m are 1, −1, 0: √(3/2·2)/6
    assert sample.stderr_clustered == pytest.approx(math.sqrt(3) / 6)
    assert sample.clusters == 3
    # 1/2 ± 4.302653 (t of 2 degrees of freedom) × 0.288675 reaches past both ends
    assert sample.interval95 == (0.0, 1.0)


def test_cases_alone_in_their_clusters_have_the_error_of_cases_and_t_of_few() -> None:
    plain, alone = Sample(), ClusteredSample()
    for number, value in enumerate((0.1, 0.4, 0.4, 0.9)):
        plain.add(value, 2.0)
        alone.add(value, 2.0, None if number else "one")
    assert alone.stderr_clustered == pytest.approx(plain.stderr)
    assert alone.interval95 is not None
    # t(0.975; 3) as scipy 1.17 has it
    assert alone.interval95[0] == pytest.approx(
        max(0.45 - 3.182446305284263 * math.sqrt(0.11 / 4), 0)
    )


def test_values_that_are_all_alike_are_no_certainty() -> None:
    """Of 40 cases that each passed in 7 of 10 epochs, as of 40 verdicts with that rate."""
    sample = Sample()
    for _ in range(40):
        sample.add(0.7, 0.3)
    assert sample.interval95 == pytest.approx(wilson(0.7, 40))
    sample.add(0.71, 0.3)
    low, high = sample.interval95 or (0.0, 0.0)
    assert high - low == pytest.approx(2 * 1.96 * (sample.stderr or 0.0), rel=1e-3)
    assert high - low < 0.001


def test_clusters_that_all_came_to_the_same_are_no_certainty() -> None:
    sample = ClusteredSample()
    for number in range(100):
        sample.add(1.0, 1.0, str(number % 10))
    assert sample.interval95 == wilson(1.0, 10)
    one = ClusteredSample()
    one.add(1.0, 1.0, "a")
    one.add(0.0, 1.0, "a")
    assert (one.stderr_clustered, one.interval95) == (None, None)


@given(
    st.lists(
        st.tuples(
            st.sampled_from((0.0, 0.5, 1.0)),
            st.sampled_from((0.0, 1.0, 2.5)),
            st.sampled_from((None, "a", "b")),
            st.integers(1, 3),
        ),
        max_size=12,
    ),
    st.integers(0, 12),
)
def test_a_sample_of_two_parts_is_the_sample_of_all(
    cases: list[tuple[float, float, str | None, int]], at: int
) -> None:
    for kind in (Sample, ClusteredSample):
        whole, together = kind(), kind()
        for value, weight, cluster, times in cases:
            for _ in range(times):
                whole.add(value, weight, cluster)
        for part in (cases[:at], cases[at:]):
            one = kind()
            for case in part:
                one.add(*case)
            together.add_sums(json.loads(json.dumps(one.sums())))
        assert (together.n, together.weight, together.clusters) == (
            whole.n, whole.weight, whole.clusters
        )  # fmt: skip
        for figure in ("mean", "stderr", "stderr_clustered", "effective_n", "interval95"):
            assert getattr(together, figure) == pytest.approx(getattr(whole, figure), abs=1e-7)
