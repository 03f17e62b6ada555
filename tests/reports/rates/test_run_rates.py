import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.filled import (
    CANCELLED,
    ERROR,
    FAIL,
    OPEN,
    UNGRADED,
    Plan,
    Told,
    cases,
    fill,
    filled,
)
from tests.support import reading
from tui_eval.reports.rates.run_rates import Rates, rates
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.suites.spec.run import RunSettings

GOOD, WRONG, UNSURE = Told(), Told(FAIL), Told(UNGRADED)
EPOCHS = 3


def of(folder: Path, plan: Plan) -> Rates:
    with filled(folder / "store.db", plan) as (db, run):
        settings = RunSettings.model_validate({**plan.run, "epochs": plan.epochs})
        return rates(db, run, settings).columns[0]


def plan(told: list[Told], reduce: str, epochs: int = 2) -> Plan:
    return Plan({"gpt": told}, cases(len(told) // epochs), epochs=epochs, run={"reduce": reduce})


def test_a_case_with_too_few_graded_epochs_is_left_out_of_rate_and_interval_and_said(
    tmp_path: Path,
) -> None:
    # the second case passed once and errored once: two draws of one graded epoch say nothing
    told = [WRONG, WRONG, GOOD, ERROR, WRONG, GOOD]
    found = of(tmp_path, plan(told, "pass@2"))
    assert (found.cases, found.rated, found.cases_left_out) == (3, 2, 1)
    assert found.pass_rate == 0.5
    assert found.bounds is not None
    assert list(found.bounds) == [pytest.approx(1 / 3), pytest.approx(2 / 3)]


def test_the_summary_says_what_a_reduced_rate_is_over(tmp_path: Path) -> None:
    twice = plan([WRONG, WRONG, GOOD, ERROR, GOOD, GOOD], "pass@2")
    with filled(tmp_path / "store.db", twice) as (db, run):
        text = summary(results(db, run), width=80, ink=AnsiStyle(False))
    assert "pass is pass@2 over 2 cases; 1 case with fewer than 2 graded epochs left out" in text
    assert "33.3% if all of it had failed, 66.7% if all had passed" in text
    plain = fill(tmp_path / "plain.db", plan([GOOD, WRONG], "mean"))
    with reading(tmp_path / "plain.db") as db:
        assert not re.search("pass is", summary(results(db, plain), width=80, ink=AnsiStyle(False)))


def test_further_reducers_say_by_name_what_they_alone_would_say(tmp_path: Path) -> None:
    told = [WRONG, GOOD, GOOD, GOOD, GOOD, ERROR]
    names = ["mean", "max", "pass@2", "pass^2"]
    run: dict[str, object] = {"reduce": names}
    several = of(tmp_path, Plan({"gpt": told}, cases(3), epochs=2, run=run))
    assert several.pass_rate == pytest.approx(5 / 6) and [*several.reduced] == names[1:]
    for name, one in several.reduced.items():
        (tmp_path / name).mkdir()
        alone = of(tmp_path / name, plan(told, name))
        assert not alone.reduced
        assert (one.pass_rate, one.interval, one.mean_score) == (
            alone.pass_rate, alone.interval, alone.mean_score
        )  # fmt: skip
        assert (one.rated, one.cases_left_out) == (alone.rated, alone.cases_left_out)


def test_the_summary_shows_further_reducers_beside(tmp_path: Path) -> None:
    told = [WRONG, GOOD, GOOD, GOOD, GOOD, ERROR]
    run: dict[str, object] = {"reduce": ["mean", "pass^2"]}
    with filled(tmp_path / "store.db", Plan({"gpt": told}, cases(3), 2, run)) as (db, found):
        text = summary(results(db, found), width=120, ink=AnsiStyle(False), groups=True)
    head, row = (line.split() for line in text.splitlines()[2:4])
    assert head[:5] == ["target", "pass", "95%", "pass^2", "95%"]
    assert row[2] == "83.3%" and row[4] == "50.0%"
    assert "pass is mean over 3 cases" in text
    assert "pass^2 is over 2 cases; 1 case with fewer than 2 graded epochs left out" in text


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["mean", "max", "majority", "at_least_2", "pass@2", "pass^2", "pass@3"]),
    st.sampled_from(["leave_out", "fail"]),
    st.lists(
        st.lists(
            st.sampled_from([GOOD, WRONG, UNSURE, ERROR, CANCELLED, OPEN]),
            min_size=EPOCHS,
            max_size=EPOCHS,
        ),
        min_size=1,
        max_size=6,
    ),
)
def test_a_rate_lies_within_its_own_bounds(
    reduce: str, errors: str, by_case: list[list[Told]]
) -> None:
    told = [trial for of_case in by_case for trial in of_case]
    run: dict[str, object] = {"reduce": reduce, "errors": errors}
    with TemporaryDirectory() as folder:
        found = of(Path(folder), Plan({"gpt": told}, cases(len(by_case)), EPOCHS, run))
    assert found.rated + found.cases_left_out <= found.cases
    if OPEN not in told:
        assert found.rated + found.cases_left_out == found.cases
    if found.bounds is None:
        assert not found.left_out or found.rated + found.cases_left_out == 0
        return
    low, high = found.bounds
    assert 0.0 <= low <= high <= 1.0
    if found.pass_rate is not None:
        assert low <= found.pass_rate <= high
    # cases that are not rated lie anywhere in 0..1, and rated ones cannot narrow that
    said = found.rated + found.cases_left_out
    assert high - low >= found.cases_left_out / said - 1e-9
