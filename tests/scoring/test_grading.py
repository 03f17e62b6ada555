import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tests.scoring.making import check, scored
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check
from tui_eval.scoring.grading import grade
from tui_eval.suites.scorers import SCORERS

ASKED: dict[str, JsonObject] = {
    "exact": {"expected": "Paris"},
    "includes": {"expected": ["Paris", "x"], "threshold": 0.5},
    "starts_with": {"expected": "Paris"},
    "regex": {"expected": "Pa(r)is"},
    "numeric": {"expected": 42},
    "math": {"expected": "42"},
    "choice": {"expected": "B", "choices": ["Lyon", "Paris", "Nice"]},
    "likelihood": {"expected": "B", "choices": ["Lyon", "Paris", "Nice"]},
    "fuzzy": {"expected": "Paris"},
    "f1": {"expected": "Paris"},
    "similarity": {"metric": "chrf", "expected": "Paris"},
    "json": {"extract": True, "expected": {"city": "Paris"}},
    "json_schema": {"extract": True, "schema": {"type": "object"}},
    "tool_calls": {"expected": ["search"]},
    "instructions": {"instructions": ["punctuation:no_comma"], "kwargs": [{}]},
    "recorded": {"value": True},
    "latency": {"max": 1},
    "tokens": {"max": 10},
    "cost": {"max": 1},
    "finish": {"expected": "stop"},
}
CHECKS = {kind: check({"kind": kind, **settings}) for kind, settings in ASKED.items()}
RULES = tuple(
    kind for kind, model in SCORERS.items() if not model.asks({}) and not model.RUNS_PROGRAM
)
"""The kinds that a rule grades; what others say is no function of the output alone."""
LONGEST_REASON = 400


def test_there_is_a_grader_for_every_kind_with_a_rule() -> None:
    assert tuple(ASKED) == RULES


def test_an_unknown_kind_is_a_bug_that_raises() -> None:
    with pytest.raises(KeyError):
        grade(Check("x", "exat", {}), Output("x"))


@pytest.mark.parametrize("kind", RULES)
def test_no_hostile_text_breaks_a_scorer_or_its_reason(kind: str) -> None:
    for text in [*hostile.outputs(), "\x1b[31m" * 100, "\ud800" * 100, "\u202e" * 300]:
        given_grade = grade(CHECKS[kind], Output(text, finish_reason=text[:50]))
        assert len(given_grade.reason) <= LONGEST_REASON
        assert "\n" not in given_grade.reason
        assert "\x1b" not in given_grade.reason


@pytest.mark.parametrize("kind", RULES)
@given(text=st.text())
def test_every_text_gets_a_grade_whose_value_fits_its_verdict(kind: str, text: str) -> None:
    made = CHECKS[kind]
    found = grade(made, Output(text))
    assert found == grade(made, Output(text))
    assert found.reason
    if found.verdict is Verdict.UNGRADED:
        assert found.value is None
    else:
        assert found.value is not None
        assert 0 <= found.value <= 1


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("text", ["Paris", "Lyon", "42", "", '{"city": "Paris"}'])
def test_not_turns_every_pass_into_a_fail_and_back(kind: str, text: str) -> None:
    output = Output(text, finish_reason="stop", latency_s=0.5, cost_usd=0.0)
    straight = scored({"kind": kind, **ASKED[kind]}, output)
    turned = scored({"kind": kind, **ASKED[kind], "not": True}, output)
    if straight.verdict is Verdict.UNGRADED:
        assert turned == straight
    else:
        assert {straight.verdict, turned.verdict} == {Verdict.PASS, Verdict.FAIL}
        assert turned.value == 1 - (straight.value or 0)
        passed = turned.verdict is Verdict.PASS
        said = f"{straight.reason}, as wanted" if passed else f"not: {straight.reason}"
        assert turned.reason == said


@pytest.mark.parametrize("kind", RULES)
def test_a_huge_output_is_quoted_by_its_beginning(kind: str) -> None:
    found = grade(CHECKS[kind], Output("lorem ipsum " * 10_000, finish_reason="x" * 10_000))
    assert len(found.reason) <= LONGEST_REASON
