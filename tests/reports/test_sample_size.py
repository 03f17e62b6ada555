from pathlib import Path

import pytest

from tests.reports.filled import FAIL, Plan, Told, cases, fill
from tests.support import reading
from tui_eval.reports.sample_size import SampleSize, sample_size
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
