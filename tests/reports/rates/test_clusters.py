"""Cases that are not independent: `[dataset] cluster` decides the error and the interval."""

from pathlib import Path
from typing import cast

import pytest

from tests.reports.filled import FAIL, OPEN, Plan, Told, filled
from tui_eval.model.case import Case, cluster_of
from tui_eval.model.json import JsonObject
from tui_eval.reports.document import of_results
from tui_eval.reports.rates.pass_rates import pass_rates
from tui_eval.reports.rates.run_rates import rates
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.suites.spec.run import RunSettings

GOOD, WRONG = Told(), Told(FAIL)
PASSAGES = [
    Case(n, f"case-{n}", {"n": n, "passage": n // 10}, tags=("odd",) if n % 2 else ())
    for n in range(60)
]
HALF = [GOOD if n // 10 < 3 else WRONG for n in range(60)]


def test_rates_document_head_and_summary_say_the_same_error(tmp_path: Path) -> None:
    with filled(tmp_path / "store.db", Plan({"gpt": HALF}, PASSAGES, cluster="passage")) as (
        db,
        run,
    ):
        found = rates(db, run, RunSettings())
        head = pass_rates(db, run)[0]
        whole = results(db, run)
    of = found.columns[0]
    assert (of.clusters, of.pass_rate) == (6, 0.5)
    # by hand: six sums of ±5: √(6/5·150)/60
    assert of.stderr_clustered == pytest.approx((6 / 5 * 150) ** 0.5 / 60)
    assert of.stderr == pytest.approx((0.25 / 59) ** 0.5)
    assert (head.interval, head.clusters) == (of.interval, 6)
    assert (head.stderr, head.stderr_clustered) == (of.stderr, of.stderr_clustered)
    assert found.tags["odd"][0].clusters == 6
    target = cast("JsonObject", cast("JsonObject", of_results(whole)["targets"])["gpt"])
    assert (target["clusters"], target["stderr_clustered"]) == (6, 0.223607)
    said = " ".join(summary(whole, width=200, ink=AnsiStyle(False)).split())
    assert "95% is over 6 clusters (passage); standard error of the mean 0.224, 0.065" in said


def test_a_run_that_goes_on_has_rates_and_no_interval(tmp_path: Path) -> None:
    plan = Plan({"gpt": [*HALF[:59], OPEN]}, PASSAGES, cluster="passage")
    with filled(tmp_path / "store.db", plan) as (db, run):
        assert pass_rates(db, run)[0].interval is None


def test_the_epochs_of_a_case_are_one_case_of_its_cluster(tmp_path: Path) -> None:
    twice = [one for told in HALF for one in (told, told)]
    plan = Plan({"gpt": twice}, PASSAGES, epochs=2, cluster="passage")
    with filled(tmp_path / "store.db", plan) as (db, run):
        of = rates(db, run, RunSettings(epochs=2)).columns[0]
        assert of.stderr_clustered == pytest.approx((6 / 5 * 150) ** 0.5 / 60)


def test_a_case_without_a_cluster_is_one_of_its_own() -> None:
    assert cluster_of({"passage": {"b": 1, "a": 2}}, "passage") == cluster_of(
        {"passage": {"a": 2, "b": 1}}, "passage"
    )
    assert cluster_of({"passage": None}, "passage") is None
    assert cluster_of({}, "passage") is None
    assert cluster_of({"meta": {"page": 3}}, "meta.page") == "3"
