"""How the columns of a run differ, as the head of its screen says it."""

from pathlib import Path

import pytest

from tests.reports.filled import FAIL, OPEN, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.comparison.baseline.versus import versus
from tui_eval.reports.comparison.comparison import ComparisonChoice, Word, compare
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.read import run_queries
from tui_eval.store.write.baseline_writes import BaseChoice

GOOD, WRONG = Told(), Told(FAIL)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def made(store: Path, base: BaseChoice | None = None, **passes: str) -> int:
    """Write a run: for each column, which of its cases pass."""
    told = {
        name: [{"1": GOOD, "0": WRONG, ".": OPEN}[one] for one in each]
        for name, each in passes.items()
    }
    return fill(store, Plan(told, cases(len(next(iter(told.values())))), base=base))


def test_without_a_base_columns_are_compared_with_the_first(store: Path) -> None:
    run = made(store, one="1" * 10 + "0" * 30, two="1" * 40, three="1" * 11 + "0" * 29)
    with reading(store) as db:
        found = versus(db, run)
        side = RunSide(db, run_queries.run(db, run))
        (alone,) = compare(side, side, ComparisonChoice({"one": "two"})).rows
    assert found is not None
    assert found.settled
    assert found.base is None
    assert set(found.rows) == {1, 2}
    assert found.rows[1].difference == alone.difference
    assert (found.rows[1].word, found.rows[2].word) == (Word.BETTER, Word.UNCLEAR)
    assert found.rows[1].p_holm is not None
    assert alone.p_holm is not None
    assert found.rows[1].p_holm > alone.p_holm  # of two rows


def test_a_base_is_compared_column_by_column(store: Path) -> None:
    first = made(store, one="1101", two="1111")
    second = made(store, BaseChoice("first", first), one="0000", two="1111", new="1010")
    with reading(store) as db:
        found = versus(db, second)
        base = run_queries.run(db, first).name
    assert found is not None
    assert found.base == base
    assert {column: row.pairs.worse for column, row in found.rows.items()} == {0: 3, 1: 0}


def test_a_single_column_without_base_is_compared_with_nothing(store: Path) -> None:
    run = made(store, one="10")
    with reading(store) as db:
        assert versus(db, run) is None


def test_while_trials_are_open_it_says_so(store: Path) -> None:
    run = made(store, one="1100", two="111.")
    with reading(store) as db:
        found = versus(db, run)
    assert found is not None
    assert not found.settled
    assert found.rows[1].n == 3
