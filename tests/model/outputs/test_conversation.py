import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import ROLES, last_user_text, read_messages, text_of
from tui_eval.targets.model.responses_input import responses_input

CALL: JsonObject = {
    "id": "c1",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "Oslo"}'},
}
ASKED: JsonObject = {"role": "user", "content": "Is it cold in Oslo?"}
CALLED: JsonObject = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT: JsonObject = {"role": "tool", "content": "-3 °C", "tool_call_id": "c1"}


def test_a_recorded_conversation_keeps_calls_and_results_and_nothing_else_a_log_says() -> None:
    log: Json = [ASKED, {**CALLED, "refusal": None, "annotations": []}, {**RESULT, "cost": 1}]
    assert read_messages(log) == [ASKED, CALLED, RESULT]
    assert read_messages({"messages": log, "model": "m"}) == [ASKED, CALLED, RESULT]


def test_arguments_that_are_no_text_become_one() -> None:
    given: JsonObject = {"id": "c1", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}
    found = read_messages([ASKED, {"role": "assistant", "tool_calls": [given]}])
    assert found[1] == CALLED


def test_json_in_a_cell_of_a_table_is_read() -> None:
    assert read_messages('[{"role": "user", "content": "Hi"}]') == [
        {"role": "user", "content": "Hi"}
    ]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("hello", 'must be a list of messages, not "hello"'),
        (None, "must be a list of messages, not null"),
        ("[1", 'must be a list of messages, not "[1"'),
        (["Hi"], 'message 1: must be an object with role and content, not "Hi"'),
        (
            [ASKED, {"role": "bot", "content": "x"}],
            ('message 2: role must be one of system, developer, user, assistant, tool, not "bot"'),
        ),
        ([{"role": "user"}], "message 1: has no content"),
        (
            [{"role": "user", "content": 3}],
            "message 1: content must be a text or a list of parts, not 3",
        ),
        ([{"role": "user", "content": []}], "message 1: content is an empty list"),
        (
            [{"role": "user", "content": [{"text": "x"}]}],
            'message 1: part 1 must be a table with a type: { type = "text", text = "…" }',
        ),
        (
            [{"role": "user", "content": [{"type": "image"}]}],
            'message 1: part 1 of type "image" has no path',
        ),
        (
            [{"role": "user", "content": "x", "tool_calls": [CALL]}],
            "message 1: only the assistant calls tools, not user",
        ),
        (
            [{"role": "assistant", "tool_calls": [{"id": "c1", "name": "weather"}]}],
            ('message 1: call 1 must be { id = "…", function = { name = "…", arguments = "…" } }'),
        ),
        (
            [{"role": "assistant", "tool_calls": [{"function": {"name": "weather"}}]}],
            "message 1: call 1 has no id: results name it",
        ),
        (
            [ASKED, {"role": "tool", "content": "x"}],
            "message 2: has no tool_call_id: which call is it the result of?",
        ),
        (
            [CALLED, {**RESULT, "tool_call_id": "c2"}],
            'message 2: tool_call_id "c2" is no call before it',
        ),
    ],
)
def test_what_is_no_conversation_is_told_with_its_place(given: Json, expected: str) -> None:
    with pytest.raises(ValueError) as told:
        read_messages(given)
    assert str(told.value) == expected


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"type": "text", "text": "Hi"}, "Hi"),
        ({"type": "image", "path": "img/a.png"}, "[image img/a.png]"),
        ({"type": "file", "path": "a.pdf"}, "[file a.pdf]"),
        ({"type": "image_url", "image_url": {"url": "https://a/b.png"}}, "[image https://a/b.png]"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "[image]"),
        ({"type": "input_audio", "input_audio": {"data": "AAAA"}}, "[audio]"),
    ],
)
def test_what_is_no_text_is_a_mark(part: JsonObject, expected: str) -> None:
    assert text_of([{"type": "text", "text": "See:"}, part]) == f"See:\n{expected}"


def test_the_question_is_the_last_that_the_user_says() -> None:
    later: JsonObject = {"role": "user", "content": [{"type": "text", "text": "And now?"}]}
    assert last_user_text([ASKED, CALLED, RESULT]) == "Is it cold in Oslo?"
    assert last_user_text([ASKED, CALLED, RESULT, later]) == "And now?"
    assert last_user_text([CALLED]) is None


SAID = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "path", "id", "function", "name"])
            | st.sampled_from(["tool_calls", "tool_call_id", "arguments", "messages", "file"]),
            inner | st.sampled_from([*ROLES, "image", "file", "text"]),
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(SAID)
def test_whatever_is_given_is_told_or_is_a_conversation(given_: Json) -> None:
    text_of(given_)
    try:
        found = read_messages(given_)
    except ValueError as error:
        assert str(error)
        return
    assert read_messages([*found]) == found
    last_user_text(found)
    json.dumps(responses_input(found))
