import random

import pytest

from tui_eval.statistics.intervals import mean_interval, wilson


def test_the_mean_of_one_rate_has_its_interval() -> None:
    assert mean_interval([0.8], [(0.6, 0.9)]) == pytest.approx((0.6, 0.9))


def test_the_interval_of_a_mean_is_narrower_and_keeps_its_asymmetry() -> None:
    low, high = mean_interval([1.0, 1.0], [wilson(1.0, 20), wilson(1.0, 20)])
    assert wilson(1.0, 20)[0] < low < 1.0
    assert high == 1.0


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    drawn = random.Random(7)
    truths, n, repeats = (0.95, 0.6, 0.3), 40, 2000
    held = 0
    for _ in range(repeats):
        rates = [sum(drawn.random() < p for _ in range(n)) / n for p in truths]
        low, high = mean_interval(rates, [wilson(rate, n) for rate in rates])
        held += low <= sum(truths) / len(truths) <= high
    assert 0.93 < held / repeats < 0.98
