"""How fast a run goes, as the Run screen says it."""

from pathlib import Path

import pytest

from tests.support import reading
from tests.ui.playing import plain_run
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.read.trials.trial_queries import RecentActivity
from tui_eval.ui.run.head.pace import RunPace, sparkline


def look(pace: RunPace, now: float, done: int) -> None:
    """See a run of one column with a thousand trials."""
    counts = Counts(total=1000, done=done)
    pace.see(now, counts, {0: counts})


def test_pace_says_nothing_too_early() -> None:
    pace = RunPace()
    assert pace.per_second() is None
    look(pace, 10.0, 0)
    look(pace, 10.1, 5)
    assert pace.per_second() is None
    assert pace.left() is None


def test_pace_is_of_the_last_seconds() -> None:
    pace = RunPace()
    for second in range(60):
        look(pace, 100.0 + second, second * 2 if second < 30 else 60 + (second - 30) * 10)
    rate = pace.per_second()
    assert rate == pytest.approx(10.0)
    assert pace.left() == pytest.approx(65.0)
    assert pace.history(160.0, 3) == [10, 10, 10]


def test_a_retry_does_not_turn_the_pace_round() -> None:
    pace = RunPace()
    for second in range(5):
        look(pace, float(second), 10 * second)
    look(pace, 5.0, 12)
    look(pace, 6.0, 14)
    assert pace.per_second() == pytest.approx(2.0)  # what came before superseded
    assert pace.history(7.0, 7) == [10, 10, 10, 10, 0, 2]


def test_sparklines_reach_from_the_lowest_to_the_highest() -> None:
    assert sparkline([0, 1, 4, 8], "▁▂▃▄▅▆▇█") == "▁▂▅█"
    assert sparkline([0, 0], "▁█") == ""
    assert sparkline([], "▁█") == ""


def test_the_pace_of_the_last_minute_is_known_at_once() -> None:
    pace = RunPace()
    by_age = dict.fromkeys(range(30), (5, 0.1))
    look(pace, 1000.0, 400)
    pace.recall(1000.0, RecentActivity(60, by_age, 400, 9.0, 400))
    assert pace.per_second() == pytest.approx(5.0)
    assert pace.left() == pytest.approx(120.0)
    assert pace.usd_per_minute() == pytest.approx(3.0)
    assert pace.history(1000.0, 40) == [0] * 10 + [5] * 30
    look(pace, 1001.0, 405)
    assert pace.per_second() == pytest.approx(5.0)


def test_the_pace_of_a_run_that_has_just_begun_is_of_that_time_alone() -> None:
    pace = RunPace()
    pace.recall(1000.0, RecentActivity(2, {0: (8, 0.0), 1: (8, 0.0)}, 16, None, 16))
    assert pace.per_second() == pytest.approx(8.0)
    pace.recall(1000.0, RecentActivity(0, {}, 0, 0.0))
    assert pace.per_second() is None


def test_what_happened_lately_is_read_from_the_store(store: Path) -> None:
    made = plain_run(store, 20)
    with reading(store) as db:
        now = max(row[0] for row in db.execute("SELECT since FROM trials"))
        found = trial_queries.recent_activity(db, made.run, now + 3.5, 60)
        assert found.seconds == 60
        assert sum(n for n, _ in found.by_age.values()) == 20
        assert min(found.by_age) == 3
        assert sum(usd for _, usd in found.by_age.values()) == pytest.approx(0.02)
        assert found.settled == 20
        assert found.cost_usd == pytest.approx(0.02)
        assert trial_queries.recent_activity(db, made.run, now + 100, 60).by_age == {}
