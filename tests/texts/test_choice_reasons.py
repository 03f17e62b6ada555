"""What the reasons of multiple-choice scorers say, read back."""

import json

import pytest

from tui_eval.model.json import JsonObject
from tui_eval.scoring.rules.choice import choice
from tui_eval.texts.choice_reasons import NOTHING, SEVERAL, ChosenOption, choice_of

TEXTS = ["Mars (red)", "Jupiter, the largest", "Venus or so"]


@pytest.mark.parametrize(
    ("expected", "output", "read"),
    [
        (["B"], "B", ChosenOption("B", "B")),
        (["B"], "(C)", ChosenOption("B", "C")),
        (["A", "C"], "B", ChosenOption("A or C", "B")),
        (["A"], "It could be A or B.", ChosenOption("A", SEVERAL)),
        (["A"], "no idea", ChosenOption("A", NOTHING)),
    ],
)
@pytest.mark.parametrize("texts", [TEXTS, []])
def test_what_was_expected_and_chosen_is_read_from_what_the_rule_writes(
    expected: list[str], output: str, read: ChosenOption, texts: list[str]
) -> None:
    settings: JsonObject = {
        "choices": {"labels": ["A", "B", "C"], "texts": [*texts]},
        "expected": [*expected],
    }
    grade = choice(settings, output)
    assert choice_of(grade.reason, None if grade.raw is None else json.dumps(grade.raw)) == read


def test_what_was_not_graded_by_its_choice_has_none() -> None:
    assert choice_of("the output was cut short at its token limit", None) is None
