from dataclasses import replace

import pytest

from tests.scoring.making import SPECS, refused, scorers, subject
from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.scoring.check import Check, Subject
from tui_eval.scoring.scorers import Scorers
from tui_eval.suites.scorers.setting_error import SettingError
from tui_eval.suites.templates.template import TemplateError

EXACT: JsonObject = {"kind": "exact", "expected": "{{ answer }}"}
POLITE: JsonObject = {"kind": "includes", "name": "polite", "expected": "please"}


def names_of(checks: list[Check] | Failure) -> list[str]:
    assert not isinstance(checks, Failure), checks
    return [check.name for check in checks]


def test_checks_stand_in_the_order_of_the_suite_and_the_cases_own_come_last() -> None:
    own: JsonObject = {"kind": "numeric", "name": "own", "expected": "{{ answer }}"}
    case = Case(0, "c", {"answer": "42"}, scorers=(own,))
    made = scorers(EXACT, POLITE).checks(Subject(case, "?", (), Output("42")))
    assert names_of(made) == ["exact", "polite", "own"]


def test_a_case_leaves_out_what_it_skips() -> None:
    case = Case(0, "c", {"answer": "42"}, skip=("polite",))
    made = scorers(EXACT, POLITE).checks(Subject(case, "?", (), Output("42")))
    assert names_of(made) == ["exact"]


@pytest.mark.parametrize(
    ("when", "applies"),
    [
        ("{{ flag is defined }}", True),
        ("{{ other is defined }}", False),
        ("{{ flag }}", True),
        ("{{ not flag }}", False),
        ("{{ none_at_all }}", False),
        ("{{ zero }}", False),
        ("{{ empty }}", False),
        ("{{ said }}", False),
        ("{% if flag %}true{% else %}false{% endif %}", True),
        ("{% if not flag %}true{% else %}false{% endif %}", False),
        ("{{ output | length > 1 }}", True),
        ("false", False),
    ],
)
def test_a_scorer_whose_when_is_false_does_not_apply(when: str, applies: bool) -> None:
    fields: dict[str, Json] = {
        "flag": True,
        "none_at_all": None,
        "zero": 0,
        "empty": [],
        "said": "False",
    }
    made = scorers({**POLITE, "when": when}).checks(subject(fields, Output("42")))
    assert names_of(made) == (["polite"] if applies else [])


def test_a_scorer_for_some_targets_does_not_apply_to_the_others() -> None:
    made = scorers({**POLITE, "targets": ["a", "b"]}, {"kind": "json", "when": "{{ x }}"})
    asked = {
        target: replace(subject({"flag": True, "x": False}), target=target)
        for target in ("a", "c", None)
    }
    assert {target: names_of(made.checks(one)) for target, one in asked.items()} == {
        "a": ["polite"],
        "c": [],
        None: ["polite"],
    }


def test_a_scorer_that_does_not_apply_may_have_nothing_to_expect() -> None:
    asked: JsonObject = {**EXACT, "when": "{{ answer is defined }}"}
    assert scorers(asked).checks(subject({})) == []


def test_an_undefined_name_ends_the_trial_as_an_error_that_names_scorer_and_field() -> None:
    message = refused({**EXACT, "name": "capital"}, anwser="Paris")
    assert message.startswith('scorer "capital": expected: "answer" is undefined')
    assert 'did you mean "anwser"?' in message
    assert 'when: "x" is undefined' in refused({**EXACT, "when": "{{ x }}"}, answer="a")


def test_a_null_in_expected_is_an_error_of_the_case() -> None:
    assert refused(EXACT, answer=None) == 'scorer "exact": expected is null'


def test_what_is_wrong_is_known_before_there_is_an_output() -> None:
    made = scorers(EXACT, POLITE)
    failure = made.problem(subject({"answer": None}, None))
    assert failure is not None
    assert failure.kind == "template"
    assert not failure.retryable
    assert made.problem(subject({"answer": "42"}, None)) is None


def test_what_looks_at_the_output_waits_for_it() -> None:
    asked: JsonObject = {"kind": "exact", "expected": "{{ output[4] }}"}
    later: JsonObject = {**EXACT, "name": "later", "when": "{{ output | length > 3 }}"}
    made = scorers(asked, later)
    assert made.problem(subject({}, None)) is None
    failure = made.checks(subject({}, Output("x")))
    assert isinstance(failure, Failure)
    assert names_of(made.checks(subject({"answer": "a"}, Output("x" * 5)))) == ["exact", "later"]


def test_a_scorer_that_does_not_apply_is_no_problem() -> None:
    asked: JsonObject = {**EXACT, "when": "{{ answer is defined }}"}
    assert scorers(asked).problem(subject({}, None)) is None


def test_a_check_carries_weight_required_and_not() -> None:
    made = scorers({**EXACT, "weight": 2, "required": False, "not": True}).checks(
        subject({"answer": "a"})
    )
    assert not isinstance(made, Failure)
    assert (made[0].weight, made[0].required, made[0].negate) == (2.0, False, True)
    assert made[0].input == "What?"


def test_templates_are_rendered_to_what_the_case_holds() -> None:
    made = scorers({**EXACT, "expected": "{{ city }}, {{ country }}"}).checks(
        subject({"city": "Paris", "country": "France"})
    )
    assert not isinstance(made, Failure)
    assert made[0].settings["expected"] == ["Paris, France"]


def test_a_scorer_that_can_never_ask_anything_is_refused_at_once() -> None:
    for wrong in (
        {"kind": "numeric", "expected": "n/a"},
        {"kind": "choice", "expected": "E", "choices": ["yes", "no way"]},
        {"kind": "exact", "expected": "?!", "normalize": True},
        {"kind": "json_schema", "schema_file": "answer.json"},
    ):
        with pytest.raises(SettingError):
            Scorers(SPECS.validate_python([wrong]))
    with pytest.raises(TemplateError):
        scorers({**EXACT, "expected": "{{ answer"})
