from dataclasses import replace

import pytest

from tui_eval.model.outputs.output import Output
from tui_eval.model.states import Verdict
from tui_eval.scoring.incomplete_output import Filtered, Truncated, override

CUT = Output("half an ans", finish_reason="length")
FILTERED = Output("", finish_reason="content_filter")
WHOLE = Output("an answer", finish_reason="stop")


def test_a_whole_answer_is_left_to_the_scorers() -> None:
    assert override(WHOLE, "ungraded", "ungraded") is None
    assert override(Output("an answer"), "ungraded", "fail") is None


def test_a_cut_short_output_is_ungraded_unless_the_suite_says_grade() -> None:
    grade = override(CUT, "ungraded", "ungraded")
    assert grade is not None
    assert (grade.verdict, grade.value) == (Verdict.UNGRADED, None)
    assert "truncated" in grade.reason
    assert override(CUT, "grade", "ungraded") is None


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (CUT, "the output was truncated at its token limit"),
        (
            replace(CUT, finish_reason="limit:wall"),
            "the trial was ended at its limit of `wall`",
        ),
        (replace(CUT, reasoning="well"), "the output was truncated at its token limit"),
        (replace(CUT, text=None), "the output was truncated at its token limit"),
        (
            replace(CUT, text=None, reasoning="well", messages=({"role": "assistant"},)),
            "the output was truncated at its token limit",
        ),
        (
            replace(CUT, text=None, reasoning="well"),
            "its reasoning was truncated: no answer had begun",
        ),
        (
            replace(CUT, text=" ", reasoning="well"),
            "its reasoning was truncated: no answer had begun",
        ),
    ],
)
def test_the_reason_says_what_was_cut(output: Output, reason: str) -> None:
    grade = override(output, "ungraded", "ungraded")
    assert grade is not None
    assert grade.reason == reason


@pytest.mark.parametrize("finish", ["error", "RECITATION", "incomplete"])
def test_an_output_that_was_broken_off_is_ungraded_whatever_the_suite_says(finish: str) -> None:
    grade = override(Output("an answer", finish_reason=finish), "grade", "fail")
    assert grade is not None
    assert grade.verdict is Verdict.UNGRADED and f'"{finish}"' in grade.reason


@pytest.mark.parametrize("output", [replace(CUT, finish_reason="LENGTH")])
def test_what_is_stored_in_another_spelling_is_read_as_well(output: Output) -> None:
    assert output.cut_short and override(output, "ungraded", "ungraded") is not None


@pytest.mark.parametrize("truncated", ["ungraded", "grade"])
@pytest.mark.parametrize(
    ("filtered", "verdict"), [("ungraded", Verdict.UNGRADED), ("fail", Verdict.FAIL)]
)
def test_a_filtered_output_is_never_graded_by_what_is_left_of_it(
    truncated: Truncated, filtered: Filtered, verdict: Verdict
) -> None:
    grade = override(FILTERED, truncated, filtered)
    assert grade is not None
    assert grade.verdict is verdict
    assert "content filter" in grade.reason
