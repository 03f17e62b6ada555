import pytest

from tests.scoring.making import scored
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output, Usage
from tui_eval.model.states import Verdict

KNOWN = Output(
    "x",
    finish_reason="stop",
    usage=Usage(input=1200, output=80, reasoning=30),
    cost_usd=0.002,
    latency_s=1.25,
)
UNKNOWN = Output("x")


@pytest.mark.parametrize(
    ("settings", "passes", "reason", "raw"),
    [
        ({"kind": "latency", "max": 1.25}, True, "1.25 s ≤ 1.25 s", 1.25),
        ({"kind": "latency", "max": 1}, False, "1.25 s > 1 s", 1.25),
        ({"kind": "tokens", "max": 80}, True, "80 tokens ≤ 80 tokens", 80),
        ({"kind": "tokens", "max": 79}, False, "80 tokens > 79 tokens", 80),
        (
            {"kind": "tokens", "max": 1000, "which": "input"},
            False,
            "1,200 tokens > 1,000 tokens",
            1200,
        ),
        (
            {"kind": "tokens", "max": 1280, "which": "total"},
            True,
            "1,280 tokens ≤ 1,280 tokens",
            1280,
        ),
        ({"kind": "cost", "max": 0.01}, True, "$0.002 ≤ $0.01", 0.002),
        ({"kind": "cost", "max": 0}, False, "$0.002 > $0", 0.002),
        ({"kind": "finish"}, True, 'expected to finish with "stop", got "stop"', "stop"),
        (
            {"kind": "finish", "expected": "END_TURN"},
            True,
            'expected to finish with "stop", got "stop"',
            "stop",
        ),
        (
            {"kind": "finish", "expected": ["length", "tool_calls"]},
            False,
            'expected to finish with "length" or "tool_calls", got "stop"',
            "stop",
        ),
        ({"kind": "latency", "max": 1, "not": True}, True, "1.25 s > 1 s, as wanted", 1.25),
    ],
)
def test_a_known_figure_is_held_against_its_bound(
    settings: JsonObject, passes: bool, reason: str, raw: object
) -> None:
    grade = scored(settings, KNOWN)
    assert (grade.verdict is Verdict.PASS, grade.reason, grade.raw) == (passes, reason, raw)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"kind": "latency", "max": 1}, "how long the call took is unknown"),
        ({"kind": "tokens", "max": 1}, "its output tokens are unknown"),
        ({"kind": "tokens", "max": 1, "which": "total"}, "its total tokens are unknown"),
        ({"kind": "cost", "max": 1}, "what it cost is unknown"),
        ({"kind": "finish"}, "the finish reason is unknown"),
    ],
)
def test_an_unknown_figure_is_ungraded_also_for_not(settings: JsonObject, reason: str) -> None:
    for asked in (settings, {**settings, "not": True}):
        grade = scored(asked, UNKNOWN)
        assert (grade.verdict, grade.value, grade.reason) == (Verdict.UNGRADED, None, reason)


def test_half_of_a_total_is_no_total() -> None:
    asked: JsonObject = {"kind": "tokens", "max": 10, "which": "total"}
    assert scored(asked, Output("x", usage=Usage(input=3))).verdict is Verdict.UNGRADED


def test_free_is_known_to_cost_nothing() -> None:
    assert scored({"kind": "cost", "max": 0}, Output("x", cost_usd=0.0)).verdict is Verdict.PASS


def test_figures_that_round_to_their_bound_are_shown_in_full() -> None:
    grade = scored({"kind": "latency", "max": 1}, Output("x", latency_s=1.0001))
    assert grade.reason == "1.0001 > 1.0"
