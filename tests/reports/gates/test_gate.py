"""What is said of a threshold that does not hold, and which hold."""

import pytest

from tui_eval.reports.gates.gate import GateMeasures, MissedThreshold, TargetMeasures, judge
from tui_eval.suites.spec.gate import Gate


@pytest.mark.parametrize(
    ("threshold", "limit", "got", "figures"),
    [
        ("max_cost_usd", 1.0, 1.5, ("$1.50", "$1.00")),
        ("max_cost_usd", 1.0, 1.004, ("$1.004", "$1.00")),
        ("max_cost_usd", 0.0004, 0.0005, ("$0.0005", "$0.0004")),
        ("pass_rate", 0.9, 0.89996, ("89.996%", "90%")),
        ("pass_rate", 0.9, 0.5, ("50%", "90%")),
        ("mean_score", 0.5, 0.25, ("0.25", "0.5")),
        ("max_p95_latency_s", 2.0, 2.5, ("2.5s", "2s")),
        ("max_cost_usd", 2.5, None, ("unknown", "$2.50")),
    ],
)
def test_figures_have_as_few_digits_as_show_that_it_does_not_hold(
    threshold: str, limit: float, got: float | None, figures: tuple[str, str]
) -> None:
    missed = MissedThreshold("gpt", None, threshold, limit, got)
    assert missed.figures == figures
    assert ("there is nothing to measure" in str(missed)) == (got is None)


@pytest.mark.parametrize(
    ("wanted", "holds"),
    [
        ({"pass_rate": 0.3}, True),
        ({"pass_rate": 0.300001}, False),
        ({"max_error_rate": 0.3}, True),
        ({"max_error_rate": 0.299999}, False),
        ({"max_ungraded_rate": 0.0}, True),
        ({"mean_score": 0.1}, False),
    ],
)
def test_what_is_reached_to_the_digit_holds(wanted: dict[str, float], holds: bool) -> None:
    of = GateMeasures(10, pass_rate=0.1 * 3 - 1e-16, mean_score=None, errors=3)
    gate = Gate.model_validate(wanted)
    missed = judge(gate, [TargetMeasures("gpt", "gpt", of, {}, {})], partial=False)
    assert (missed == []) == holds
