import json
import sqlite3
from array import array
from pathlib import Path

import pytest

from tests.reports.filled import CANCELLED, ERROR, FAIL, OPEN, Plan, Told, cases, filled
from tests.store.fates import finish
from tests.support import Staged, do, new_run, score, stage, staged
from tui_eval.model.case import Case
from tui_eval.model.outputs.finish import Ending
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Tally
from tui_eval.model.states import RunState, Verdict
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.figures import chunk_queries
from tui_eval.store.read.figures.chunk_queries import ScorerRow
from tui_eval.store.read.report_queries import ErrorRow
from tui_eval.store.search.views import TrialOutcome
from tui_eval.store.write import attempt_writes, run_writes, score_writes, trial_moves, trial_verbs
from tui_eval.store.write.run_writes import NewTrial

SURROGATE = "a\ud800b"
ALL = range(1 << 40)


def test_text_that_utf8_cannot_hold_comes_back_to_the_letter(tmp_path: Path) -> None:
    case = Case(0, SURROGATE, {}, tags=(SURROGATE,), weight=2.0)
    with filled(tmp_path / "store.db", Plan({"gpt": [Told(text=SURROGATE)]}, [case])) as (db, run):
        (line,) = report_queries.lines(db, run)
        ((_, _, weight, tags, *_),) = chunk_queries.grades(db, run, ALL)
        of_case = report_queries.lines_of_case(db, run, SURROGATE)
    assert (line.case_id, line.text, line.tags) == (SURROGATE, SURROGATE, (SURROGATE,))
    assert (weight, json.loads(tags or "")) == (2.0, [SURROGATE])
    assert of_case == [line]


def test_settled_trials_are_told_once_between_two_changes(tmp_path: Path) -> None:
    told = [Told(), ERROR, CANCELLED, OPEN]
    plan = Plan({"gpt": told}, cases(4), state=RunState.RUNNING)
    with filled(tmp_path / "store.db", plan) as (db, run):
        newest = run_queries.change(db)
        since_the_start = [
            line.case_id for line in report_queries.lines_settled(db, run, 0, newest)
        ]
        since_then = list(report_queries.lines_settled(db, run, newest, newest))
    assert since_the_start == ["case-0", "case-1", "case-2"]
    assert since_then == []


def test_more_than_a_page_of_one_change_is_told_whole(tmp_path: Path) -> None:
    with filled(tmp_path / "store.db", Plan({"gpt": [Told()] * 1100}, cases(1100))) as (db, run):
        settled = list(report_queries.lines_settled(db, run, 0, run_queries.change(db)))
    assert [line.place for line in settled] == list(range(1100))


def test_figures_of_one_moment_do_not_see_what_comes_after(tmp_path: Path) -> None:
    with filled(tmp_path / "store.db", Plan({"gpt": [Told(), Told(FAIL)]}, cases(2))) as (db, run):
        with report_queries.moment(db):
            before = run_queries.tallies(db, run)
            writing = sqlite3.connect(tmp_path / "store.db")
            writing.execute("UPDATE trials SET verdict = 'fail'")
            writing.commit()
            writing.close()
            assert run_queries.tallies(db, run) == before
        assert run_queries.tallies(db, run) != before


def test_scores_are_counted_by_column_scorer_and_verdict(tmp_path: Path) -> None:
    told = {"a": [Told(), Told(scorer="other")], "b": [Told(FAIL), ERROR]}
    with filled(tmp_path / "store.db", Plan(told, cases(2))) as (db, run):
        found = {
            (row.col, row.scorer, row.verdict.value): row.n
            for row in chunk_queries.scorers(db, run, ALL)
        }
        names = report_queries.scorer_names(db, run)
    assert found == {(0, "exact", "pass"): 1, (1, "exact", "fail"): 1, (0, "other", "pass"): 1}
    assert names == ["exact", "other"]


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    """Three cases in two columns: passed, failed, ungraded, errors, and one that is open."""
    made = staged(db, 3, columns=2)
    finish(db, made.trials[0], score(), score(True, "regex"), latency_s=3.0)
    finish(db, made.trials[2], score(False), score(True, "regex"), latency_s=1.0)
    finish(db, made.trials[4], score(None), finish_reason="length", latency_s=2.0)
    failure = Failure("timeout", "no answer")
    do(
        db,
        lambda tx: [trial_moves.fail_trial(tx, made.trials[place], failure) for place in (1, 3)],
    )
    return made


