from pathlib import Path

import pytest

from tests.reports.filled import FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.sample_size import (
    SampleSize,
    sample_size,
    sample_size_before,
    sample_size_words,
)
from tui_eval.store.read import run_queries

GOOD, WRONG = Told(), Told(FAIL)


def of_last(folder: Path, *plans: Plan) -> SampleSize:
    for plan in plans:
        fill(folder / "store.db", plan)
    with reading(folder / "store.db") as db:
        return sample_size(db, run_queries.run_named(db, "last"))


def test_what_nobody_has_measured_is_assumed_and_said(tmp_path: Path) -> None:
    found = of_last(tmp_path, Plan({"gpt": [GOOD, WRONG] * 50}, cases(100)))
    assert (found.differing, found.differing_from) == (0.2, "assumed")
    assert found.cases == 1742
    assert found.present == 100
    assert found.as_json()["stderr_by_epochs"] == {}
    assert found.as_json()["between"] is None


def test_the_share_that_differs_is_that_of_the_last_two_full_runs(tmp_path: Path) -> None:
    found = of_last(
        tmp_path,
        Plan({"gpt": [GOOD] * 50}, cases(50)),
        Plan({"gpt": [GOOD] * 40 + [WRONG] * 10}, cases(50)),
    )
    assert found.differing == pytest.approx(0.2)
    assert found.differing_from == "runs"


def test_epochs_say_what_more_of_them_would_give(tmp_path: Path) -> None:
    told = [GOOD, GOOD] * 20 + [WRONG, WRONG] * 20 + [GOOD, WRONG] * 20
    found = of_last(tmp_path, Plan({"gpt": told}, cases(60), epochs=2))
    errors = found.stderr_by_epochs
    assert list(errors) == [1, 2, 4, 8]
    assert errors[1] > errors[2] > errors[8]
    assert found.parts is not None
    assert found.parts.within == pytest.approx(20 * 0.5 / 60)


def test_how_unlike_targets_are_is_not_how_unlike_cases_are(tmp_path: Path) -> None:
    always, never = [GOOD] * 60, [WRONG] * 60  # 30 cases twice: no case differs from another
    found = of_last(tmp_path, Plan({"good": always, "bad": never}, cases(30), epochs=2))
    assert found.parts is not None
    assert (found.parts.between, found.parts.within) == (0, 0)


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (100, "100 cases show a difference of 12.4 points four times in five; 1,742 would"),
        (1742, "1,742 cases show a difference of 3.0 points four times in five"),
        (2, "2 cases: too few to show any difference; 1,742 would show 3 points four times"),
    ],
)  # fmt: skip
def test_what_cases_show_before_they_are_run_is_a_line(n: int, words: str) -> None:
    said = sample_size_words(sample_size_before(None, "new", n))
    assert said.startswith(words)
    assert said.endswith("(verdicts differ in 20.0% of the cases, assumed)")
