import json

import pytest

from tests.scoring.making import refused, scored, scorers
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.suites.scorers.setting_error import SettingError

PARIS: JsonObject = {"name": "weather", "arguments": {"city": "Paris"}}
ROME: JsonObject = {"name": "weather", "arguments": {"city": "Rome"}}
BOOK: JsonObject = {"name": "book", "arguments": {"seats": 2}}


def calling(*turns: list[JsonObject]) -> Output:
    """Make an output of which each turn calls tools, as the chat API tells it."""
    messages: list[JsonObject] = []
    for calls in turns:
        told: list[Json] = [
            {
                "id": f"c{at}",
                "type": "function",
                "function": {
                    "name": call["name"],
                    "arguments": written
                    if isinstance(written := call.get("arguments"), str)
                    else json.dumps(written),
                },
            }
            for at, call in enumerate(calls)
        ]
        messages += [
            {"role": "assistant", "content": None, "tool_calls": told},
            {"role": "tool", "content": "done", "tool_call_id": "c0"},
        ]
    return Output(None, messages=tuple(messages))


def graded(expected: Json, calls: list[JsonObject], **settings: Json) -> Grade:
    return scored({"kind": "tool_calls", "expected": expected, **settings}, calling(calls))


@pytest.mark.parametrize(
    ("match", "calls", "value"),
    [
        ("strict", [PARIS, BOOK], 1.0),
        ("strict", [BOOK, PARIS], 1 / 3),  # one pair, one missing, one too many
        ("strict", [PARIS], 1 / 2),
        ("strict", [PARIS, ROME, BOOK], 2 / 3),
        ("strict", [], 0.0),
        ("unordered", [BOOK, PARIS], 1.0),
        ("unordered", [BOOK, PARIS, PARIS], 2 / 3),
        ("subset", [BOOK], 1.0),
        ("subset", [], 1.0),
        ("subset", [BOOK, ROME], 1 / 2),
        ("superset", [ROME, BOOK, ROME, PARIS], 1.0),
        ("superset", [ROME, BOOK], 1 / 2),
    ],
)
def test_the_four_ways_to_match(match: str, calls: list[JsonObject], value: float) -> None:
    grade = graded([PARIS, BOOK], calls, match=match)
    assert grade.value == pytest.approx(value)
    assert (grade.verdict is Verdict.PASS) == (value == 1.0)


@pytest.mark.parametrize(
    ("match", "order", "calls", "passes"),
    [
        ("superset", "in_order", [PARIS, ROME, BOOK], True),
        ("superset", "in_order", [BOOK, ROME, PARIS], False),
        ("superset", "strict", [ROME, PARIS, BOOK, ROME], True),
        ("superset", "strict", [PARIS, ROME, PARIS, BOOK], True),
        ("superset", "strict", [PARIS, ROME, BOOK], False),
        ("subset", "in_order", [PARIS], True),
        ("unordered", "in_order", [BOOK, PARIS], False),
        ("strict", "any", [BOOK, PARIS], True),
    ],
)
def test_an_order_beside_the_match(
    match: str, order: str, calls: list[JsonObject], passes: bool
) -> None:
    grade = graded([PARIS, BOOK], calls, match=match, order=order)
    assert (grade.verdict is Verdict.PASS) == passes
    assert (grade.value == 1.0) == passes


def test_between_expected_calls_none_may_be_left_out_in_a_strict_order() -> None:
    asked: list[Json] = [PARIS, ROME, BOOK]
    assert graded(asked, [ROME, BOOK], match="subset", order="strict").verdict is Verdict.PASS
    grade = graded(asked, [PARIS, BOOK], match="subset", order="strict")
    assert (grade.verdict, grade.value) == (Verdict.FAIL, 2 / 3)
    assert grade.reason == "expected ones were left out between the expected calls: 1"


def test_calls_are_assigned_and_not_taken_greedily() -> None:
    """The first call fits both; only if it is the second's does the other call fit the first."""
    either: JsonObject = {"name": "weather", "arguments": {"city": {"any_of": ["Paris", "Rome"]}}}
    assert graded([either, PARIS], [PARIS, ROME], match="unordered").value == 1.0


