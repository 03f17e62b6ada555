"""The time of a process."""

from tui_eval.store.clock import Clock, elapsed


def test_a_clock_that_is_set_moves_no_moment() -> None:
    wall, passed = [1_000.0], [70.0]
    clock = Clock(lambda: wall[0], lambda: passed[0])
    assert clock.now() == 1_000.0
    for jump in (3600.0, -86_400.0):
        wall[0] += jump
        passed[0] += 2.0
    assert clock.now() == 1_004.0


def test_time_only_goes_forward() -> None:
    moments = [elapsed() for _ in range(1000)]
    assert moments == sorted(moments)
