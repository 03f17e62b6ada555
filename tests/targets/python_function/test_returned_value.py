"""What a function may return, and what is said of anything else."""

from typing import Any

import pytest

from tui_eval.model.outputs.output import Usage
from tui_eval.targets.python_function.returned_value import UnsuitableValueError, output_of


def test_a_text_is_the_output() -> None:
    output = output_of("Paris")
    assert output is not None
    assert (output.text, output.finish_reason, output.cost_usd) == ("Paris", "stop", None)


@pytest.mark.parametrize("empty", ["", " \n", {}, {"text": ""}, {"fields": {"a": 1}}])
def test_nothing_said_is_no_output(empty: Any) -> None:
    assert output_of(empty) is None


def test_the_last_word_of_an_assistant_is_the_text() -> None:
    said: list[Any] = [
        {"role": "user", "content": "What time is it?"},
        {"role": "assistant", "content": "Late."},
        {"role": "tool", "content": "23:59"},
    ]
    output = output_of({"messages": said})
    assert output is not None
    assert output.text == "Late."
    assert output.messages == tuple(said)


@pytest.mark.parametrize(
    "call",
    [
        {"name": "add", "arguments": {"a": 1}},
        {"name": "add", "arguments": '{"a": 1}'},
        {"id": "call_0", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
    ],
)
def test_calls_of_tools_become_a_message(call: Any) -> None:
    output = output_of({"tool_calls": [call]})
    assert output is not None
    function = {"name": "add", "arguments": '{"a": 1}'}
    assert output.messages == (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_0", "type": "function", "function": function}],
        },
    )
    assert (output.text, output.finish_reason) == (None, "tool_calls")


def test_usage_is_read_by_the_names_of_usual_clients() -> None:
    usage: dict[str, Any] = {
        "prompt_tokens": 3,
        "completion_tokens": 4,
        "total_tokens": 7,
        "details": None,
    }
    output = output_of({"text": "x", "usage": usage, "finish_reason": "max_tokens"})
    assert output is not None
    assert output.usage == Usage(3, 4)
    assert output.cut_short


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "it returned None: return a text, or a table with text, output"),
        (True, "it returned True"),
        (3.5, "it returned the number 3.5"),
        (["a"], "it returned a list"),
        ({"answer": "x"}, "a table with 'answer': what a table may hold is text"),
        ({"text": "a", "output": "a"}, "it returned text and output, which is the same"),
        ({"text": 3}, "text is the number 3: it is a text"),
        ({"text": "x", "messages": "no"}, "messages is a text: it is a list of messages"),
        (
            {"text": "x", "messages": [{}]},
            "messages[0] is a table: a message has",
        ),
        ({"tool_calls": [{}]}, "tool_calls[0] has no name"),
        ({"text": "x", "fields": []}, "fields is a list: it is a table"),
        ({"text": "x", "usage": {"input": -1}}, "usage.input is the number -1"),
        ({"text": "x", "usage": {"input": "3"}}, "usage.input is a text"),
        ({"text": "x", "cost_usd": -1}, "cost_usd is the number -1"),
        ({"text": "x", "cost_usd": True}, "cost_usd is True"),
    ],
)
def test_what_is_no_output_is_told(returned: Any, said: str) -> None:
    with pytest.raises(UnsuitableValueError) as caught:
        output_of(returned)
    assert said in str(caught.value)