@pytest.mark.parametrize(
    ("expected", "got", "fits"),
    [
        (3, 3.0, True),
        (1, True, False),
        ("Paris", "paris", False),
        ({"any_of": ["a", "b"]}, "b", True),
        ({"any_of": ["a", "b"]}, "c", False),
        ({"any_of": [{"regex": "^x"}, 7]}, "xyz", True),
        ({"regex": "^20[0-9]{2}$"}, "2026", True),
        ({"regex": "^20[0-9]{2}$"}, "1926", False),
        ({"regex": "1"}, 1, False),
        ({"near": 0.3}, 0.1 + 0.2, True),
        ({"near": 100, "tolerance": 2}, 102, True),
        ({"near": 100, "tolerance": 2}, 102.1, False),
        ({"near": 100, "relative": 0.1}, 91, True),
        ({"near": 1}, True, False),
        ({"value": {"regex": "a"}}, {"regex": "a"}, True),
        ({"optional": True}, "whatever", True),
        ({"deep": [{"city": {"regex": "^P"}}, 2]}, {"deep": [{"city": "Pau"}, 2]}, True),
        ({"deep": [{"city": {"regex": "^P"}}, 2]}, {"deep": [{"city": "Rom"}, 2]}, False),
        ([1, 2], [2, 1], False),
        ([1, 2], [1, 2, 3], False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": {"value": 1, "optional": True}}, {}, True),
        (None, None, True),
        (None, 0, False),
    ],
)
def test_an_argument_may_be_expected_in_several_ways(expected: Json, got: Json, fits: bool) -> None:
    calls: list[JsonObject] = [{"name": "f", "arguments": {"x": got}}]
    grade = graded([{"name": "f", "arguments": {"x": expected}}], calls)
    assert (grade.verdict is Verdict.PASS) == fits, grade.reason


@pytest.mark.parametrize(
    ("arguments", "got", "fits"),
    [
        ("exact", {"city": "Paris", "unit": "c"}, False),
        ("subset", {"city": "Paris", "unit": "c"}, True),
        ("subset", {"unit": "c"}, False),
        ("ignore", {"city": "Oslo"}, True),
        ("exact", {}, False),
    ],
)
def test_which_arguments_are_compared(arguments: str, got: JsonObject, fits: bool) -> None:
    grade = graded([PARIS], [{"name": "weather", "arguments": got}], arguments=arguments)
    assert (grade.verdict is Verdict.PASS) == fits


def test_a_call_without_arguments_is_compared_by_its_name() -> None:
    assert graded(["weather"], [ROME]).value == 1.0
    assert graded([{"name": "weather"}], [ROME]).value == 1.0
    assert graded([{"name": "weather", "arguments": {}}], [ROME]).value == 0.0
    assert graded([{"name": "now", "arguments": {}}], [{"name": "now", "arguments": ""}]).value == 1


def test_optional_calls_may_be_missing_and_are_not_too_many() -> None:
    maybe: JsonObject = {**ROME, "optional": True}
    for calls in ([PARIS, ROME, BOOK], [PARIS, BOOK]):
        assert graded([PARIS, maybe, BOOK], calls).value == 1.0
        assert graded([PARIS, maybe, BOOK], calls, match="superset", order="strict").value == 1.0
    assert graded([PARIS, maybe], [ROME]).value == 1 / 2


def test_calls_written_as_the_chat_api_has_them_or_as_json_are_read() -> None:
    api: JsonObject = {
        "id": "x",
        "type": "function",
        "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
    }
    assert graded([api], [PARIS]).value == 1.0
    assert graded(json.dumps([PARIS]), [PARIS]).value == 1.0
    asked: JsonObject = {"kind": "tool_calls", "expected": "{{ calls }}"}
    assert scored(asked, calling([PARIS]), calls=[PARIS]).value == 1.0
    assert scored(asked, calling([PARIS]), calls=json.dumps([PARIS])).value == 1.0


def test_an_empty_list_expects_that_no_tool_is_called() -> None:
    assert graded([], []).reason == "no tool was called, as expected"
    grade = graded([], [BOOK])
    assert (grade.verdict, grade.reason) == (Verdict.FAIL, 'not expected: "book"')


def test_what_is_forbidden_fails_whatever_else_fits() -> None:
    asked: JsonObject = {"kind": "tool_calls", "forbidden": "rm"}
    assert scored(asked, calling([PARIS])).reason == "1 call, none of them forbidden"
    grade = graded(["rm"], [{"name": "rm", "arguments": {}}], forbidden=["rm", "dd"])
    assert (grade.verdict, grade.value) == (Verdict.FAIL, 0.0)
    assert grade.reason == '"rm" was called, which is forbidden'
    least = graded(["rm"], [{"name": "rm", "arguments": {}}], forbidden=["rm"], threshold=0)
    assert least.verdict is Verdict.FAIL


def test_there_may_be_a_most_of_calls() -> None:
    asked: JsonObject = {"kind": "tool_calls", "max_calls": 2}
    assert scored(asked, calling([PARIS, ROME])).verdict is Verdict.PASS
    assert scored(asked, calling([PARIS], [ROME, BOOK])).reason == "3 calls, at most 2 allowed"


def test_a_threshold_is_a_share_that_is_enough() -> None:
    grade = graded([PARIS, BOOK], [PARIS], threshold=0.5)
    assert (grade.verdict, grade.value) == (Verdict.PASS, 0.5)
    assert graded([PARIS, BOOK], [PARIS], threshold=0.6).verdict is Verdict.FAIL


def test_all_turns_are_looked_at_or_one() -> None:
    output = calling([PARIS], [BOOK])
    asked: JsonObject = {"kind": "tool_calls", "expected": [PARIS, BOOK]}
    assert scored(asked, output).value == 1.0
    assert scored({**asked, "expected": [BOOK], "of": "turn:2"}, output).value == 1.0
    assert scored({**asked, "expected": [], "of": "turn:3"}, output).value == 1.0


def test_arguments_that_are_no_json_fail_and_say_so() -> None:
    broken: JsonObject = {"name": "weather", "arguments": '{"city": "Par'}
    grade = graded([PARIS], [broken])
    assert grade.verdict is Verdict.FAIL
    assert grade.reason.startswith(
        '"weather" was not called as expected: its arguments are no JSON: '
    )
    assert graded([PARIS], [broken], arguments="ignore").value == 1.0


@pytest.mark.parametrize(
    ("expected", "calls", "said"),
    [
        ([PARIS], [ROME], '"weather" was not called as expected: city: expected "Paris", got "Rom'),
        ([PARIS], [], '"weather" was not called as expected: no tool was called'),
        ([PARIS], [BOOK], '"weather" was not called as expected: called "book"'),
        ([PARIS, BOOK], [BOOK, PARIS], "stand in another order"),
        ([PARIS], [PARIS, ROME, BOOK], 'not expected: "weather" and "book"'),
        ([{"name": "f", "arguments": {"a": 1}}], [{"name": "f", "arguments": [1]}], "a table, got"),
        (["f"], [{"name": "[red]f[/]\x1b[31m", "arguments": {}}], '"[red]f[/]␛[31m"'),
    ],
)
def test_the_reason_names_what_differs(expected: Json, calls: list[JsonObject], said: str) -> None:
    assert said in graded(expected, calls).reason


def test_a_pattern_that_takes_too_long_leaves_it_ungraded() -> None:
    slow: JsonObject = {"name": "f", "arguments": {"x": {"regex": "(a|a)*$"}}}
    grade = graded([slow], [{"name": "f", "arguments": {"x": "a" * 40 + "b"}}])
    assert grade.verdict is Verdict.UNGRADED


@pytest.mark.parametrize(
    ("expected", "said"),
    [
        (3, 'expected is "3" where a list of calls is meant'),
        ([3], 'expected[0] is "3" where a call is meant'),
        ([{"arguments": {}}], "expected[0] has no name"),
        ([{"name": "f", "args": {}}], 'expected[0] has "args"'),
        ([{"name": "f", "arguments": [1]}], "expected[0].arguments is a list where a table"),
        ([{"name": "f", "arguments": "{"}], "expected[0].arguments is a text that is no JSON"),
        ([{"name": "f", "optional": 1}], "expected[0].optional is neither"),
        ([{"name": "f", "arguments": {"x": {"regex": "("}}}], "expected[0].arguments.x.regex: "),
        ([{"name": "f", "arguments": {"x": {"near": "a"}}}], "x.near is "),
        ([{"name": "f", "arguments": {"x": {"any_of": []}}}], "x.any_of is a list where"),
        ([{"name": "f", "arguments": {"x": {"regex": "a", "near": 1}}}], "one of them decides"),
        ([{"name": "f", "arguments": {"x": {"value": 1, "relative": 1}}}], "beside near alone"),
    ],
)
def test_an_expectation_that_makes_no_sense_names_its_place(expected: Json, said: str) -> None:
    with pytest.raises(SettingError) as caught:
        scorers({"kind": "tool_calls", "expected": expected})
    assert said in str(caught.value)
    assert said in refused({"kind": "tool_calls", "expected": "{{ e }}"}, e=expected)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "nothing is asked"),
        ({"expected": [], "functions": []}, "looked at with form"),
        ({"expected": [], "of": "last_line"}, "calls have no parts but turns"),
        ({"expected": [], "max_calls": -1}, "greater than or equal to 0"),
        ({"forbidden": []}, "a list of names"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(settings: JsonObject, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        scorers({"kind": "tool_calls", **settings})


FUNCTIONS: Json = [
    {
        "name": "geometry.area",
        "parameters": {
            "type": "dict",
            "properties": {
                "base": {"type": "integer"},
                "height": {"type": "float"},
                "unit": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "box": {"type": "dict"},
            },
            "required": ["base", "height"],
        },
    }
]
ANSWER: Json = [
    {
        "geometry.area": {
            "base": [10],
            "height": [5, 5.5],
            "unit": ["Square Meters", "m^2", ""],
            "tags": [["a-b", "c"], ""],
            "box": [{"w": [1, 2], "label": ["X", ""]}, ""],
        }
    }
]


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ({"base": 10, "height": 5}, True),
        ({"base": 10, "height": 5.0}, True),
        ({"base": 10.0, "height": 5}, False),
        ({"base": True, "height": 5}, False),
        ({"base": "10", "height": 5}, False),
        ({"base": 10}, False),
        ({"base": 10, "height": 6}, False),
        ({"base": 10, "height": 5, "unit": "square-meters"}, True),
        ({"base": 10, "height": 5, "unit": "M2"}, True),
        ({"base": 10, "height": 5, "unit": "feet"}, False),
        ({"base": 10, "height": 5, "colour": "red"}, False),
        ({"base": 10, "height": 5, "tags": ["AB", "c"]}, True),
        ({"base": 10, "height": 5, "tags": ["c", "ab"]}, False),
        ({"base": 10, "height": 5, "box": {"w": 2}}, True),
        ({"base": 10, "height": 5, "box": {"w": 2, "label": "x"}}, True),
        ({"base": 10, "height": 5, "box": {"label": "x"}}, False),
        ({"base": 10, "height": 5, "box": {"w": 2, "more": 1}}, False),
    ],
)
def test_answers_of_the_function_calling_leaderboard_are_read_as_it_reads_them(
    arguments: JsonObject, fits: bool
) -> None:
    asked: JsonObject = {
        "kind": "tool_calls",
        "form": "bfcl",
        "expected": "{{ ground_truth }}",
        "functions": "{{ function }}",
    }
    called = calling([{"name": "geometry_area", "arguments": arguments}])
    grade = scored(asked, called, ground_truth=ANSWER, function=FUNCTIONS)
    assert (grade.verdict is Verdict.PASS) == fits, grade.reason


def test_parallel_calls_of_the_leaderboard_come_in_any_order() -> None:
    truth: Json = [{"f": {"x": [1]}}, {"f": {"x": [2]}}]
    calls: list[JsonObject] = [
        {"name": "f", "arguments": {"x": 2}},
        {"name": "f", "arguments": {"x": 1}},
    ]
    assert graded(truth, calls, form="bfcl", match="unordered").value == 1.0
    assert graded(truth, calls[:1], form="bfcl", match="unordered").value == 0.5


@pytest.mark.parametrize(
    ("truth", "said"),
    [
        ([{"f": {"x": 1}}], 'expected[0].f.x is "1" where a list of values is meant'),
        ([{"f": [1]}], "expected[0].f is a list where a table is meant"),
        ([{"f": {}, "g": {}}], "expected[0] is no table of one function's name"),
    ],
)
def test_answers_that_are_not_in_the_leaderboards_form_name_their_place(
    truth: Json, said: str
) -> None:
    with pytest.raises(SettingError) as caught:
        scorers({"kind": "tool_calls", "form": "bfcl", "expected": truth})
    assert said in str(caught.value)
