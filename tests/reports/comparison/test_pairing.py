"""Cases joined in the store against the same cases looked at one by one, and what either holds."""

import random
import sqlite3
import tracemalloc
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import replace
from pathlib import Path

import pytest

from tests.reports.filled import CANCELLED, ERROR, FAIL, OPEN, UNGRADED, Plan, Told, cases, fill
from tests.support import reading, writing
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.compared_case import ComparedCase
from tui_eval.reports.comparison.comparison import ComparisonChoice, RunComparison, compare
from tui_eval.reports.comparison.comparison_document import comparison_document
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.read import run_queries

_FATES = (*[Told(), Told(FAIL)] * 6, Told(UNGRADED), ERROR, CANCELLED, OPEN)


class _OneByOne:
    """A run as a side that nobody can join: each of its cases is read for itself."""

    is_baseline = False

    def __init__(self, of: RunSide) -> None:
        self._of = of
        self.name, self.finished, self.judged = of.name, of.finished, of.judged

    @property
    def columns(self) -> tuple[str, ...]:
        return self._of.columns

    @property
    def scorers(self) -> Mapping[str, bytes]:
        return self._of.scorers

    @property
    def frozen_scorers(self) -> str | None:
        return self._of.frozen_scorers

    def cases(self, column: str, scorer: str | None = None) -> Iterator[tuple[str, ComparedCase]]:
        return self._of.cases(column, scorer)

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        return self._of.by_hand(column, scorer)

    def tags(self, among: Collection[str] | None = None) -> Mapping[str, tuple[str, ...]]:
        return self._of.tags(among)

    def row_digest(self, case_id: str) -> bytes:
        return self._of.row_digest(case_id)


def drawn(seed: int, epochs: int, rules: dict[str, object], cluster: str | None) -> Plan:
    """Draw a run: each seed has other rows, weights and tags, and the cases in another order."""
    draw = random.Random(seed)
    of = []
    for case in cases(40):
        row = {"n": 7 if draw.random() < 0.1 else case.fields["n"], "passage": case.seq // 3}
        if draw.random() < 0.2:
            row.pop("passage")
        tags = tuple(draw.sample(["even", "odd ü", "half \ud83d"], draw.randrange(3)))
        weight = draw.choice([0.0, 0.5, 1.0, 1.0, 2.0]) if cluster != "none" else 1.0
        of.append(replace(case, fields=row, tags=tags, weight=weight))
    draw.shuffle(of)
    of = [replace(case, seq=seq) for seq, case in enumerate(of[: draw.randrange(30, 41)])]
    told = {name: draw.choices(_FATES, k=len(of) * epochs) for name in ("one", "two")}
    return Plan(
        told,
        of,
        epochs,
        run=rules,
        cluster=None if cluster == "none" else cluster,
        state=RunState.INTERRUPTED,
    )


@pytest.mark.parametrize("by", [None, "tag", "scorer"])
@pytest.mark.parametrize(
    ("epochs", "rules", "cluster"),
    [
        ((1, 1), {}, "none"),
        ((1, 1), {"errors": "fail"}, None),
        ((3, 1), {"reduce": "max"}, "passage"),
        ((2, 3), {"reduce": ["pass@2", "mean"], "errors": "fail"}, None),
    ],
)
def test_what_is_joined_in_the_store_is_what_is_paired_one_by_one(
    tmp_path: Path,
    by: str | None,
    epochs: tuple[int, int],
    rules: dict[str, object],
    cluster: str | None,
) -> None:
    store = tmp_path / "store.db"
    first = fill(store, drawn(1, epochs[0], {}, cluster))
    second = fill(store, drawn(2, epochs[1], rules, cluster))
    with reading(store) as db:
        a, b = (RunSide(db, run_queries.run(db, run)) for run in (first, second))
        for one, other, rows in ((a, b, {}), (b, a, {"one": "two"}), (b, b, {"one": "two"})):
            choice = ComparisonChoice(rows, by=by)  # type: ignore[arg-type]
            joined = compare(one, other, choice)
            apart = compare(_OneByOne(one), _OneByOne(other), choice)
            _see_alike(joined, apart)
            assert joined.flips
            assert bool(joined.groups) is (by is not None)


def _see_alike(one: RunComparison, other: RunComparison) -> None:
    assert comparison_document(one) == comparison_document(other)
    assert list(one.flips) == list(other.flips)
    assert {k: list(v) for k, v in one.flips_of_groups.items()} == {
        k: list(v) for k, v in other.flips_of_groups.items()
    }


@pytest.mark.parametrize("flipping", [0, 1000])
def test_a_comparison_holds_no_entry_a_case(tmp_path: Path, flipping: int) -> None:
    """What it holds is the same for any number of cases, and some bytes for each that flips."""
    store = tmp_path / "store.db"
    run = fill(store, Plan({"one": [Told()], "two": [Told()]}, [Case(0, "case-0", {"n": 0})]))
    with writing(store) as db:
        _multiply(db, run, 20_000, flipping)
    with reading(store) as db:
        side = RunSide(db, run_queries.run(db, run))
        choice = ComparisonChoice({"one": "two"})
        compare(side, side, choice)  # what is made once
        tracemalloc.start()
        try:
            found = compare(side, side, choice)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    (row,) = found.rows
    assert (row.n, row.pairs.worse, len(found.flips)) == (20_000, flipping, flipping)
    assert peak < 300_000 + 150 * flipping, "an entry for each case takes 2 MB and more"
    assert found.flips[:1] == ([] if not flipping else [("case-19000", 0, 1.0, 0.0, 19_000)])


def _multiply(db: sqlite3.Connection, run: int, n: int, flipping: int) -> None:
    """Give a run n cases as its first one, of which the last ones fail in the second column."""
    numbers = f"WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {n - 1})"
    db.execute(
        f"{numbers} INSERT INTO cases (run, seq, id, data) "
        "SELECT c.run, n, 'case-' || n, c.data FROM n, cases c WHERE c.run = ? AND c.seq = 0",
        (run,),
    )
    db.execute(
        f"{numbers} INSERT INTO trials (run, place, seq, col, epoch, state, verdict, change) "
        "SELECT t.run, n * 2 + t.col, n, t.col, 0, t.state, "
        f"iif(t.col = 1 AND n >= {n - flipping}, 'fail', t.verdict), t.change "
        "FROM n, trials t WHERE t.run = ? AND t.seq = 0",
        (run,),
    )
