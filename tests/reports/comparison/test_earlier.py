"""The run with whose verdicts those of a run are compared."""

from pathlib import Path

from tests.reports.filled import FAIL, OPEN, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.case_values import teach
from tui_eval.reports.comparison.earlier import earlier_results, earlier_run
from tui_eval.store.read import run_queries
from tui_eval.store.search.case_conditions import EarlierResult, changed_since
from tui_eval.store.write.baseline_writes import BaseChoice

GOOD, WRONG = Told(), Told(FAIL)


def test_it_is_the_base_else_the_last_full_run_before(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    plan = Plan({"one": [GOOD]}, cases(1))
    first, second = fill(store, plan), fill(store, plan)
    fill(store, Plan(plan.told, plan.cases, partial=True))
    fourth = fill(store, plan)
    based = fill(store, Plan(plan.told, plan.cases, base=BaseChoice("first", first)))
    with reading(store) as db:
        found = {
            run: earlier_run(db, run_queries.run(db, run)) for run in (first, second, fourth, based)
        }
    assert {run: None if of is None else (of.id, of.is_base) for run, of in found.items()} == {
        first: None,
        second: (first, False),
        fourth: (second, False),
        based: (first, True),
    }


def test_results_are_told_where_they_are_others(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    told = [GOOD, GOOD, WRONG, WRONG, GOOD, GOOD]
    fill(store, Plan({"one": told, "two": told}, cases(3), epochs=2))
    now = [WRONG, WRONG, WRONG, GOOD, GOOD, GOOD]
    second = fill(store, Plan({"one": now, "two": told}, cases(3), epochs=2))
    with reading(store) as db:
        earlier = earlier_run(db, run_queries.run(db, second))
        found = earlier_results(db, second, earlier, range(3))
        some = earlier_results(db, second, earlier, [1])
        assert earlier_results(db, second, None, range(3)) == {}
    assert found == {
        (0, 0): EarlierResult(2, 2, worse=True),
        (1, 0): EarlierResult(0, 2, worse=False),
    }
    assert set(some) == {(1, 0)}


def test_a_case_is_no_other_while_one_of_its_epochs_is_open(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    fill(store, Plan({"one": [WRONG, GOOD, GOOD, GOOD]}, cases(2), epochs=2))
    now = [OPEN, GOOD, WRONG, GOOD]
    second = fill(store, Plan({"one": now}, cases(2), epochs=2, state=RunState.RUNNING))
    with reading(store) as db:
        earlier = earlier_run(db, run_queries.run(db, second))
        assert earlier is not None
        found = earlier_results(db, second, earlier, range(2))
        condition, values = changed_since(db, second, earlier.name)
        teach(db)
        listed = db.execute(
            f"SELECT t.place FROM trials t WHERE t.run = ? AND {condition} ORDER BY t.place",
            (second, *values),
        ).fetchall()
    assert found == {(1, 0): EarlierResult(2, 2, worse=True)}
    assert [place for (place,) in listed] == [2, 3]
