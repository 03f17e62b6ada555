from pathlib import Path

import pytest

from tests.reports.filled import ERROR, FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.case_outcomes import SuiteHistory, suite_history

GOOD, WRONG = Told(), Told(FAIL, text="London")


def read(folder: Path, *plans: Plan, runs: int = 10) -> SuiteHistory:
    for plan in plans:
        fill(folder / "store.db", plan)
    with reading(folder / "store.db") as db:
        return suite_history(db, "capitals", runs=runs)


def test_cases_over_runs(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        Plan({"gpt": [GOOD, WRONG]}, cases(2)),
        Plan({"gpt": [GOOD, ERROR, GOOD]}, cases(3)),
        Plan({"gpt": [WRONG]}, cases(1), partial=True),
    )
    assert [(case.case_id, case.outcomes, case.flaky) for case in found.cases] == [
        ("case-0", ("pass", "pass"), False),
        ("case-1", ("fail", "error"), False),
        ("case-2", (None, "pass"), False),
    ]
    assert len(found.runs) == 2


def test_only_the_last_runs_are_looked_at(tmp_path: Path) -> None:
    plans = [Plan({"gpt": [told]}, cases(1)) for told in (WRONG, GOOD, GOOD)]
    assert read(tmp_path, *plans, runs=2).cases[0].outcomes == ("pass", "pass")


@pytest.mark.parametrize(
    ("told", "flaky"),
    [
        ([GOOD, WRONG], True),
        ([GOOD, Told(FAIL)], False),  # the same text: it is the grading that flipped
        ([GOOD, GOOD], False),
    ],
)
def test_epochs_that_differ_are_flaky(tmp_path: Path, told: list[Told], flaky: bool) -> None:
    (case,) = read(tmp_path, Plan({"gpt": told}, cases(1), epochs=2)).cases
    assert case.flaky is flaky
    assert case.outcomes == (("mixed",) if told[1].grade is FAIL else ("pass",))


def test_another_request_is_no_flip(tmp_path: Path) -> None:
    """Runs of these plans have keys of their own: what they asked was not the same."""
    plans = [Plan({"gpt": [told]}, cases(1)) for told in (GOOD, WRONG)]
    (case,) = read(tmp_path, *plans).cases
    assert (case.outcomes, case.flaky) == (("pass", "fail"), False)


def test_a_suite_without_runs(tmp_path: Path) -> None:
    fill(tmp_path / "store.db", Plan({"gpt": [GOOD]}, cases(1), partial=True))
    with reading(tmp_path / "store.db") as db:
        assert suite_history(db, "capitals").cases == []
