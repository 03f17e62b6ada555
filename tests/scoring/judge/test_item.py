"""What stands before a judge."""

import random
from dataclasses import replace

from tests.scoring.judge.checks import OUTPUT, check, criteria, requirements
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.judge.item import Item, ReplyForm, item, split
from tui_eval.scoring.judge.request import request


def made(of: object) -> Item:
    assert isinstance(of, Item)
    return of


def test_what_has_no_value_is_left_out() -> None:
    assert made(item(check(), OUTPUT)).body == {
        "input": "Capital of France?",
        "rubric": "Right and short.",
        "output": "Paris is the capital of France.",
    }


def test_reference_and_context_go_along() -> None:
    body = made(item(check(reference="Paris", show={"docs": ["a", "b"]}), OUTPUT)).body
    assert body["reference"] == "Paris"
    assert body["context"] == {"docs": ["a", "b"]}


def test_forms_say_how_a_reply_must_look() -> None:
    assert made(item(check(), OUTPUT)).form == ReplyForm("scale", 1, 5, (0,))
    assert made(item(check(form="pass-fail", scale=[0, 1]), OUTPUT)).form.high == 1
    assert made(item(requirements("a", "b"), OUTPUT)).form == ReplyForm(
        "requirements", 0, 1, (1, 2)
    )
    assert made(item(criteria(1, 2), OUTPUT)).form == ReplyForm("criteria", 1, 5, (1, 2))


def test_requirements_keep_their_numbers_when_some_are_asked_again() -> None:
    whole = made(item(requirements("a", "b", "c"), OUTPUT))
    left = whole.only((1, 3))
    assert left.body["requirements"] == [
        {"requirement": 1, "text": "a"},
        {"requirement": 3, "text": "c"},
    ]
    assert left.form.numbers == (1, 3)
    assert left.tokens < whole.tokens
    assert [one.form.numbers for one in split(whole)] == [(1,), (2,), (3,)]


def test_criteria_show_no_weight() -> None:
    assert made(item(criteria(2), OUTPUT)).body["criteria"] == [
        {"criterion": 1, "name": "c1", "text": "criterion 1"}
    ]


def test_an_output_that_says_nothing_fails_unasked() -> None:
    for text in ("", " \n\t"):
        found = item(check(), Output(text))
        assert isinstance(found, Grade)
        assert found.verdict is Verdict.FAIL
        assert found.reason == "the output is empty"


def test_a_part_that_is_not_there_fails_unasked() -> None:
    found = item(check(of="regex:<a>(.*)</a>"), OUTPUT)
    assert isinstance(found, Grade)
    assert found.verdict is Verdict.FAIL


def test_only_the_chosen_part_is_shown() -> None:
    assert made(item(check(of="last_line"), Output("a\nb"))).body["output"] == "b"


CALLS: JsonObject = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"function": {"name": "look_up", "arguments": "{}"}}],
}


def test_a_judge_sees_the_tools_that_were_called() -> None:
    called = Output(None, messages=(CALLS,), finish_reason="tool_calls")
    body = made(item(check(), called)).body
    assert (body["messages"], body["output"]) == ([CALLS], "")
    assert "messages" not in made(item(check(), OUTPUT)).body
    asked = request([made(item(check(), called))], None, random.Random(1))
    assert '"messages" of the output' in str(asked.messages[0]["content"])
    plain = request([made(item(check(), OUTPUT))], None, random.Random(1))
    assert '"messages" of the output' not in str(plain.messages[0]["content"])


def test_of_a_part_no_more_than_that_part_is_shown() -> None:
    called = Output("a\nb", messages=(CALLS,))
    assert "messages" not in made(item(check(of="last_line"), called)).body


ASKED: JsonObject = {"role": "user", "content": "And why?"}
FIRST: JsonObject = {"role": "assistant", "content": "Paris."}
SECOND: JsonObject = {"role": "assistant", "content": "It is the seat of government."}
TALK = Output("It is the seat of government.", messages=(FIRST, ASKED, SECOND))


def test_a_turn_is_seen_with_what_led_up_to_it() -> None:
    whole = made(item(check(), TALK)).body
    assert whole["messages"] == [FIRST, ASKED, SECOND]
    second = made(item(check(of="turn:2"), TALK)).body
    assert (second["messages"], second["output"]) == ([FIRST, ASKED], SECOND["content"])
    first = made(item(check(of="turn:1"), TALK)).body
    assert "messages" not in first and first["output"] == "Paris."
    third = item(check(of="turn:3"), TALK)
    assert isinstance(third, Grade) and third.reason == "there is no turn 3: the output has 2"


def test_what_was_asked_in_a_conversation_is_bounded_too() -> None:
    long: JsonObject = {"role": "user", "content": "x" * 300_000}
    asked = replace(check(), input=[long, FIRST, ASKED])
    shown = made(item(asked, OUTPUT)).body["input"]
    assert isinstance(shown, list)
    assert shown[1:] == [FIRST, ASKED]
    assert len(str(shown[0])) < 21_000
