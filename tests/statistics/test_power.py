import random

import pytest

from tui_eval.statistics.power import cases_needed, smallest_effect, variance_parts


def test_cases_needed() -> None:
    # Connor 1987's formula by hand: (1.959964·√0.2 + 0.841621·√(0.2 − 0.0009))² / 0.0009
    assert cases_needed(0.03, 0.2) == 1742
    assert cases_needed(0.5, 0.2) == cases_needed(0.5, 0.5)  # no fewer differ than the rates do
    assert cases_needed(0.03, 0.2, power=0.9) > cases_needed(0.03, 0.2)


@pytest.mark.parametrize("n", [50, 164, 1319, 100_000])
def test_the_smallest_effect_is_the_one_whose_cases_there_are(n: int) -> None:
    effect = smallest_effect(n, 0.2)
    assert effect is not None
    assert cases_needed(effect, 0.2) <= n
    assert cases_needed(effect * 0.999, 0.2) > n - 1


def test_too_few_cases_show_nothing() -> None:
    assert smallest_effect(0, 0.2) is None
    assert smallest_effect(2, 0.2) is None


def test_parts_of_a_variance_that_is_known() -> None:
    rng = random.Random(3)
    cases = []
    for _ in range(4000):
        rate = rng.choice((0.2, 0.8))  # between: 0.09; within: 0.16
        cases.append((sum(rng.random() < rate for _ in range(5)), 5))
    parts = variance_parts(cases)
    assert parts is not None
    assert parts.between == pytest.approx(0.09, abs=0.005)
    assert parts.within == pytest.approx(0.16, abs=0.005)
    assert parts.stderr(5) == pytest.approx(((parts.between + parts.within / 5) / 4000) ** 0.5)


def test_variance_of_one_epoch_cannot_be_split() -> None:
    assert variance_parts([(1, 1), (0, 1)]) is None
    assert variance_parts([(1, 2)]) is None
