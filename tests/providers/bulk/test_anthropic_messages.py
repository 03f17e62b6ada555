"""A chat body as parameters of a message, and a message as an answer of the chat API."""

from typing import Any

import pytest

from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.providers.bulk.anthropic_messages import message_output, messages_params

PICTURE = "data:image/PNG;base64,aGk="
PDF = "data:application/pdf;base64,aGk="
FILE_ELSEWHERE = {"type": "file", "file": {"file_id": "f"}}


def params_of(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    got = messages_params({"model": "c", "messages": [*messages], "max_tokens": 9, **more})
    assert not isinstance(got, Failure), got
    return got


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_system_messages_go_before_all_others() -> None:
    parts = [{"type": "text", "text": "Third."}]
    got = params_of(
        {"role": "system", "content": "First."},
        user("a"),
        {"role": "developer", "content": "Second."},
        {"role": "assistant", "content": "b"},
        {"role": "system", "content": parts},
        user("c"),
    )
    assert got["system"] == "First.\nSecond.\nThird."
    assert got["messages"] == [user("a"), {"role": "assistant", "content": "b"}, user("c")]


def test_parameters_are_turned_left_out_or_passed_on() -> None:
    thinking = {"type": "enabled", "budget_tokens": 1024}
    got = params_of(
        user("a"), temperature=1.5, top_p=0.5, stop="END", seed=1, n=1, logprobs=True,
        presence_penalty=1, response_format={"type": "json_object"}, reasoning_effort="low",
        thinking=thinking, top_k=5, stream=False,
    )  # fmt: skip
    assert got == {
        "model": "c",
        "max_tokens": 9,
        "messages": [user("a")],
        "temperature": 1,
        "top_p": 0.5,
        "stop_sequences": ["END"],
        "thinking": thinking,
        "top_k": 5,
    }
    assert params_of(user("a"), stop=["\n", "x"], temperature=0)["stop_sequences"] == ["x"]
    assert "stop_sequences" not in params_of(user("a"), stop=[" "])
    newer = messages_params({"model": "c", "messages": [user("a")], "max_completion_tokens": 7})
    assert isinstance(newer, dict)
    assert newer["max_tokens"] == 7


def test_pictures_and_files_are_put_in_their_form() -> None:
    got = params_of(
        user(
            [
                {"type": "text", "text": "see"},
                {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
                {"type": "file", "file": {"filename": "a.pdf", "file_data": PDF}},
                {"type": "file", "file": {"file_data": "data:text/plain;charset=utf-8,h%C3%A9"}},
            ]
        )
    )  # fmt: skip
    assert got["messages"][0]["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {
            "type": "document",
            "source": {"type": "base64", "media_type": "application/pdf", "data": "aGk="},
            "title": "a.pdf",
        },
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": "hé"},
        },
    ]


def test_tools_calls_and_results_are_put_in_their_form() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    function = {"name": "weather", "description": "Tells it.", "parameters": schema, "strict": True}
    call = {"id": "1", "type": "function",
            "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}  # fmt: skip
    got = params_of(
        user("a"),
        {"role": "assistant", "content": "Let me see.", "tool_calls": [call, {**call, "id": "2"}]},
        {"role": "tool", "tool_call_id": "1", "content": "dry"},
        {"role": "tool", "tool_call_id": "2", "content": "wet"},
        user("and?"),
        tools=[{"type": "function", "function": function}],
        tool_choice="required",
        parallel_tool_calls=False,
    )
    assert got["tools"] == [{"name": "weather", "description": "Tells it.", "input_schema": schema}]
    assert got["tool_choice"] == {"type": "any", "disable_parallel_tool_use": True}
    use = {"type": "tool_use", "name": "weather", "input": {"city": "Rome"}}
    assert got["messages"][1]["content"] == [
        {"type": "text", "text": "Let me see."},
        {**use, "id": "1"},
        {**use, "id": "2"},
    ]
    assert got["messages"][2]["content"] == [
        {"type": "tool_result", "tool_use_id": "1", "content": "dry"},
        {"type": "tool_result", "tool_use_id": "2", "content": "wet"},
    ]
    assert got["messages"][3] == user("and?")


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "tool", "name": "f"}),
        (None, None),
    ],
)
def test_a_tool_choice_is_put_in_its_form(choice: Any, said: Any) -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    got = params_of(user("a"), tools=tools, tool_choice=choice)
    assert got.get("tool_choice") == said
    assert got["tools"][0]["input_schema"] == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"messages": [user("a")]}, "max_tokens"),
        ({"max_tokens": 1}, "no messages"),
        ({"max_tokens": 1, "messages": [{"role": "narrator"}]}, "narrator"),
        ({"max_tokens": 1, "messages": [user([{"type": "input_audio"}])]}, "input_audio"),
        ({"max_tokens": 1, "messages": [user([FILE_ELSEWHERE])]}, "file"),
        (
            {"max_tokens": 1, "messages": [{"role": "assistant", "tool_calls": [
                {"id": "1", "function": {"name": "f", "arguments": "[1"}}]}]},
            "arguments",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_said_is_named(body: dict[str, Any], named: str) -> None:
    got = messages_params(body)
    assert isinstance(got, Failure)
    assert got.kind == "bad_request"
    assert named in got.message
    assert not got.retryable


def message(*content: Any, reason: str | None = "end_turn", **usage: Any) -> dict[str, Any]:
    return {"model": "c-1", "content": [*content], "stop_reason": reason, "usage": usage}


def test_a_message_is_read_as_an_answer_of_a_single_call() -> None:
    got = message_output(
        message(
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "Ro"},
            {"type": "text", "text": "me"},
            input_tokens=10, output_tokens=3,
            cache_creation_input_tokens=100, cache_read_input_tokens=1000,
        )
    )  # fmt: skip
    assert isinstance(got, Output)
    assert (got.text, got.reasoning, got.finish_reason, got.model) == ("Rome", "Hm.", "stop", "c-1")
    assert got.usage == Usage(input=1110, output=3, cached=1000)


def test_tool_use_is_read_as_tool_calls() -> None:
    block = {"type": "tool_use", "id": "1", "name": "f", "input": {"a": "é"}}
    got = message_output(message(block, reason="tool_use"))
    assert isinstance(got, Output)
    assert (got.text, got.finish_reason) == (None, "tool_calls")
    function = {"name": "f", "arguments": '{"a": "é"}'}
    assert got.messages[0]["tool_calls"] == [{"id": "1", "type": "function", "function": function}]


def test_an_answer_without_a_text_is_what_it_is_of_a_single_call() -> None:
    nothing = message_output(message(output_tokens=4, input_tokens=2))
    assert isinstance(nothing, Failure)
    assert (nothing.kind, nothing.usage.output) == ("empty_output", 4)
    cut = message_output(message(reason="max_tokens"))
    assert isinstance(cut, Output)
    assert cut.cut_short
    paused = message_output(message({"type": "text", "text": "a"}, reason="pause_turn"))
    assert isinstance(paused, Output)
    assert paused.broken_off


@pytest.mark.parametrize(
    "answer", [None, [], "x", {}, {"content": "x"}, {"error": {"message": "m"}}]
)
def test_what_is_no_message_is_a_failure(answer: Any) -> None:
    got = message_output(answer)
    assert isinstance(got, Failure)
    assert got.retryable
