"""What charts are drawn from, against what can be worked out by hand."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import output, writing
from tests.ui.playing import by_hand
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure
from tui_eval.store.connection import open_readable
from tui_eval.store.read.charts import distributions
from tui_eval.store.read.charts.timeline import timeline
from tui_eval.ui.run.charts.chart_data import CHARTS

START = 1_000.0


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A run of two columns: four cases, the first two with a tag; calls at known moments."""
    store = tmp_path / "s.sqlite3"
    cases = [Case(i, f"c{i}", {}, tags=("early",) if i < 2 else ()) for i in range(4)]
    failure = Failure("rate_limit", "slow down", status=429)
    answers = [output(f"o{i}", latency_s=float(i + 1)) for i in range(7)]
    by_hand(store, cases, answers=[*answers, failure], columns=("one", "two"), reasons=["no"])
    with writing(store) as db:
        # sent one second after the other, each for two seconds: two are always in flight
        db.execute(
            "UPDATE attempts SET sent_at = ? + (SELECT place FROM trials t WHERE t.id = trial), "
            "call_s = 2.0, cost_usd = CASE state WHEN 'answered' THEN 0.5 END",
            (START,),
        )
        db.execute("UPDATE columns SET endpoint = name")
        db.execute("DELETE FROM limits")
        db.execute(
            "INSERT INTO judge_calls (run, scorer, judge, purpose, round, try, items, request, "
            "state, sent_at, call_s, error_kind, cost_usd) "
            "VALUES (1, 's', 'j', 'grade', 'first', 1, 2, '{}', 'failed', ?, 3.0, 'rate_limit', 7)",
            (START + 4,),
        )
        db.executemany(
            "INSERT INTO limits (run, endpoint, concurrency, kind, at) "
            "VALUES (1, ?, ?, 'start', ?)",
            [("one", 4, START), ("one", 2, START + 4.5), ("judge j", 9, START)],
        )
        db.commit()
    db = open_readable(store)
    yield db
    db.close()


def test_a_run_is_cut_into_parts_of_time(db: sqlite3.Connection) -> None:
    found = timeline(db, 1, 9, now=0.0)
    assert found is not None
    assert (found.time.start, found.time.gaps, found.part_s) == (START, (), 1.0)
    assert list(found.answered) == [0, 0, 1, 1, 1, 1, 1, 1, 1]
    assert list(found.failed) == [0] * 8 + [1]
    one, two, judge = found.lanes
    assert (one.names, two.names, judge.names) == (["one"], ["two"], ["judge j"])
    assert (sum(one.limited), list(two.limited), sum(judge.limited)) == (0, [0] * 8 + [1], 1)
    assert one.in_flight == pytest.approx([1, 1, 1, 1, 1, 1, 1, 1, 0])
    assert two.in_flight == pytest.approx([0, 1, 1, 1, 1, 1, 1, 1, 1])
    assert judge.in_flight == pytest.approx([0, 0, 0, 0, 1, 1, 1, 0, 0])
    assert list(one.slots) == [4, 4, 4, 4, 2, 2, 2, 2, 2]
    assert list(two.slots) == [None] * 9
    assert list(judge.slots) == [9] * 9
    assert [name for name, _ in found.costs] == ["one", "two", "judges"]
    assert [spent[-1] for _, spent in found.costs] == [2.0, 1.5, 7.0]
    assert found.unpriced == 0


def test_time_without_an_engine_is_left_out(db: sqlite3.Connection, tmp_path: Path) -> None:
    day = 86_400.0
    with writing(tmp_path / "s.sqlite3") as changing:
        # five calls, the last until second 6; a day; the others, a second later than otherwise
        for table, at in (("attempts", "sent_at"), ("limits", "at")):
            changing.execute(f"UPDATE {table} SET {at} = {at} + ? WHERE {at} > ?", (day, START + 4))
        changing.execute("UPDATE judge_calls SET call_s = 1.0")
        changing.execute("UPDATE runs SET wall_s = 10.0, active_s = 0, active_since = NULL")
        changing.commit()
    found = timeline(db, 1, 10, now=0.0)
    assert found is not None
    assert (found.time.left_out_s, found.part_s) == (day - 1, 1.0)
    assert list(found.answered) == [0, 0, 1, 1, 1, 1, 1, 0, 1, 1]
    assert list(found.failed) == [0] * 9 + [1]
    assert list(found.lanes[0].slots) == [4] * 6 + [2] * 4
    assert sum(found.lanes[0].in_flight) + sum(found.lanes[1].in_flight) == pytest.approx(16)


