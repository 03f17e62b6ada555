import math
from typing import Any

import pytest

from tests.scoring.making import scored
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict

PLANETS: JsonObject = {
    "kind": "likelihood",
    "expected": "Jupiter",
    "choices": ["Mars", "Jupiter", "Venus"],
}


def first(token: str, **top: float) -> dict[str, Any]:
    """Make a token with the probabilities of those that were likeliest in its place."""
    listed = [{"token": one, "logprob": math.log(p)} for one, p in top.items()]
    return {"token": token, "logprob": 0.0, "top_logprobs": listed}


def graded(*tokens: Any, **more: Any) -> Grade:
    output = Output("B", fields={"logprobs": list(tokens)})
    return scored({**PLANETS, **more}, output)


def test_the_likeliest_option_decides_whatever_was_said() -> None:
    right = graded(first("A", A=0.3, B=0.6, x=0.1))
    wrong = graded(first("B", A=0.6, B=0.3, x=0.1))
    assert (right.verdict, right.value) == (Verdict.PASS, 1.0)
    assert (wrong.verdict, wrong.value) == (Verdict.FAIL, 0.0)
    assert right.reason == "expected B (jupiter), B 0.6, A 0.3, not listed: C"
    assert isinstance(right.raw, dict)
    assert right.raw["right"] == pytest.approx(2 / 3)


def test_the_spellings_of_a_label_add_up() -> None:
    grade = graded(first("A", **{"A": 0.4, "B": 0.25, " B": 0.25, "b": 0.1, "(C": 0.1}))
    assert grade.verdict is Verdict.PASS
    assert grade.reason.startswith("expected B (jupiter), B 0.5, A 0.4, C 0.1")


def test_white_space_before_the_answer_is_passed_over() -> None:
    assert graded(first("\n", A=0.9), first(" B", B=0.9)).verdict is Verdict.PASS
    assert graded(first("\n", B=0.9)).verdict is Verdict.UNGRADED


@pytest.mark.parametrize("odd", [True, math.nan, -math.inf, 10**400, "-1", None])
def test_what_is_no_number_is_no_log_probability(odd: Any) -> None:
    listed = [{"token": "A", "logprob": odd}, {"token": "B", "logprob": -3.0}]
    grade = graded({"token": "A", "logprob": 0.0, "top_logprobs": listed})
    assert grade.verdict is Verdict.PASS
    assert "not listed: A, C" in grade.reason


@pytest.mark.parametrize("more", [{}, {"threshold": 0.5}])
def test_an_option_that_could_not_come_is_as_one_that_is_not_listed(more: JsonObject) -> None:
    never = [{"token": one, "logprob": -9999.0} for one in "AB"]
    said = {"token": "The", "logprob": 0.0}
    none = graded({**said, "top_logprobs": [said, *never]}, **more)
    assert none.verdict is Verdict.UNGRADED
    assert none.reason.startswith("none of A, B, C is among the 3 likeliest first tokens")
    one = graded({**said, "top_logprobs": [{"token": "B", "logprob": -3.0}, *never]}, **more)
    assert (one.verdict, one.value) == (Verdict.PASS, 1.0)
    assert one.reason.endswith("not listed: A, C")


def test_with_a_threshold_the_value_is_the_probability_of_the_right_option() -> None:
    tokens = first("A", A=0.45, B=0.27, C=0.18)
    passed, failed = (graded(tokens, threshold=least) for least in (0.3, 0.31))
    assert (passed.verdict, failed.verdict) == (Verdict.PASS, Verdict.FAIL)
    assert passed.value == failed.value == pytest.approx(0.3)


def test_of_equally_likely_options_none_is_chosen() -> None:
    tie = graded(first("A", A=0.4, B=0.4))
    assert tie.verdict is Verdict.FAIL
    assert tie.reason.endswith("A and B are equally likely")
    assert graded(first("A", A=0.4, B=0.4), expected=["A", "B"]).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("tokens", "why"),
    [
        ([], "the endpoint gave no log-probabilities: ask for them with params = "),
        ([first("B")], "the endpoint listed no likeliest tokens: ask for them with params = "),
        ([first("The", The=0.9, I=0.1)], "none of A, B, C is among the 2 likeliest first tokens"),
        ([3, "x"], "the first 2 tokens are white space, or list no likeliest ones"),
    ],
)
def test_what_the_endpoint_does_not_give_is_ungraded(tokens: list[Any], why: str) -> None:
    grade = graded(*tokens)
    assert grade.verdict is Verdict.UNGRADED
    assert grade.reason.startswith(why)
