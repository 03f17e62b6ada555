import random
import sqlite3
from itertools import product
from operator import itemgetter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.filled import CANCELLED as TOLD_CANCELLED
from tests.reports.filled import ERROR as TOLD_ERROR
from tests.reports.filled import FAIL, OPEN, Plan, Told, fill
from tests.reports.filled import UNGRADED as NO_GRADE
from tests.store.fates import CANCELLED, ERROR, FAILED, PASSED, QUEUED, RUNNING, UNGRADED, finish
from tests.support import ODD_TEXTS, Staged, do, joined, new_run, reading, score, staged
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Usage
from tui_eval.model.score import Grade
from tui_eval.model.states import RunState, Verdict
from tui_eval.store.chunks import kept_figures
from tui_eval.store.search import views
from tui_eval.store.search.views import (
    HIGHEST_FIRST,
    UNMET,
    Condition,
    FilterKind,
    Order,
    TrialOutcome,
    View,
)
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, trial_verbs
from tui_eval.store.write.run_writes import NewTrial


def stands(which: TrialOutcome) -> Condition:
    return Condition(FilterKind.STANDS, which)


def places(
    db: sqlite3.Connection,
    made: Staged,
    *parts: Condition,
    order: Order = Order.PLACE,
    reverse: bool = False,
) -> list[int]:
    found = list(views.places(db, made.run, View(parts, "", order, reverse)))
    assert views.count(db, made.run, parts) == len(found)
    return found


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (None, [0, 1, 2, 3, 4, 5, 6]),
        (stands(TrialOutcome.PASSED), [PASSED]),
        (stands(TrialOutcome.FAILED), [FAILED]),
        (stands(TrialOutcome.UNGRADED), [UNGRADED]),
        (stands(TrialOutcome.ERRORS), [ERROR]),
        (stands(TrialOutcome.CANCELLED), [CANCELLED]),
        (Condition(FilterKind.CUT), [UNGRADED]),
        (stands(TrialOutcome.OPEN), [RUNNING, QUEUED]),
        (stands(TrialOutcome.UNMET), [FAILED, UNGRADED, ERROR]),
    ],
)
def test_a_list_is_narrowed_to_how_trials_stand(
    db: sqlite3.Connection, made: Staged, part: Condition | None, expected: list[int]
) -> None:
    assert places(db, made, *([] if part is None else [part])) == expected


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (Order.PLACE, [0, 1, 2]),
        (Order.VERDICT, [ERROR, FAILED, UNGRADED, CANCELLED, RUNNING, QUEUED, PASSED]),
        (Order.SCORE, [FAILED, PASSED]),
        (Order.COST, [PASSED, FAILED]),
        (Order.CASE, [0, 1, 2, 3, 4, 5, 6]),
        (Order.ATTEMPTS, [0, 1, 2, RUNNING]),
        (Order.TOKENS, [0, 1, 2]),
        (Order.TARGET, [0, 1, 2]),
        (Order.CHANGED, [RUNNING, CANCELLED, ERROR, UNGRADED, FAILED, PASSED, QUEUED]),
    ],
)
def test_a_list_is_sorted(
    db: sqlite3.Connection, made: Staged, order: Order, first: list[int]
) -> None:
    assert places(db, made, order=order)[: len(first)] == first


def drawn(draw: random.Random, folder: Path) -> int:
    """Fill a store with a run of trials of all fates, whose cases have ids in any order."""
    ids = draw.sample([*map(str, range(20)), "é", "Z", "z", "\ud800", "case 10", "case 9"], 9)
    fates = [
        *(Told(), Told(FAIL, latency_s=1.25, attempts=3), Told(NO_GRADE, latency_s=None)),
        *(Told(Grade(Verdict.PASS, 0.75, "well"), cost_usd=None, usage=Usage(0, 0)), TOLD_ERROR),
        *(TOLD_CANCELLED, OPEN, Told(latency_s=1e12, cost_usd=1e9, usage=Usage(1 << 40, 1))),
    ]
    return fill(
        folder / "store.sqlite3",
        Plan(
            {name: draw.choices(fates, k=18) for name in draw.sample(("b", "a", "é"), 3)},
            [Case(seq, case_id, {}) for seq, case_id in enumerate(ids)],
            epochs=2,
            state=RunState.INTERRUPTED,
        ),
    )


