"""What a run is compared with is fixed when it is launched."""

from pathlib import Path

import pytest

from tests.reports.filled import FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.comparison.baseline import base
from tui_eval.reports.comparison.baseline.baseline_file import baseline_lines
from tui_eval.reports.comparison.comparison import ComparisonChoice, compare
from tui_eval.reports.comparison.comparison_document import row_document
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.connection import open_writable
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.write import baseline_writes, deletion
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.store.writer import once

GOOD, WRONG = Told(), Told(FAIL)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def made(store: Path, passes: str, chosen: BaseChoice | None = None, column: str = "gpt") -> int:
    told = [GOOD if one == "1" else WRONG for one in passes]
    return fill(store, Plan({column: told}, cases(len(told)), base=chosen))


def pin(store: Path, run: int) -> None:
    once(store, lambda tx: baseline_writes.pin(tx, "capitals", run))


def base_of(store: Path, run: int) -> base.RunBase:
    with reading(store) as db:
        return base.run_base(db, run_queries.run(db, run))


def as_file(store: Path, run: int) -> BaseChoice:
    with reading(store) as db:
        lines = baseline_lines(RunSide(db, run_queries.run(db, run)))
        return BaseChoice("ci/main.jsonl", file="".join(lines).encode())


def test_a_baseline_pinned_later_changes_nothing_for_a_run_that_has_one(store: Path) -> None:
    first, second = made(store, "11"), made(store, "11")
    pin(store, first)
    third = made(store, "10")
    pin(store, second)
    assert [of.run.id for run in (third, made(store, "1")) if (of := base_of(store, run)).run] == [
        first,
        second,
    ]
    once(store, lambda tx: baseline_writes.unpin(tx, "capitals"))
    assert base_of(store, third).run is not None


def test_a_run_without_any_has_the_one_that_was_pinned_since(store: Path) -> None:
    first, second, third = (made(store, "11") for _ in range(3))
    assert base_of(store, second).why == "there is no baseline of capitals"
    pin(store, second)
    assert "later run" in str(base_of(store, first).why)
    assert "is the baseline itself" in str(base_of(store, second).why)
    of_third = base_of(store, third).run
    assert of_third is not None
    assert of_third.id == second


def test_a_row_is_that_of_the_comparison(store: Path) -> None:
    first = made(store, "1101")
    second = made(store, "1010", BaseChoice("first", first))
    with reading(store) as db:
        a, b = (run_queries.run(db, run) for run in (first, second))
        (row,) = compare(RunSide(db, a), RunSide(db, b), ComparisonChoice({})).rows
        (against,) = base.vs_baseline(db, b).values()
        assert row_document(against) == row_document(row)


def test_a_file_is_kept_as_it_was_once_for_all_runs_and_goes_with_the_last(store: Path) -> None:
    chosen = as_file(store, made(store, "11"))
    runs = [made(store, "10", chosen), made(store, "01", chosen)]
    with reading(store) as db:
        for run in runs:
            found = base.base_comparison(db, run_queries.run(db, run))
            assert (found.base.name, found.rows["gpt"].pairs.worse) == ("main.jsonl", 1)
        kept = baseline_queries.run_base(db, runs[0])
        assert kept is not None
        assert kept.file is not None
        assert baseline_queries.baseline_file(db, kept.file) == chosen.file
        assert db.execute("SELECT count(*) FROM baseline_files").fetchone() == (1,)
    for run, left in zip(runs, (1, 0), strict=True):
        db = open_writable(store)
        deletion.delete(db, run)
        assert db.execute("SELECT count(*) FROM baseline_files").fetchone() == (left,)
        db.close()


def test_a_base_that_was_deleted_is_named(store: Path) -> None:
    first = made(store, "11")
    second = made(store, "10", BaseChoice("capitals-aaaa", first))
    db = open_writable(store)
    assert baseline_queries.compared_with(db, [first]) == 1
    assert baseline_queries.compared_with(db, [first, second]) == 0
    deletion.delete(db, first)
    db.close()
    assert base_of(store, second).why == "capitals-aaaa was deleted"


def test_columns_that_do_not_belong_together_are_no_error(store: Path) -> None:
    told = [GOOD, GOOD]
    first = fill(store, Plan({"a": told, "b": told}, cases(2)))
    second = fill(store, Plan({"c": told, "d": told}, cases(2), base=BaseChoice("first", first)))
    with reading(store) as db:
        found = base.base_comparison(db, run_queries.run(db, second))
    assert (dict(found.rows), "which has a, b: there are c, d" in str(found.why)) == ({}, True)
