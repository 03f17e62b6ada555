import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.scoring.intervals import wilson
from tui_eval.scoring.judge.agreement import (
    cohen_kappa,
    excess,
    means_by_position,
    spearman,
)


def test_kappa_agrees_with_a_table_worked_by_hand() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: (0.7 - 0.5) / (1 - 0.5)
    pairs = [(1, 1)] * 20 + [(1, 0)] * 5 + [(0, 1)] * 10 + [(0, 0)] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert cohen_kappa([(1, 1), (0, 0)]) == 1
    assert cohen_kappa([(1, 0), (0, 1)]) == -1
    assert cohen_kappa([(1, 1)] * 9) is None
    assert cohen_kappa([]) is None


@pytest.mark.parametrize(
    ("xs", "ys", "rho"),
    [
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


@pytest.mark.parametrize("n", [30, 200])
@pytest.mark.parametrize(("batch", "alone"), [(0.2, 0.2), (0.05, 0.3), (0.5, 0.5), (0.0, 0.1)])
def test_the_interval_holds_the_true_excess_about_as_often_as_it_says(
    n: int, batch: float, alone: float
) -> None:
    """Verdicts differ from the truth by chance, in the batch and alone with a share of its own."""
    draw = random.Random(7)
    differs = batch * (1 - alone) + alone * (1 - batch)
    true = differs - 2 * alone * (1 - alone)
    below = 0
    for _ in range(1000):
        threes = [
            (draw.random() < batch, draw.random() < alone, draw.random() < alone) for _ in range(n)
        ]
        found = excess(threes)
        assert found is not None
        below += true < found.low
    assert below <= 45  # 2.5% are wanted, a little more is chance


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1))
def test_the_interval_is_around_the_excess(threes: list[tuple[bool, bool, bool]]) -> None:
    found = excess(threes)
    assert found is not None
    assert -0.5 - 1e-9 <= found.low <= found.excess + 1e-9
    assert found.excess - 1e-9 <= found.high <= 1


def test_means_stand_by_position() -> None:
    assert means_by_position([(0, 1.0), (2, 4.0), (0, 3.0)]) == [(2, 2.0), (0, 0.0), (1, 4.0)]
    assert means_by_position([]) == []
    assert excess([]) is None