def test_grades_stream_by_case_column_and_epoch(db: sqlite3.Connection, made: Staged) -> None:
    rows = list(chunk_queries.grades(db, made.run, ALL))
    assert [row[:2] for row in rows] == [(s, c) for s in range(3) for c in range(2)]
    assert rows[0] == (0, 0, 1.0, None, None, "done", "pass", 1.0)
    assert rows[5] == (2, 1, 1.0, None, None, "queued", None, None)
    assert list(chunk_queries.grades(db, made.run, range(1, 2))) == rows[2:4]


def test_grades_come_with_weight_tags_and_cluster_of_their_cases(tmp_path: Path) -> None:
    of = [Case(0, "a", {"p": "x"}, tags=("x", "é"), weight=2.5), Case(1, "b", {"weight": 7})]
    with filled(tmp_path / "store.db", Plan({"a": [Told()] * 4}, of, epochs=2)) as (db, run):
        first, again, second, _ = chunk_queries.grades(db, run, ALL, "p")
        assert first[:5] == again[:5] == (0, 0, 2.5, first[3], '"x"')
        assert json.loads(first[3] or "") == ["x", "é"]
        assert second[:5] == (1, 0, 1.0, None, None)
        assert chunk_queries.weighted(db, run, ALL)
        assert not chunk_queries.weighted(db, run, range(1, 2))
        assert chunk_queries.several_epochs(db, run, ALL)


