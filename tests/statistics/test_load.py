import pytest

from tui_eval.model.runs.sweep_plan import SweepCall
from tui_eval.statistics.load import LevelLoad, knee, level_load


def closed(level: int, calls: int, took_s: float, *, tokens: int | None = 10) -> list[SweepCall]:
    """Give the calls of so many slots, each of which makes one call after the other."""
    return [
        SweepCall(n // level * took_s, took_s, True, False, tokens, counted=n >= level)
        for n in range(level + calls)
    ]


@pytest.mark.parametrize(("level", "calls"), [(1, 20), (6, 20), (10, 30), (7, 100)])
def test_calls_in_waves_are_as_many_a_second_as_there_are_slots(level: int, calls: int) -> None:
    load = level_load(level, closed(level, calls, 0.5))
    assert load.calls == calls
    assert load.calls_s == pytest.approx(2 * level)
    assert load.tokens_s == pytest.approx(20 * level)
    assert load.in_flight == pytest.approx(level)
    assert (load.p50_s, load.p95_s) == (0.5, 0.5)


def test_calls_that_end_one_by_one_are_counted_by_the_share_within() -> None:
    """Two slots, the second half a call behind the first: nothing changes."""
    calls = [
        SweepCall(begun, 1.0, True, False, None, counted=begun >= 1)
        for begun in (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
    ]
    load = level_load(2, calls)
    assert load.calls_s == pytest.approx(2)
    assert load.tokens_s is None  # nobody told


def test_errors_are_no_throughput_and_have_an_interval() -> None:
    calls = [
        SweepCall(n * 0.1, 0.1, n % 4 > 0, n % 4 == 0 and n < 8, 1, counted=True) for n in range(20)
    ]
    load = level_load(1, calls)
    assert (load.errors, load.refused) == (5, 2)
    assert load.calls_s == pytest.approx(14 / 1.9)  # of the first 19 calls 5 were errors
    assert load.error_ci95 == pytest.approx((0.1119, 0.4687), abs=1e-4)
    assert load.too_much(0.24)
    assert not load.too_much(0.25)


def test_of_no_calls_nothing_is_said() -> None:
    load = level_load(4, [])
    assert (load.calls_s, load.p50_s, load.error_ci95, load.in_flight) == (None, None, None, None)
    assert level_load(1, closed(1, 1, 0.5)).calls_s is None  # no time between first and last


def load(level: int, calls_s: float | None, errors: int = 0) -> LevelLoad:
    return LevelLoad(level, 100, errors, 0, calls_s, None, None, None, None)


def test_the_knee_is_the_lowest_level_that_gives_nearly_as_much_as_the_best() -> None:
    # an endpoint that works on 16 calls at once and lets the others wait
    queueing = [load(level, min(level, 16) * 10) for level in (1, 8, 15, 16, 32, 64)]
    assert knee(queueing, 0.05) == 15
    assert knee(queueing[:2], 0.05) == 8
    # one that becomes slower where more wait
    assert knee([load(1, 10), load(10, 80), load(50, 60)], 0.05) == 10


def test_a_level_with_too_many_errors_is_neither_the_knee_nor_the_best() -> None:
    levels = [load(1, 10), load(10, 90, errors=5), load(50, 400, errors=6)]
    assert knee(levels, 0.05) == 10
    assert knee(levels, 0.06) == 50
    assert knee([load(1, 10, errors=50), load(10, None)], 0.05) is None
