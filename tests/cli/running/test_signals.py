from tui_eval.cli.running.signals import TOGETHER_S, StopSignals


def test_signals_that_come_together_are_one() -> None:
    stops = StopSignals()
    assert [stops.count(now) for now in (0.0, 0.01, TOGETHER_S - 0.01)] == [1, None, None]


def test_a_signal_that_comes_later_counts() -> None:
    stops = StopSignals()
    times = (5.0, 5.0 + TOGETHER_S, 5.1 + TOGETHER_S, 9.0)
    assert [stops.count(now) for now in times] == [1, 2, None, 3]
