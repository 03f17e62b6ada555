"""What a judge scorer's settings become for a case."""

import pytest

from tests.scoring.judge.checks import RUBRIC as SETTLED_RUBRIC
from tests.scoring.making import check, refused, scorers, subject
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output

RUBRIC: JsonObject = {"kind": "judge", "rubric": "Is it clear?", "scale": [1, 5]}
SETTLED: JsonObject = {**SETTLED_RUBRIC, "rubric": "Is it clear?", "judges": []}


@pytest.mark.parametrize(
    ("given", "changed"),
    [
        ({}, {}),
        ({"threshold": 0.8}, {"threshold": 0.8}),
        ({"pass_at": 4}, {"pass_at": 4.0, "threshold": None}),
        ({"judge": "a"}, {"judges": ["a"]}),
        ({"judge": ["a", "b"], "vote": "mean"}, {"judges": ["a", "b"], "vote": "mean"}),
        ({"of": "last_line"}, {"of": "last_line"}),
        (
            {"scale": "pass-fail"},
            {"form": "pass-fail", "scale": [0, 1], "threshold": None},
        ),
        (
            {"rubric": None, "scale": None, "requirements": ["a", "b"], "per_requirement": True},
            {
                "form": "requirements",
                "scale": None,
                "rubric": None,
                "requirements": ["a", "b"],
                "threshold": 1.0,
                "per_requirement": True,
            },
        ),
        (
            {"rubric": None, "criteria": [{"name": "a", "text": "b"}]},
            {
                "form": "criteria",
                "rubric": None,
                "criteria": [{"name": "a", "text": "b", "weight": 1}],
            },
        ),
    ],
)
def test_settings_have_one_form(given: JsonObject, changed: JsonObject) -> None:
    assert check({**RUBRIC, **given}).settings == {**SETTLED, **changed}


def test_every_text_may_be_a_template_that_keeps_its_type() -> None:
    settings: JsonObject = {
        "kind": "judge",
        "requirements": "{{ wanted }}",
        "reference": {"answer": "{{ answer }}"},
        "show": {"contexts": "{{ contexts }}", "note": "see {{ answer }}"},
    }
    made = check(settings, wanted=["a", "b"], answer=42, contexts=["x"]).settings
    assert made["requirements"] == ["a", "b"]
    assert made["reference"] == {"answer": 42}
    assert made["show"] == {"contexts": ["x"], "note": "see 42"}


def test_a_list_with_templates_takes_lists_in() -> None:
    settings: JsonObject = {"kind": "judge", "requirements": ["Is short", "{{ more }}"]}
    assert check(settings, more=["a", "b"]).settings["requirements"] == ["Is short", "a", "b"]


def test_a_template_may_give_criteria() -> None:
    settings: JsonObject = {"kind": "judge", "criteria": "{{ lines }}", "scale": [0, 10]}
    lines: Json = [{"name": "a", "text": "b", "weight": 2.5}, {"name": "c", "text": "d"}]
    made = check(settings, lines=lines).settings["criteria"]
    assert made == [
        {"name": "a", "text": "b", "weight": 2.5},
        {"name": "c", "text": "d", "weight": 1},
    ]


def test_a_rubric_may_look_at_the_output() -> None:
    settings: JsonObject = {**RUBRIC, "rubric": "Has it {{ output | length }} letters?"}
    assert scorers(settings).problem(subject({}, None)) is None
    [made] = checks(settings, Output("four"))
    assert made["rubric"] == "Has it 4 letters?"


def checks(settings: JsonObject, output: Output) -> list[JsonObject]:
    made = scorers(settings).checks(subject({}, output))
    assert not isinstance(made, Failure), made
    return [one.settings for one in made]


def test_it_may_not_apply_and_a_case_may_leave_it_out() -> None:
    assert checks({**RUBRIC, "when": "{{ 1 > 2 }}"}, Output("x")) == []


REQUIREMENTS: JsonObject = {"kind": "judge", "requirements": "{{ x }}"}
CRITERIA: JsonObject = {"kind": "judge", "criteria": "{{ x }}", "scale": [1, 5]}


@pytest.mark.parametrize(
    ("settings", "x", "expected"),
    [
        ({**RUBRIC, "rubric": "{{ x }}"}, None, "rubric is null"),
        ({**RUBRIC, "rubric": "{{ x }}"}, "", "rubric is empty"),
        ({**RUBRIC, "rubric": "{{ x }}"}, " \n", "rubric is empty"),
        ({**RUBRIC, "rubric": "{{ x }}"}, 3, 'rubric is "3" where a text is meant'),
        ({**RUBRIC, "rubric": "{{ x }}"}, ["a"], "rubric is a list where a text is meant"),
        ({**RUBRIC, "reference": "{{ x }}"}, None, "reference is null"),
        ({**RUBRIC, "show": {"context": "{{ x }}"}}, None, "show.context is null"),
        (REQUIREMENTS, None, "requirements is null"),
        (
            REQUIREMENTS,
            [],
            "requirements is an empty list: give the scorer a `when`, or the case a `skip`",
        ),
        (REQUIREMENTS, ["a", None], "requirement 2 is null where a text is meant"),
        (REQUIREMENTS, ["a", " "], "requirement 2 is empty"),
        (REQUIREMENTS, [{"a": 1}], "requirement 1 is a table where a text is meant"),
        (REQUIREMENTS, {"a": 1}, "requirement 1 is a table where a text is meant"),
        (CRITERIA, None, "criteria is null"),
        (CRITERIA, "a", 'criteria is "a" where a list of tables is meant'),
        (
            CRITERIA,
            [],
            "criteria is an empty list: give the scorer a `when`, or the case a `skip`",
        ),
        (CRITERIA, ["a"], "criterion 1 must be a table { name, text, weight }"),
        (
            CRITERIA,
            [{"name": "a", "text": 3}],
            "criterion 1 needs a text, a text that is not empty",
        ),
        (
            CRITERIA,
            [{"name": "a", "text": "b", "weight": "2"}],
            "criterion 1 needs a weight above 0",
        ),
    ],
)
def test_what_nobody_can_be_asked_is_an_error_of_the_case(
    settings: JsonObject, x: Json, expected: str
) -> None:
    assert refused(settings, x=x) == f'scorer "judge": {expected}'
