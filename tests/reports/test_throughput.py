"""How fast a run goes: the same whoever looks."""

import pytest

from tui_eval.reports.throughput import Meter, TimeLeft, mean_rate
from tui_eval.store.read.run_counts import Counts


def seen(meter: Meter, now: float, value: float) -> float | None:
    meter.see(now, value)
    return meter.rate()


def test_a_rate_is_of_the_last_seconds() -> None:
    meter = Meter()
    assert seen(meter, 0.0, 0) is None
    assert seen(meter, 1.0, 10) == 10.0
    for second in range(2, 20):
        last = seen(meter, float(second), 10 + second)
    assert last == 1.0


def test_the_rate_of_a_slow_run_does_not_jump() -> None:
    meter = Meter()
    told = [seen(meter, float(second), second // 20) for second in range(2000)][500:]
    assert all(each is not None and each == pytest.approx(0.05, rel=0.15) for each in told)
    assert seen(meter, 2000.0, 10) is None  # a retry took some back
    assert seen(meter, 2001.0, 11) == 1.0


def test_the_time_left_is_that_of_the_slowest_target() -> None:
    left = TimeLeft()
    for second in range(40):
        quick, slow = min(1000, 50 * second), 2 * second
        whole = Counts(total=2000, done=quick + slow)
        left.see(float(second), whole, {0: Counts(1000, done=quick), 1: Counts(1000, done=slow)})
        told = left.seconds()
        if second < 3:
            assert told is None, "a moment after the start nobody knows"
        else:
            assert told == pytest.approx((1000 - slow) / 2, rel=0.1)


def test_no_time_is_left_where_all_is_settled_and_none_known_where_nothing_comes() -> None:
    left, through, stuck = TimeLeft(), Counts(total=9, done=9), Counts(total=9)
    for second in range(9):
        left.see(float(second), through, {0: through})
    assert left.seconds() is None
    for second in range(9, 18):
        left.see(float(second), stuck, {0: stuck})
    assert left.seconds() is None


def test_what_came_from_the_store_was_not_answered() -> None:
    counts = Counts(total=100, done=60, scoring=10, error=5, cached=40, queued=25)
    assert counts.answered == 30
    assert mean_rate(counts.answered, 10.0) == 3.0
    assert mean_rate(counts.answered, 0.1) is None
