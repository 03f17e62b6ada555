"""What a scorer says of a run weighs each case as the target's rate does."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reports.filled import CANCELLED, ERROR, FAIL, UNGRADED, Plan, Told, filled
from tui_eval.model.case import Case
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.reports.document import of_results
from tui_eval.reports.gates.gate_standing import gate_so_far
from tui_eval.reports.rates.scorer_rates import scorer_tallies
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.suites.spec.run import RunSettings
from tui_eval.ui.run.charts.chart_data import Spreads, by_tag, by_target

NEARLY = Told(Grade(Verdict.FAIL, 0.75, "near"))
ANY = [Told(), Told(FAIL), NEARLY, Told(UNGRADED), ERROR, CANCELLED]
NEVER_RIGHT = {"pass_rate": 1.0, "mean_score": 1.0}


def asked(weights: Sequence[float]) -> list[Case]:
    return [
        Case(i, f"case-{i}", {}, weight=weight, tags=("all",)) for i, weight in enumerate(weights)
    ]


@settings(max_examples=60, deadline=None)
@given(
    reduce=st.lists(
        st.sampled_from(["mean", "max", "majority", "at_least_2", "pass@1", "pass^2"]),
        min_size=1,
        max_size=3,
        unique=True,
    ),
    epochs=st.integers(1, 3),
    weights=st.lists(st.sampled_from([1.0, 1.0, 9.0]), min_size=1, max_size=5),
    data=st.data(),
)
def test_the_one_scorer_of_a_suite_has_the_rates_of_its_target(
    reduce: list[str], epochs: int, weights: Sequence[float], data: st.DataObject
) -> None:
    n = len(weights) * epochs
    told = {
        name: data.draw(st.lists(st.sampled_from(ANY), min_size=n, max_size=n))
        for name in ("one", "two")
    }
    gate: dict[str, object] = {**NEVER_RIGHT, "scorers": {"exact": NEVER_RIGHT}}
    plan = Plan(told, asked(weights), epochs=epochs, run={"reduce": reduce}, gate=gate)
    with TemporaryDirectory() as folder, filled(Path(folder) / "store.db", plan) as (db, run):
        of = results(db, run)
        standing = gate_so_far(db, run, settled=True)
        charts = by_target(db, run, 10), by_tag(db, run, 10)
    for column in of.columns:
        rates, tally = column.rates, column.scorers.get("exact")
        if tally is None:
            assert rates.n == rates.ungraded == 0
            continue
        assert (tally.passed, tally.failed, tally.ungraded) == (
            rates.passed, rates.failed, rates.ungraded
        )  # fmt: skip
        assert tally.pass_rate == pytest.approx(rates.pass_rate)
        assert tally.mean == pytest.approx(rates.mean_score)
        assert [*tally.reduced] == [*rates.reduced] == reduce[1:]
        for name, one in tally.reduced.items():
            assert one.mean == pytest.approx(rates.reduced[name].pass_rate)
    assert standing is not None
    missed = standing.missed
    of_targets = [(one.column, one.threshold, one.got) for one in missed if one.group is None]
    of_scorers = [(one.column, one.threshold, one.got) for one in missed if one.group is not None]
    assert [one[:2] for one in of_scorers] == [one[:2] for one in of_targets]
    assert [one[2] for one in of_scorers] == pytest.approx([one[2] for one in of_targets])
    shown = {
        group.name: group.mean
        for chart in charts
        if isinstance(chart, Spreads)
        for group in chart.groups
    }
    for column in of.columns:
        if column.column.name in shown:
            assert shown[column.column.name] == pytest.approx(column.rates.mean_score)
    assert len(of.columns) == 2 and isinstance(charts[1], Spreads) == ("all" in shown)


def test_a_case_that_weighs_nine_is_nine_tenths_of_all_that_is_said(tmp_path: Path) -> None:
    plan = Plan({"one": [Told(), Told(FAIL)]}, asked([9.0, 1.0]))
    with filled(tmp_path / "s.db", plan) as (db, run):
        of = results(db, run)
    whole = of_results(of)
    scorers, targets = whole["scorers"], whole["targets"]
    assert isinstance(scorers, dict) and isinstance(targets, dict)
    exact, one = scorers["exact"], targets["one"]
    assert isinstance(exact, dict) and isinstance(one, dict)
    assert one["pass_rate"] == exact["mean"] == 0.9
    assert exact["targets"] == {
        "one": {"n": 2, "passed": 1, "failed": 1, "ungraded": 0, "mean": 0.9, "pass_rate": 0.9,
                "reduced": {}}
    }  # fmt: skip
    assert "few" in summary(of, width=100, ink=AnsiStyle(False), groups=True)


def test_counting_in_the_store_says_the_same_as_going_through_the_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [Told(), Told(FAIL), NEARLY, Told(UNGRADED), Told(scorer="other", required=False)]
    plan = Plan({"one": told, "two": told[::-1]}, asked([1.0] * 5))
    with filled(tmp_path / "s.db", plan) as (db, run):
        counted = scorer_tallies(db, run, RunSettings())
        monkeypatch.setattr(
            "tui_eval.reports.rates.scorer_rates.a_case_is_a_trial", lambda db, run_id: False
        )
        gone_through = scorer_tallies(db, run, RunSettings())
    assert gone_through == counted
    assert [*counted[1]] == [*gone_through[1]] == ["other", "exact"]
