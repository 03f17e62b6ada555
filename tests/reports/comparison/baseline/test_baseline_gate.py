"""`[gate.baseline]`: what holds, what fails, and what nobody can tell."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.reports.filled import ERROR, FAIL, OPEN, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.baseline.base import vs_baseline
from tui_eval.reports.comparison.comparison_document import row_document
from tui_eval.reports.document import document
from tui_eval.reports.live_results import live_results
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read import run_queries
from tui_eval.store.write.baseline_writes import BaseChoice

GOOD, WRONG = Told(), Told(FAIL)
Gate = dict[str, object]


def told(passes: str) -> list[Told]:
    return [{"1": GOOD, "0": WRONG, "e": ERROR, " ": OPEN}[one] for one in passes]


@contextmanager
def against(
    folder: Path, before: Plan | None, now: Plan, gate: Gate
) -> Iterator[tuple[sqlite3.Connection, int]]:
    """Make a run with a baseline (None: without), and give a connection and its id."""
    store = folder / "store.db"
    base = None if before is None else BaseChoice("main", fill(store, before))
    run = fill(store, replace(now, base=base, gate={"baseline": gate}))
    with reading(store) as db:
        yield db, run


def said(db: sqlite3.Connection, run: int) -> Any:
    whole: Any = document(db, run)
    return whole


@pytest.mark.parametrize(
    ("same", "worse", "better", "most", "word"),
    [
        (1000, 0, 0, 0.03, "holds"),
        (960, 20, 20, 0.03, "holds"),
        (980, 20, 0, 0.05, "holds"),  # certainly worse, and certainly by less than 5 points
        (900, 100, 0, 0.03, "fails"),
        (960, 40, 0, 0.03, "fails"),
        (990, 10, 0, 0.0, "fails"),
        (40, 0, 0, 0.03, "unclear"),  # no flip among so few shows little
        (38, 2, 0, 0.03, "unclear"),  # 5 points, which is luck
        (900, 60, 40, 0.03, "unclear"),
    ],
)
def test_a_drop_holds_fails_or_is_unclear(
    tmp_path: Path, same: int, worse: int, better: int, most: float, word: str
) -> None:
    a = Plan({"gpt": told("1" * (same + worse) + "0" * better)}, cases(same + worse + better))
    b = Plan({"gpt": told("1" * same + "0" * worse + "1" * better)}, a.cases)
    with against(tmp_path, a, b, {"max_drop": most}) as (db, run):
        whole = said(db, run)
    found = whole["gate"]["baseline"]["gpt"]
    assert found["word"] == word
    assert whole["gate"]["holds"] == (word != "fails")
    assert whole["exit_code"] == (1 if word == "fails" else 0)
    assert (found["cases_needed"] is not None) == (word == "unclear")


def test_so_many_cases_as_are_named_would_tell(tmp_path: Path) -> None:
    plan = Plan({"gpt": told("1" * 20 + "0" * 20)}, cases(40))
    other = Plan({"gpt": told("0" + "1" * 20 + "0" * 19)}, cases(40))
    with against(tmp_path, plan, other, {"max_drop": 0.05}) as (db, run):
        needed = said(db, run)["gate"]["baseline"]["gpt"]["cases_needed"]
    times = -(-needed // 40)
    assert times > 1
    more, others = (Plan({"gpt": one.told["gpt"] * times}, cases(40 * times))
                    for one in (plan, other))  # fmt: skip
    with against(tmp_path / "more", more, others, {"max_drop": 0.05}) as (db, run):
        assert said(db, run)["gate"]["baseline"]["gpt"]["word"] == "holds"


@pytest.mark.parametrize("passes", ["1" * 30, "10" * 15])
def test_so_many_as_are_named_would_tell_where_nothing_differs(tmp_path: Path, passes: str) -> None:
    """And hardly fewer: what nobody saw differ is ruled out by n, not by its root."""

    def found(n: int) -> Any:
        plan = Plan({"gpt": told((passes * n)[:n])}, cases(n))
        with against(tmp_path / str(n), plan, plan, {"max_drop": 0.03}) as (db, run):
            return said(db, run)["gate"]["baseline"]["gpt"]

    needed = found(30)["cases_needed"]
    assert found(needed + needed % 2)["word"] == "holds"
    assert found(needed - needed // 10)["word"] == "unclear"


CRITICAL = [Case(n, f"case-{n}", {"n": n}, tags=("critical",)) for n in range(3)]


def changed(case: Case) -> Case:
    return replace(case, fields={"n": -1})


@pytest.mark.parametrize(
    ("before", "now", "rows", "word", "reason"),
    [
        ("111", "111", CRITICAL, "holds", None),
        ("110", "110", CRITICAL, "holds", None),
        ("111", "101", CRITICAL, "fails", "1 case tagged critical (case-1) broke since"),
        ("111", "1e1", CRITICAL, "unclear", "(case-1) without a result now"),
        ("1e1", "111", CRITICAL, "holds", None),
        ("1e1", "101", CRITICAL, "unclear", "without a result in the baseline, and not passed"),
        ("111", "11", CRITICAL[:2], "unclear", "(case-2) not in this run"),
        ("111", "011", [changed(CRITICAL[0]), *CRITICAL[1:]], "unclear", "changed since"),
        ("111", "111", [changed(CRITICAL[0]), *CRITICAL[1:]], "holds", None),
        ("111", "011", [replace(CRITICAL[0], tags=()), *CRITICAL[1:]], "holds", None),
        ("111", "000", [replace(one, tags=()) for one in CRITICAL], "holds", None),
    ],
)
def test_a_case_that_must_not_break_is_never_passed_over_in_silence(
    tmp_path: Path, before: str, now: str, rows: Sequence[Case], word: str, reason: str | None
) -> None:
    a, b = Plan({"gpt": told(before)}, CRITICAL), Plan({"gpt": told(now)}, rows)
    with against(tmp_path, a, b, {"never_break": ["critical"]}) as (db, run):
        found = said(db, run)["gate"]["baseline"]["gpt"]
    assert found["word"] == word
    assert (reason or "") in " ".join(found["reasons"])


def test_a_partial_run_notes_the_cases_that_it_leaves_out(tmp_path: Path) -> None:
    a = Plan({"gpt": told("111")}, CRITICAL)
    b = Plan({"gpt": told("1")}, CRITICAL[:1], partial=True)
    with against(tmp_path, a, b, {"never_break": ["critical"]}) as (db, run):
        found = said(db, run)["gate"]["baseline"]["gpt"]
        text = summary(results(db, run), width=200, ink=AnsiStyle(False))
    assert (found["word"], len(found["notes"])) == ("holds", 1)
    assert "2 cases tagged critical (case-1, case-2) not in this run" in text


@pytest.mark.parametrize(("unclear", "partial"), [("pass", False), ("fail", False), ("fail", True)])
def test_a_target_that_was_taken_out_of_the_suite_is_told(
    tmp_path: Path, unclear: str, partial: bool
) -> None:
    a = Plan({"one": told("1" * 200), "two": told("1" * 200)}, cases(200))
    b = Plan({"one": told("1" * 200)}, cases(200), partial=partial)
    with against(tmp_path, a, b, {"max_drop": 0.05, "unclear": unclear}) as (db, run):
        gate = said(db, run)["gate"]
        text = summary(results(db, run), width=200, ink=AnsiStyle(False))
    assert gate["baseline"]["one"]["word"] == "holds"
    assert ("two" in gate["baseline"]) is not partial
    assert gate["holds"] is (partial or unclear == "pass")
    assert ("two, baseline: " in text) is not partial
    assert ("has this target, and the run has not" in text) is not partial


def test_a_tag_that_no_case_has_is_not_held(tmp_path: Path) -> None:
    a = Plan({"gpt": told("111")}, CRITICAL)
    with against(tmp_path, a, a, {"never_break": ["critcal"]}) as (db, run):
        assert said(db, run)["gate"]["baseline"]["gpt"]["reasons"] == ["no case is tagged critcal"]


@pytest.mark.parametrize(("unclear", "code"), [("pass", 0), ("fail", 1)])
def test_without_a_baseline_it_is_unclear(tmp_path: Path, unclear: str, code: int) -> None:
    gate: Gate = {"max_drop": 0.03, "unclear": unclear}
    with against(tmp_path, None, Plan({"gpt": told("11")}, cases(2)), gate) as (db, run):
        whole = said(db, run)
        text = summary(results(db, run), width=100, ink=AnsiStyle(False))
    assert whole["baseline"] is None
    assert whole["exit_code"] == code
    assert whole["gate"]["baseline"]["gpt"]["reasons"] == ["there is no baseline of capitals"]
    assert text.count("there is no baseline of capitals") == 1


def test_document_summary_head_and_comparison_say_the_same(tmp_path: Path) -> None:
    a = Plan({"one": told("1" * 200), "two": told("1" * 200)}, cases(200))
    b = Plan({"one": told("1" * 180 + "0" * 20), "two": told("1" * 199 + "0")}, cases(200))
    gate: Gate = {"max_drop": 0.02}
    with against(tmp_path, a, b, gate) as (db, run):
        whole = said(db, run)
        rows = vs_baseline(db, run_queries.run(db, run))
        live = live_results(db, run).gate
        of = results(db, run)
    text = " ".join(summary(of, width=200, ink=AnsiStyle(False)).split())
    assert live is not None
    assert of.missed is not None
    assert [str(one) for one in live.missed] == [str(one) for one in of.missed]
    assert [one.column for one in live.missed] == ["one"]
    assert live.unclear == ("two",)
    for name, row in rows.items():
        assert whole["targets"][name]["vs_baseline"] == row_document(row)
    (failed,) = whole["gate"]["failed"]
    assert failed["got"] == 0.1 == -whole["targets"]["one"]["vs_baseline"]["diff"]
    assert failed["message"] in text
    base = of.base.base.name if of.base is not None else None
    assert f"one, against {base}: 100.0% → 90.0%, -10.0 points" in text
    assert f"tui-eval compare {base} {of.run.name}" in text


def test_nothing_is_held_against_a_baseline_while_trials_are_open(tmp_path: Path) -> None:
    a = Plan({"gpt": told("1" * 100)}, cases(100))
    b = Plan({"gpt": told("0" * 99 + " ")}, cases(100), state=RunState.RUNNING)
    with against(tmp_path, a, b, {"max_drop": 0.03}) as (db, run):
        whole = said(db, run)
        assert whole["targets"]["gpt"]["vs_baseline"] is None
        assert whole["gate"] == {"holds": None, "failed": [], "baseline": {}}
        live = live_results(db, run).gate
        assert live is not None
        assert (live.missed, live.unclear) == ((), ())
