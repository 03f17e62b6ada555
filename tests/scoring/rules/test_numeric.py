import json
import os
from pathlib import Path

import pytest

from tests.scoring.making import refused, scored
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import Verdict

SOLUTIONS = "gsm8k_labelled_solutions.jsonl"


def _labelled_solutions() -> Path:
    beside = Path(__file__).parents[3].parent / "shared" / "data"
    return Path(os.environ.get("TUI_EVAL_DATA", beside)) / SOLUTIONS


@pytest.mark.skipif(
    not _labelled_solutions().is_file(),
    reason=f"{SOLUTIONS} is not there: name its folder in TUI_EVAL_DATA",
)
def test_it_agrees_with_every_labelled_gsm8k_solution() -> None:
    right = {"6b_finetuning": 0, "175b_verification": 0}
    seen = 0
    with _labelled_solutions().open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            asked: JsonObject = {"kind": "numeric", "expected": row["target"]}
            passed = scored(asked, row["output"]).verdict is Verdict.PASS
            assert passed == row["metadata"]["is_correct"], row["id"]
            right[row["metadata"]["model"]] += passed
            seen += 1
    assert seen == 2638
    assert right == {"6b_finetuning": 286, "175b_verification": 742}


@pytest.mark.parametrize(
    ("settings", "text", "verdict", "reason"),
    [
        ({"expected": 18}, "It is 18.", "pass", "expected 18, got 18"),
        ({"expected": "18"}, "A: 26", "fail", "expected 18, got 26"),
        ({"expected": 1234}, "$1,234", "pass", 'expected 1234, got 1234 ("$1,234")'),
        ({"expected": 18}, "no idea", "fail", 'expected 18, found no number in "no idea"'),
        ({"expected": 18}, "", "fail", 'expected 18, found no number in ""'),
        ({"expected": [3, 4]}, "4", "pass", "expected 3 or 4, got 4"),
        ({"expected": 1, "pick": "first"}, "1 of 2", "pass", "expected 1, got 1"),
        ({"expected": 2, "pick": 2}, "1 of 2 of 3", "pass", "expected 2, got 2"),
        ({"expected": 2, "pick": 4}, "1 2", "fail", 'expected 2, found no number 4 in "1 2"'),
        ({"expected": 3.14, "tolerance": 0.01}, "3.149", "pass", "expected 3.14, got 3.149"),
        ({"expected": 100, "relative": 0.1}, "111", "fail", "expected 100, got 111"),
        ({"expected": 18, "not": True}, "18", "fail", "not: expected 18, got 18"),
        (
            {"expected": 18, "not": True},
            "none",
            "pass",
            'expected 18, found no number in "none", as wanted',
        ),
    ],
)
def test_the_picked_number_is_compared(
    settings: JsonObject, text: str, verdict: str, reason: str
) -> None:
    grade = scored({"kind": "numeric", **settings}, text)
    assert (grade.verdict, grade.reason) == (verdict, reason)


def test_what_was_read_is_kept() -> None:
    asked: JsonObject = {"kind": "numeric", "expected": 1}
    assert scored(asked, "1,234").raw == 1234
    assert scored(asked, "1/4").raw == 0.25
    assert scored(asked, "0.1").raw == 0.1
    assert scored(asked, "nothing").raw is None


def test_a_decimal_number_is_shown_as_it_was_written_and_only_so() -> None:
    asked: JsonObject = {"kind": "numeric", "expected": 18}
    assert scored(asked, "10.833333333333332").reason == "expected 18, got 10.833333333333332"
    assert scored(asked, "1/3").reason == 'expected 18, got 0.333333333333 ("1/3")'


def test_a_number_beyond_comparing_fails_with_its_size() -> None:
    grade = scored({"kind": "numeric", "expected": 1}, "9" * 5000)
    assert grade.verdict is Verdict.FAIL
    assert grade.reason == "expected 1, got a number of 5,000 characters"


def test_an_expected_value_without_a_number_is_an_error_of_the_case() -> None:
    asked: JsonObject = {"kind": "numeric", "expected": "{{ answer }}"}
    answers: list[Json] = ["n/a", None, True, [1, "x"], {"a": 1}]
    for answer in answers:
        assert 'scorer "numeric": expected' in refused(asked, answer=answer)
