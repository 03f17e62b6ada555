import random
from collections import Counter
from typing import TypeAlias

import pytest

from tui_eval.statistics.corrected import (
    CorrectedRate,
    GradedShare,
    GradedVerdict,
    corrected_by_gold,
    corrected_by_grades,
    independence,
    independence_of_verdicts,
)

Halves: TypeAlias = list[list[tuple[bool, bool, int]]]


def found(corrected: CorrectedRate | None) -> CorrectedRate:
    assert corrected is not None
    return corrected


def test_the_rate_by_grades_is_that_of_its_parts() -> None:
    corrected = corrected_by_grades(700, 1000, GradedShare(40, 50), GradedShare(5, 50))
    assert corrected.rate == pytest.approx(0.7 * 0.8 + 0.3 * 0.1)
    low, high = corrected.interval95
    # by hand: Wilson of 40/50 (0.6696, 0.8876) and of 5/50 (0.0435, 0.2136)
    below = ((0.7 * (0.8 - 0.66963)) ** 2 + (0.3 * (0.1 - 0.04348)) ** 2 + 0.000395281) ** 0.5
    assert low == pytest.approx(0.59 - below, abs=1e-4)
    assert high > corrected.rate


def test_a_judge_that_is_always_right_is_not_corrected() -> None:
    corrected = corrected_by_grades(60, 100, GradedShare(50, 50), GradedShare(0, 50))
    assert corrected.rate == pytest.approx(0.6)
    assert found(
        corrected_by_gold(0.6, 100, GradedShare(50, 50), GradedShare(50, 50))
    ).rate == pytest.approx(0.6)


def test_the_interval_by_gold() -> None:
    corrected = found(corrected_by_gold(0.7, 1000, GradedShare(45, 50), GradedShare(40, 50)))
    assert corrected.rate == pytest.approx((0.7 + 0.8 - 1) / (0.8 + 0.9 - 1))
    # the formula of Lee et al. worked out apart from this code
    assert corrected.interval95 == pytest.approx((0.616565176, 0.840869197), abs=1e-8)


def test_a_judge_no_better_than_chance_says_nothing() -> None:
    assert corrected_by_gold(0.7, 100, GradedShare(25, 50), GradedShare(25, 50)) is None


def test_intervals_hold_what_they_say() -> None:
    """Of 300 made-up runs nearly all intervals hold the rate that people would have given."""
    rng = random.Random(11)
    held = 0
    for _ in range(300):
        judged = [(rng.random() < 0.7) for _ in range(400)]
        people = [rng.random() < (0.9 if judge else 0.2) for judge in judged]
        passed = [p for j, p in zip(judged, people, strict=True) if j]
        failed = [p for j, p in zip(judged, people, strict=True) if not j]
        shares = [GradedShare(sum(one), 50) for one in (passed[:50], failed[:50])]
        low, high = corrected_by_grades(len(passed), 400, *shares).interval95
        held += low <= 0.7 * 0.9 + 0.3 * 0.2 <= high
    assert 0.92 <= held / 300 <= 1.0


def test_intervals_hold_over_cases_that_were_asked_several_times() -> None:
    """Of 200 runs of 60 cases and 8 epochs; where each output counts as one, far fewer do."""
    rng = random.Random(3)
    held = plain = 0
    for _ in range(200):
        good = [rng.random() < 0.55 for _ in range(60)]
        people = [(rng.random() < (0.9 if good[case] else 0.1), case) for case in [*range(60)] * 8]
        outputs = [(said == (rng.random() < 0.85), said, case) for said, case in people]
        passed_of = Counter(case for judged, _, case in outputs if judged)
        rng.shuffle(outputs)
        halves = [[one for one in outputs if one[0] is judged][:40] for judged in (True, False)]
        passed = passed_of.total()
        each = independence([GradedVerdict(*one) for half in halves for one in half], passed / 480)
        all_ = independence_of_verdicts((passed_of[case], 8) for case in range(60))
        assert each is not None and all_ is not None

        def holds(each: float, all_: float, halves: Halves = halves, passed: int = passed) -> bool:
            shares = [GradedShare(sum(one[1] for one in half), 40, each) for half in halves]
            low, high = corrected_by_grades(passed, 480, *shares, counts=all_).interval95
            return low <= 0.55 * 0.9 + 0.45 * 0.1 <= high

        held, plain = held + holds(each, all_), plain + holds(1.0, 1.0)
    assert plain / 200 < 0.85 < 0.92 < held / 200


def test_outputs_that_are_each_a_unit_count_whole() -> None:
    graded = [GradedVerdict(n % 2 == 0, n % 3 == 0, n) for n in range(12)]
    assert independence(graded, 0.5) == 1.0
    assert independence_of_verdicts([(1, 1), (0, 1), (1, 1)]) == 1.0


def test_units_that_are_all_alike_inside_count_as_one_each() -> None:
    counts = independence_of_verdicts([(4, 4)] * 300 + [(0, 4)] * 300)
    assert counts == pytest.approx(1 / 4, rel=0.01)
    same = independence([GradedVerdict(True, True, n // 4) for n in range(2400)], 0.5)
    assert same == pytest.approx(1 / 4, rel=0.01)


def test_one_unit_says_nothing() -> None:
    assert independence([GradedVerdict(True, True, "a")] * 5, 0.5) is None
    assert independence_of_verdicts([(3, 5)]) is None