def key_of(order: Order, row: sqlite3.Row, names: list[str]) -> object:
    """Give what a trial is sorted by; None: nobody knows."""
    tokens = row["input_tokens"] + row["output_tokens"]
    case_id = row["case_id"]  # SQLite has texts by their bytes, and before bytes
    stands = (row["state"] == "error", row["verdict"] == "fail", row["verdict"] == "ungraded")
    fate = [*stands, row["state"] == "cancelled", row["verdict"] != "pass", True].index(True)
    return {
        Order.PLACE: row["place"],
        Order.CASE: (
            case_id.__class__ is bytes,
            case_id if case_id.__class__ is bytes else case_id.encode(),
        ),
        Order.TARGET: sorted(names).index(names[row["col"]]),
        Order.EPOCH: row["epoch"],
        Order.VERDICT: fate,
        Order.SCORE: row["score"],
        Order.LATENCY: row["latency_s"],
        Order.COST: row["about_usd"] if row["cost_usd"] is None else row["cost_usd"],
        Order.TOKENS: tokens or None,
        Order.ATTEMPTS: row["attempts"],
        Order.CHANGED: row["change"],
    }[order]


@given(st.integers(0, 1 << 32))
@settings(max_examples=8, deadline=None)
def test_every_order_is_that_of_its_key_with_ties_by_place(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("drawn")
    run = drawn(random.Random(seed), folder)
    with reading(folder / "store.sqlite3") as db:
        names = [row[0] for row in db.execute("SELECT name FROM columns ORDER BY idx")]
        reader = db.cursor()
        reader.row_factory = sqlite3.Row
        rows = reader.execute(
            "SELECT t.*, c.id AS case_id FROM trials t JOIN cases c USING (run, seq) ORDER BY place"
        ).fetchall()
        assert [row["place"] for row in rows] == [*range(54)]
        for order, reverse, part in product(
            Order, (False, True), (None, stands(TrialOutcome.UNMET))
        ):
            let_through = [
                row
                for row in rows
                if part is None or row["state"] == "error" or row["verdict"] in ("fail", "ungraded")
            ]
            keyed = [(key_of(order, row, names), row["place"]) for row in let_through]
            known = sorted(
                (one for one in keyed if one[0] is not None),
                key=itemgetter(0),
                reverse=(order in HIGHEST_FIRST) != reverse,
            )
            expected = [place for _, place in known]
            expected += [place for key, place in keyed if key is None]
            view = View(() if part is None else (part,), "", order, reverse)
            assert list(views.places(db, run, view)) == expected, (order, reverse, part)


def test_what_is_unknown_comes_last_either_way(db: sqlite3.Connection, made: Staged) -> None:
    for order in (Order.SCORE, Order.LATENCY):
        for reverse in (False, True):
            last = places(db, made, order=order, reverse=reverse)[-4:]
            assert set(last) == {ERROR, CANCELLED, RUNNING, QUEUED}
    assert places(db, made, order=Order.COST, reverse=True)[-1] == UNGRADED


def test_parts_of_one_aspect_are_alternatives_and_aspects_narrow_each_other(
    db: sqlite3.Connection, made: Staged
) -> None:
    exact, timeout = Condition(FilterKind.SCORER, "exact"), Condition(FilterKind.ERROR, "timeout")
    assert places(db, made, exact) == [FAILED]
    assert places(db, made, Condition(FilterKind.SCORER, "regex")) == []
    assert places(db, made, timeout) == [ERROR]
    assert places(db, made, exact, timeout) == [FAILED, ERROR]
    assert places(db, made, stands(TrialOutcome.FAILED), stands(TrialOutcome.PASSED)) == [
        PASSED,
        FAILED,
    ]
    assert places(db, made, UNMET, Condition(FilterKind.CUT)) == [UNGRADED]
    first = Condition(FilterKind.TARGET, db.execute("SELECT name FROM columns").fetchone()[0])
    assert places(db, made, timeout, first, exact, UNMET) == [FAILED, ERROR]
    assert places(db, made, Condition(FilterKind.TARGET, "no' such --")) == []


def test_a_reason_lists_all_that_are_alike(db: sqlite3.Connection) -> None:
    made = staged(db, 3)
    for trial, reason in zip(made.trials, ("got 1 of 3", "got 25 of 4", "else"), strict=True):
        finish(db, trial, score(False))
        db.execute("UPDATE scores SET reason = ? WHERE trial = ?", (reason, trial))
    assert places(db, made, Condition(FilterKind.REASON, "got # of #", "exact")) == [0, 1]
    assert places(db, made, Condition(FilterKind.REASON, "got # of #", "other")) == []


def test_flaky_is_what_both_passed_and_failed(db: sqlite3.Connection) -> None:
    run = new_run(db)

    def unit(tx: Tx) -> None:
        run_writes.add_cases(tx, run, [Case(i, f"c{i}", {}) for i in range(2)])
        run_writes.add_trials(tx, run, [NewTrial(i, i // 2, 0, i % 2, b"%d" % i) for i in range(4)])

    do(db, unit)
    ids = [row[0] for row in db.execute("SELECT id FROM trials ORDER BY place")]
    for trial, passed in zip(ids, (True, False, True, True), strict=True):
        finish(db, trial, score(passed), text=f"said {trial}")
    flaky = View((Condition(FilterKind.FLAKY),))
    assert list(views.places(db, run, flaky)) == [0, 1]
    db.execute("UPDATE outputs SET text = 'the same'")  # then it is the judge that flips
    assert list(views.places(db, run, flaky)) == []


@pytest.mark.parametrize("tag", ["hard", *ODD_TEXTS[1:]])
def test_tags_narrow_whatever_is_in_them(db: sqlite3.Connection, tag: str) -> None:
    cases = [Case(i, f"c{i}", {}, tags=(tag, "all") if i < 2 else ("all",)) for i in range(5)]

    run = new_run(db, columns=1)

    def unit(tx: Tx) -> None:
        run_writes.add_cases(tx, run, [*cases, Case(5, "untagged", {})])
        run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, None) for i in range(6)])

    do(db, unit)
    tag = joined(tag)
    assert list(views.places(db, run, View((Condition(FilterKind.TAG, tag),)))) == [0, 1]
    assert list(views.places(db, run, View((Condition(FilterKind.TAG, "nobody"),)))) == []


def test_a_view_knows_whether_it_leaves_anything_out() -> None:
    assert View().plain
    assert not View().narrowed
    assert not View(reverse=True).plain
    assert not View(order=Order.SCORE).narrowed
    assert View(text="x").narrowed


def test_the_next_failure_goes_round(db: sqlite3.Connection, made: Staged) -> None:
    seen, place = [], -1
    for _ in range(4):
        found = views.next_place(db, made.run, [UNMET], place)
        assert found is not None
        place = found
        seen.append(place)
    assert seen == [FAILED, UNGRADED, ERROR, FAILED]
    assert views.next_place(db, made.run, [UNMET], FAILED, back=True) == ERROR
    assert views.next_place(db, made.run, [Condition(FilterKind.ERROR, "none")], 0) is None


def test_the_next_failure_of_a_list_is_in_its_order(db: sqlite3.Connection, made: Staged) -> None:
    listed = [QUEUED, ERROR, PASSED, FAILED]
    assert views.next_unmet_in(db, made.run, listed, 0) == ERROR
    assert views.next_unmet_in(db, made.run, listed, 1) == FAILED
    assert views.next_unmet_in(db, made.run, listed, 1, back=True) == FAILED
    assert views.next_unmet_in(db, made.run, listed, 3, back=True) == ERROR
    assert views.next_unmet_in(db, made.run, [PASSED, QUEUED], 1) is None


def test_the_next_failure_of_a_list_is_found_however_far_it_is(
    db: sqlite3.Connection, made: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_FEW", 1)
    monkeypatch.setattr(views, "_MANY", 2)
    listed = [PASSED, QUEUED, RUNNING, CANCELLED, ERROR, FAILED]
    assert views.next_unmet_in(db, made.run, listed, 0) == ERROR
    assert views.next_unmet_in(db, made.run, listed, 4, back=True) == FAILED
    assert views.next_unmet_in(db, made.run, listed[:5], 4) == ERROR


def test_failures_are_looked_up_in_an_index(db: sqlite3.Connection, made: Staged) -> None:
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    views.next_place(db, made.run, [UNMET], 0)
    views.places(db, made.run, View((stands(TrialOutcome.FAILED),)))
    db.set_trace_callback(None)
    searched = [statement for statement in asked if "FROM trials t" in statement]
    assert len(searched) == 2
    for statement in searched:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert any(step.startswith("SEARCH t USING INDEX trials_unmet") for step in plan), plan
        assert not any("TEMP B-TREE" in step for step in plan), plan


def test_errors_are_looked_up_in_an_index_of_their_own(
    db: sqlite3.Connection, made: Staged
) -> None:
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    views.places(db, made.run, View((stands(TrialOutcome.ERRORS),)))
    db.set_trace_callback(None)
    (searched,) = [statement for statement in asked if "FROM trials t" in statement]
    plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {searched}")]
    assert any(step.startswith("SEARCH t USING INDEX trials_errored") for step in plan), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


def test_trials_of_a_list_are_looked_up_by_place(db: sqlite3.Connection, made: Staged) -> None:
    asked: list[str] = []
    db.set_trace_callback(asked.append)
    views.next_unmet_in(db, made.run, [FAILED], 0)
    views.ids_at(db, made.run, [FAILED, ERROR])
    db.set_trace_callback(None)
    for statement in asked:
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
        assert plan[-1].endswith("INDEX trials_place (run=? AND place=?)"), plan


def test_the_newest_settled_trial(db: sqlite3.Connection, made: Staged) -> None:
    assert views.newest_settled(db, made.run) == CANCELLED
    assert views.newest_settled(db, made.run + 1) is None


def test_ids_are_those_at_places(db: sqlite3.Connection, made: Staged) -> None:
    assert set(views.ids_at(db, made.run, [0, 3, 99])) == {made.trials[0], made.trials[3]}


@pytest.mark.parametrize("piece", [0, 1, 3, 100])
def test_a_long_list_is_read_in_pieces(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, piece: int
) -> None:
    monkeypatch.setattr(views, "_PIECE", piece)
    run = staged(db, 111).run
    assert list(views.places(db, run, View())) == [*range(111)]
    assert list(views.places(db, run, View((stands(TrialOutcome.PASSED),)))) == []


def test_a_list_of_a_large_run_is_kept_until_a_trial_changes(
    path: Path, db: sqlite3.Connection, made: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_figures, "KEPT_FROM", 1)
    monkeypatch.setattr(views, "_WORTH_KEEPING_S", 0.0)
    asked: list[str] = []

    def listed(view: View) -> list[int]:
        asked.clear()
        with reading(path) as other:
            other.set_trace_callback(asked.append)
            return list(views.places(other, made.run, view))

    def searched() -> bool:
        return any("json_group_array" in statement for statement in asked)

    failed, slowest = View((stands(TrialOutcome.FAILED),)), View(order=Order.LATENCY)
    assert listed(failed) == [FAILED] and searched()
    assert listed(failed) == [FAILED] and not searched()
    assert listed(slowest)[:2] == [PASSED, FAILED] and searched()
    assert listed(slowest)[:2] == [PASSED, FAILED] and not searched()
    finish(db, made.trials[QUEUED], score(False), latency_s=9.0)
    assert listed(failed) == [FAILED, QUEUED] and searched()
    assert listed(slowest)[:2] == [QUEUED, PASSED] and searched()
    # what looks at more than the run's trials is asked each time
    chosen = View((Condition(FilterKind.CHOICE, "A", "exact"),))
    assert [listed(chosen) == [] and searched() for _ in range(2)] == [True, True]
    # while a trial is scored nothing is kept: its scores come before it changes
    do(db, lambda tx: trial_verbs.rescore(tx, made.trials[PASSED]))
    assert listed(failed) == [FAILED, QUEUED] and searched()
    assert listed(failed) == [FAILED, QUEUED] and searched()
