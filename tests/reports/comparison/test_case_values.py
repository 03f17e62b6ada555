"""Lists that compare cases list what comparisons count."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports.filled import CANCELLED, ERROR, FAIL, OPEN, UNGRADED, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.comparison import case_values
from tui_eval.reports.comparison.comparison import ComparisonChoice, compare
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.read import run_queries
from tui_eval.store.search import views
from tui_eval.store.search.views import Condition, FilterKind, View

FATES = (Told(), Told(), Told(FAIL), Told(FAIL), Told(UNGRADED), ERROR, CANCELLED, OPEN)
NAMES = ("one", "two", "three")
N = 60


def drawn(seed: int, epochs: int, **rules: object) -> Plan:
    """Give a run of three columns; one of its rows is another in each run, one has a new order."""
    draw = random.Random(seed)
    rows = cases(N)
    rows[1] = replace(rows[1], fields={"n": seed})
    rows[2] = replace(rows[2], fields={"n": 1, "q": "?"} if seed % 2 else {"q": "?", "n": 1})
    told = {name: draw.choices(FATES, k=N * epochs) for name in NAMES}
    return Plan(told, rows, epochs, run=dict(rules))


@pytest.mark.parametrize(
    ("epochs", "rules"),
    [
        (1, {}),
        (1, {"errors": "fail"}),
        (3, {}),
        (3, {"reduce": ["pass@2", "mean"], "errors": "fail"}),
        (3, {"reduce": "majority"}),
    ],
)
def test_lists_have_the_cases_that_comparisons_count(
    tmp_path: Path, epochs: int, rules: dict[str, object]
) -> None:
    store = tmp_path / "store.db"
    first = fill(store, drawn(1, epochs))
    second = fill(store, drawn(2, epochs, **rules))
    with reading(store) as db:
        a, b = (RunSide(db, run_queries.run(db, run)) for run in (first, second))

        def listed(
            kind: FilterKind, value: str = "", other: str = "", column: str = ""
        ) -> set[str]:
            parts = [Condition(kind, value, other=other)]
            parts += [Condition(FilterKind.TARGET, column)] if column else []
            found = case_values.places(db, second, View(tuple(parts)))
            seqs = views.cases_of(found, len(NAMES) * epochs)
            assert case_values.count(db, second, parts, by_case=True) == len(seqs)
            assert case_values.count(db, second, parts) == len(found)
            return {f"case-{seq}" for seq in seqs}

        for row in compare(a, b, ComparisonChoice({})).rows:
            counts = row.pairs
            since = a.name
            changed = listed(FilterKind.CHANGED, since, column=row.columns.b)
            assert len(changed) == counts.worse + counts.better > 0
            assert len(listed(FilterKind.BROKE, since, column=row.columns.b)) == counts.worse
        for one, other in (("one", "two"), ("two", "one"), ("three", "one")):
            (row,) = compare(b, b, ComparisonChoice({one: other})).rows
            assert len(listed(FilterKind.PASSES_FAILS, one, other)) == row.pairs.worse > 0
        of_case = {
            one[0][0]: tuple(case.value for _, case in one)
            for one in zip(*(b.cases(name) for name in NAMES), strict=True)
        }
        differing = {
            case for case, of in of_case.items() if len({v for v in of if v is not None}) > 1
        }
        assert listed(FilterKind.DIFFER) == differing
        failing = {case for case, of in of_case.items() if set(of) == {0.0}}
        assert listed(FilterKind.ALL_FAIL) == failing
        assert listed(FilterKind.CHANGED, "no such run") == set()


def test_columns_of_other_names_belong_together_where_each_run_has_but_one(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    fill(store, Plan({"old": [Told(), Told(), Told(FAIL)]}, cases(3)))
    second = fill(store, Plan({"new": [Told(), Told(FAIL), Told()]}, cases(3)))
    with reading(store) as db:
        since = run_queries.run(db, 1).name
        changed = View((Condition(FilterKind.CHANGED, since),))
        broke = View((Condition(FilterKind.BROKE, since),))
        assert list(case_values.places(db, second, changed)) == [1, 2]
        assert list(case_values.places(db, second, broke)) == [1]
