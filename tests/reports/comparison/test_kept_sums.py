"""Sums of paired columns are kept with a large run, and made anew once either side has changed."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.reports.filled import FAIL, Plan, Told, cases, fill
from tests.support import do, reading, writing
from tui_eval.model.case import Case
from tui_eval.model.score import Grade, Score
from tui_eval.reports.comparison import kept_sums
from tui_eval.reports.comparison.comparison import ComparisonChoice, compare, compare_rows
from tui_eval.reports.comparison.pairing import Pairing, paired
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.statistics.paired import PairTally, ValuePair
from tui_eval.store import requests
from tui_eval.store.chunks import kept_figures
from tui_eval.store.read import run_queries
from tui_eval.store.tx import Tx
from tui_eval.store.write.people import human_scores

GOOD, WRONG = Told(), Told(FAIL)
CASES = [Case(n, f"case-{n}", {"n": n, "passage": n // 4}) for n in range(20)]


@pytest.fixture
def summed_up(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Let any run count as large; take down which columns cases are read of."""
    monkeypatch.setattr(kept_figures, "KEPT_FROM", 1)
    read: list[object] = []

    def reading_cases(a: Side, b: Side, of: tuple[str, str]) -> Pairing:
        read.append(of)
        return paired(a, b, of)

    monkeypatch.setattr(kept_sums, "paired", reading_cases)
    return read


@pytest.mark.parametrize("cluster", [None, "passage"])
def test_cases_are_read_once_until_either_run_changes(
    tmp_path: Path, summed_up: list[object], cluster: str | None
) -> None:
    store = tmp_path / "store.db"
    plan = Plan({"one": [GOOD] * 20, "two": [GOOD, WRONG] * 10}, CASES, cluster=cluster)
    first = fill(store, plan)
    second = fill(store, Plan({"one": [WRONG] * 5 + [GOOD] * 15, "two": [GOOD] * 20}, CASES))

    def compared() -> list[object]:
        summed_up.clear()
        with reading(store) as db:
            a, b = (RunSide(db, run_queries.run(db, run)) for run in (second, first))
            rows = compare_rows(a, b).rows
            assert rows == compare(a, b, ComparisonChoice({})).rows
        return [*summed_up]

    both = [("one", "one"), ("two", "two")]
    assert compared() == both
    assert compared() == []
    for run in (first, second):
        _pass_by_hand(store, run)
        assert compared() == both
        assert compared() == []


def test_sums_of_a_store_that_was_put_back_from_a_copy_are_made_anew(
    tmp_path: Path, summed_up: list[object]
) -> None:
    store = tmp_path / "store.db"
    a, b = (fill(store, Plan({"one": of * 20}, CASES)) for of in ([WRONG], [GOOD]))

    def means() -> tuple[float | None, float | None]:
        with reading(store) as db:
            sides = (RunSide(db, run_queries.run(db, run)) for run in (a, b))
            [row] = compare_rows(*sides).rows
        return row.rate_a, row.rate_b

    with writing(store) as db, closing(sqlite3.connect(":memory:")) as copy:
        db.backup(copy)
        last = "UPDATE trials SET verdict = ?, since = since + ?, change = 900 WHERE run = ? "
        db.execute(last + "AND place = 3", ("pass", 1, a))
        assert means() == (0.05, 1.0)
        copy.backup(db)
        db.execute(last + "AND place < 3 AND place > 0", ("pass", 2, a))
    assert means() == (0.1, 1.0)


def test_a_file_is_compared_each_time_and_so_is_a_small_run(
    tmp_path: Path, summed_up: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_figures, "KEPT_FROM", 1000)
    store = tmp_path / "store.db"
    run = fill(store, Plan({"one": [GOOD] * 3}, cases(3)))
    with reading(store) as db:
        side = RunSide(db, run_queries.run(db, run))
        for _ in range(2):
            compare_rows(side, side)
    assert summed_up == [("one", "one")] * 2


def test_sums_are_kept_to_the_last_digit() -> None:
    tally = PairTally()
    for pair in (ValuePair(1 / 3, 0.1, 0.7, "x"), ValuePair(0.2, 2 / 3), ValuePair(1.0, 1.0)):
        tally.add(pair, 3)
    again = PairTally.of_json(tally.as_json())
    assert again.as_json() == tally.as_json()
    assert (again.n, again.difference()) == (9, tally.difference())


def _pass_by_hand(store: Path, run: int) -> None:
    """Let a person pass the first trial of a run that failed."""
    with writing(store) as db:
        trial, output = db.execute(
            "SELECT id, output FROM trials WHERE run = ? AND verdict = 'fail'", (run,)
        ).fetchone()
        do(db, partial(_grade, run=run, trial=trial, output=output))


def _grade(tx: Tx, run: int, trial: int, output: int) -> None:
    request = requests.ask(tx, run, requests.Verb.GRADE)
    by_hand = Score("exact", Grade.of(True, "right"), source="human")
    assert human_scores.grade(tx, trial, output, by_hand, request) is None