def test_a_pause_of_an_engine_that_goes_on_is_no_gap(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    with writing(tmp_path / "s.sqlite3") as changing:
        later = "UPDATE attempts SET sent_at = sent_at + 600 WHERE sent_at > ?"
        changing.execute(later, (START + 4,))
        changing.execute("UPDATE runs SET wall_s = 609.0, active_s = 0, active_since = NULL")
        changing.commit()
    found = timeline(db, 1, 9, now=0.0)
    assert found is not None
    assert found.time.gaps == ()
    assert found.part_s == pytest.approx(609.0 / 9)


def test_what_is_in_flight_is_so_until_now(db: sqlite3.Connection, tmp_path: Path) -> None:
    with writing(tmp_path / "s.sqlite3") as own:
        own.execute("UPDATE attempts SET state = 'sent', call_s = NULL WHERE id = 1")
        own.commit()
    found = timeline(db, 1, 10, now=START + 20)
    assert found is not None
    assert found.part_s == 2.0
    assert found.lanes[0].in_flight[-1] == pytest.approx(1)


def test_a_judge_that_is_asked_last_has_its_time_too(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    with writing(tmp_path / "s.sqlite3") as own:
        own.execute("UPDATE judge_calls SET sent_at = ?, call_s = 8.0", (START + 10,))
        own.commit()
    found = timeline(db, 1, 9, now=0.0)
    assert found is not None
    assert found.part_s == 2.0
    assert found.lanes[-1].in_flight == pytest.approx([0, 0, 0, 0, 0, 1, 1, 1, 1])
    assert max(found.lanes[0].in_flight) == pytest.approx(1)


def test_where_all_calls_were_lost_there_are_charts_all_the_same(
    db: sqlite3.Connection, tmp_path: Path
) -> None:
    with writing(tmp_path / "s.sqlite3") as own:
        for calls in ("attempts", "judge_calls"):
            own.execute(f"UPDATE {calls} SET state = 'lost', call_s = NULL")
        own.commit()
    found = timeline(db, 1, 9, now=0.0)
    assert found is not None
    assert [name for lane in found.lanes for name in lane.names] == ["one", "two", "judge j"]
    assert not any(sum(lane.in_flight) for lane in found.lanes)
    for draw in CHARTS.values():
        assert draw(db, 1, 40)


def test_latencies_have_the_quantiles_that_reports_have(db: sqlite3.Connection) -> None:
    found = distributions.latencies(db, 1, 7)
    assert found is not None
    assert found.part_s == 1.0
    assert list(found.counts) == [0, 1, 1, 1, 1, 1, 2]  # the longest is in the last part
    assert found.p50_s == 4.0
    assert found.p95_s == pytest.approx(6.7)
    assert found.columns == [("one", 4, 4.0, pytest.approx(6.7)), ("two", 3, 4.0, 5.8)]


def test_a_few_that_took_very_long_do_not_squeeze_the_others(tmp_path: Path) -> None:
    store = tmp_path / "long.sqlite3"
    cases = [Case(i, f"c{i}", {}) for i in range(300)]
    answers = [output(f"o{i}", latency_s=600.0 if i == 0 else 1.0) for i in range(300)]
    by_hand(store, cases, answers=answers)
    db = open_readable(store)
    found = distributions.latencies(db, 1, 10)
    db.close()
    assert found is not None
    assert found.part_s * 10 < 2
    assert found.counts[-1] == 1
    assert found.longest_s == 600.0


def test_scores_are_spread_by_target_and_by_tag(db: sqlite3.Connection) -> None:
    one, two = distributions.scores_by_target(db, 1)
    assert (one.name, one.counts[0], one.counts[-1], one.mean) == ("one", 1, 3, 0.75)
    assert (two.name, two.n) == ("two", 3)  # what errored has no score
    (early,) = distributions.scores_by_tag(db, 1)
    assert (early.name, early.n, early.mean) == ("early", 4, 0.75)


def test_a_run_without_calls_has_no_timeline(tmp_path: Path) -> None:
    store = tmp_path / "empty.sqlite3"
    by_hand(store, [], answers=[])
    db = open_readable(store)
    assert timeline(db, 1, 10, now=0.0) is None
    assert distributions.latencies(db, 1, 10) is None
    assert distributions.scores_by_tag(db, 1) == []
    db.close()
