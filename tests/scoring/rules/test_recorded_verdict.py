import pytest

from tests.scoring.making import refused, scored
from tui_eval.model.json import Json, JsonObject

ASKED: JsonObject = {"kind": "recorded", "value": "{{ human }}"}


@pytest.mark.parametrize(
    ("human", "verdict", "value"),
    [
        (True, "pass", 1.0),
        (False, "fail", 0.0),
        ("PASS", "pass", 1.0),
        ("fail", "fail", 0.0),
        ("ungraded", "ungraded", None),
        (1, "pass", 1.0),
        (0.75, "fail", 0.75),
        ("0.5", "fail", 0.5),
        ("1", "pass", 1.0),
    ],
)
def test_the_grade_is_what_the_row_says(human: Json, verdict: str, value: float | None) -> None:
    grade = scored(ASKED, "whatever", human=human)
    assert (grade.verdict, grade.value) == (verdict, value)


def test_a_threshold_says_which_values_pass() -> None:
    assert scored({**ASKED, "threshold": 0.7}, "x", human=0.75).verdict == "pass"
    assert scored({**ASKED, "not": True}, "x", human=True).verdict == "fail"


def test_the_rows_reason_is_told() -> None:
    grade = scored({**ASKED, "reason": "{{ why }}"}, "x", human=False, why="too\nlong")
    assert grade.reason == "recorded as fail: too⏎long"


@pytest.mark.parametrize("human", [1.5, -1, "yes", [1], {"a": 1}, "nan", ""])
def test_what_is_no_verdict_is_an_error_of_the_case(human: Json) -> None:
    assert "it is true, false, a number from 0 to 1" in refused(ASKED, human=human)