def test_a_case_is_read_once_for_all_its_trials(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    cluster_of = chunk_queries._cluster

    def reading_case(data: str, column: str) -> str | None:
        read.append(data)
        return cluster_of(data, column)

    monkeypatch.setattr(chunk_queries, "_cluster", reading_case)
    plan = Plan({name: [Told()] * 3 for name in "abcd"}, cases(3))
    with filled(tmp_path / "store.db", plan) as (db, run):
        assert len(list(chunk_queries.grades(db, run, ALL, "n"))) == 12
        assert not chunk_queries.several_epochs(db, run, ALL)
    assert len(read) == 3


def test_the_columns_of_all_cases_are_known(db: sqlite3.Connection) -> None:
    run, other = new_run(db), new_run(db)
    given = [Case(0, "a", {"x": 1, SURROGATE: 2}), Case(1, "b", {"x": 1, "y": {"z": 2}})]
    do(db, lambda tx: run_writes.add_cases(tx, run, given))
    do(db, lambda tx: run_writes.add_cases(tx, other, [Case(0, "a", {"w": 1})]))
    assert report_queries.case_columns(db, run) == {"x", "y", SURROGATE}


def test_current_scores_are_counted_by_scorer(db: sqlite3.Connection, made: Staged) -> None:
    assert chunk_queries.scorers(db, made.run, ALL) == [
        ScorerRow(0, "exact", Verdict.PASS, 1, 1.0, True, 1),
        ScorerRow(0, "regex", Verdict.PASS, 2, 2.0, True, 2),
        ScorerRow(0, "exact", Verdict.FAIL, 1, 0.0, True, 3),
        ScorerRow(0, "exact", Verdict.UNGRADED, 1, 0.0, True, 5),
    ]
    assert report_queries.scorer_names(db, made.run) == ["exact", "regex"]


def test_what_a_rescore_replaced_is_not_counted(db: sqlite3.Connection, made: Staged) -> None:
    do(db, lambda tx: trial_verbs.rescore(tx, made.trials[0], ["regex"]))
    do(
        db,
        lambda tx: score_writes.add_scores(
            tx, made.trials[0], [score(False, "regex")], fresh=False
        ),
    )
    do(db, lambda tx: trial_moves.settle(tx, made.trials[0], Tally(Verdict.FAIL, 0.5)))
    rows = [row for row in chunk_queries.scorers(db, made.run, ALL) if row.scorer == "regex"]
    assert {(row.verdict, row.n) for row in rows} == {(Verdict.PASS, 1), (Verdict.FAIL, 1)}


def test_latencies_come_ascending(db: sqlite3.Connection, made: Staged) -> None:
    assert chunk_queries.latencies(db, made.run, ALL) == {0: array("d", [1.0, 2.0, 3.0])}
    assert report_queries.latencies(db, made.run, 0, "no such tag") == []


def test_outputs_that_were_cut_are_counted_by_column(db: sqlite3.Connection, made: Staged) -> None:
    assert chunk_queries.endings(db, made.run, ALL)[0][Ending.CUT] == 1


def test_errors_are_told_once_with_their_columns_the_most_frequent_first(
    db: sqlite3.Connection,
) -> None:
    made = staged(db, 3, columns=2)
    timeout, auth = Failure("timeout", "no answer"), Failure("auth", "no answer")
    do(db, lambda tx: trial_moves.fail_trial(tx, made.trials[0], auth))
    do(
        db,
        lambda tx: [trial_moves.fail_trial(tx, made.trials[place], timeout) for place in (1, 2, 3)],
    )
    errors = report_queries.errors(db, made.run)
    assert errors == [
        ErrorRow("timeout", "no answer", {1: 2, 0: 1}),
        ErrorRow("auth", "no answer", {0: 1}),
    ]
    assert [error.n for error in errors] == [3, 1]


def test_lines_of_all_pages_are_the_whole_run(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_queries, "_PAGE", 4)
    made = staged(db, 10)
    finish(db, made.trials[3], score(False), score(True, "regex"))
    lines = list(report_queries.lines(db, made.run))
    assert [line.place for line in lines] == list(range(10))
    assert [line.case_id for line in lines] == [f"case-{seq}" for seq in range(10)]
    assert (lines[3].text, lines[3].state, lines[3].verdict) == ("Paris", "done", Verdict.FAIL)
    assert [found.verdict for found in lines[3].scores] == [Verdict.FAIL, Verdict.PASS]
    assert (lines[3].usage.input, lines[3].cost_usd, lines[3].finish_reason) == (10, 0.001, "stop")
    assert [line.place for line in report_queries.lines(db, made.run, (TrialOutcome.FAILED,))] == [
        3
    ]


def test_settled_lines_stream_as_they_settled_and_each_once(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_queries, "_PAGE", 2)
    made = staged(db, 8)
    since = run_queries.change(db)
    do(db, lambda tx: [trial_verbs.cancel(tx, made.trials[place]) for place in (6, 1, 4)])
    finish(db, made.trials[0], score())
    do(db, lambda tx: attempt_writes.start_attempt(tx, made.trials[2], queue_s=None, wait_s=None))
    until = run_queries.change(db)
    do(db, lambda tx: trial_verbs.cancel(tx, made.trials[7]))
    first = report_queries.lines_settled(db, made.run, since, until)
    assert [line.place for line in first] == [1, 4, 6, 0]
    then = report_queries.lines_settled(db, made.run, until, run_queries.change(db))
    assert [line.place for line in then] == [7]


def test_money_of_a_tag_is_unknown_where_some_of_it_is(db: sqlite3.Connection) -> None:
    run = new_run(db)
    made = stage(db, run, [NewTrial(i, i, 0, 0, bytes([i])) for i in range(3)], 3)
    tagged = '{"fields": {}, "tags": ["easy"]}'
    db.execute("UPDATE cases SET data = ? WHERE run = ? AND seq < 2", (tagged, run))
    finish(db, made.trials[0], score(), cost=0.5)
    finish(db, made.trials[2], score(), cost=None)
    assert report_queries.cost_of_tag(db, run, 0, "easy") == 0.5
    finish(db, made.trials[1], score(), cost=None)
    assert report_queries.cost_of_tag(db, run, 0, "easy") is None


def test_nothing_was_judged_yet(db: sqlite3.Connection, made: Staged) -> None:
    assert chunk_queries.copied_scores(db, made.run, ALL) == 0
