from typing import Any

import pytest

from tui_eval.model.json import Json
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.providers.answers import chat_output, responses_output, split_thinking


def chat(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Output | Failure:
    return chat_output({"choices": [{"message": message, "finish_reason": finish}], **more})


def output(got: Output | Failure) -> Output:
    assert isinstance(got, Output), got
    return got


def failure(got: Output | Failure) -> Failure:
    assert isinstance(got, Failure), got
    return got


def test_a_plain_answer() -> None:
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 7,
        "total_tokens": 19,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    got = output(chat({"content": "Paris"}, model="m-2025", usage=usage))
    assert got.text == "Paris" and got.finish_reason == "stop" and got.model == "m-2025"
    assert got.usage == Usage(12, 7, 3, 8)
    assert got.messages == () and got.reasoning is None


def test_what_the_endpoint_does_not_say_is_unknown() -> None:
    got = output(chat_output({"choices": [{"message": {"content": "x"}}]}))
    assert got.usage == Usage() and got.model is None and got.finish_reason is None


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, None, [], 2**63, 10**30, float("inf")])
def test_a_count_that_is_none_is_unknown(count: Any) -> None:
    assert output(chat({"content": "x"}, usage={"prompt_tokens": count})).usage.input is None


def test_reasoning_counted_beside_the_completion_is_part_of_the_output_tokens() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 35,
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    assert output(chat({"content": "x"}, usage=usage)).usage.output == 25


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart(field: str) -> None:
    got = output(chat({"content": "4", field: "2 and 2"}))
    assert got.text == "4" and got.reasoning == "2 and 2"


def test_thinking_inside_the_text_is_taken_out() -> None:
    got = output(chat({"content": "<think>\n2 and 2\n</think>\n\n4"}))
    assert got.text == "4" and got.reasoning == "2 and 2" and got.finish_reason == "stop"


def test_thinking_that_is_never_closed_was_cut_short() -> None:
    got = output(chat({"content": "<think>2 and"}))
    assert got.cut_short and got.text is None and got.reasoning == "2 and"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", ("plain", None, True)),
        ("  plain\n", ("  plain\n", None, True)),
        ("<think></think>x", ("x", None, True)),
        (" <think>a</think> <think>b</think> x", ("x", "a\nb", True)),
        ("a</think>x", ("x", "a", True)),
        ("say <think> twice", ("say <think> twice", None, True)),
        ("<think>", (None, None, False)),
        ("<think>a</think><think>b", (None, "a\nb", False)),
    ],
)
def test_thinking_is_only_what_a_text_starts_with(
    text: str, expected: tuple[str | None, str | None, bool]
) -> None:
    assert split_thinking(text) == expected


@pytest.mark.parametrize("text", [None, "", "  \n", "<think>much</think>\n"])
def test_no_text_and_no_tool_call_is_an_empty_output(text: str | None) -> None:
    got = failure(chat({"content": text}))
    assert got.kind == "empty_output" and got.message == "empty output" and not got.retryable


@pytest.mark.parametrize("finish", ["length", "content_filter", "max_tokens", "SAFETY"])
def test_no_text_because_it_was_cut_or_filtered_is_a_complete_output(finish: str) -> None:
    got = output(chat({"content": None}, finish))
    assert got.text is None and (got.cut_short or got.filtered)


def test_a_refusal_is_the_text() -> None:
    assert output(chat({"content": None, "refusal": "I won't."})).text == "I won't."


def test_tool_calls_go_into_the_messages() -> None:
    call: Json = {
        "id": "1",
        "type": "function",
        "function": {"name": "f", "arguments": "{}"},
    }
    got = output(chat({"content": None, "tool_calls": [call]}, "tool_calls"))
    (said,) = got.messages
    assert said == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert got.text is None


def test_content_in_parts_is_put_together() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thinking, {"type": "text", "text": "Pa"}, {"type": "text", "text": "ris"}]
    got = output(chat({"content": parts}))
    assert got.text == "Paris" and got.reasoning == "hm"


INVALID: list[Json] = [
    None,
    [],
    "x",
    {},
    {"choices": []},
    {"choices": None},
    {"choices": ["x"]},
    {"choices": [{}]},
    {"choices": [{"message": None}]},
    {"choices": [{"message": {"content": 42}}]},
    {"choices": [{"message": {"content": {"text": "x"}}}]},
    {"error": {"message": "it broke"}},
    {"error": "it broke"},
    {"choices": [{"message": {"content": ""}, "error": {"message": "upstream"}}]},
]


@pytest.mark.parametrize("answer", INVALID)
def test_an_answer_that_is_none_is_retried(answer: Json) -> None:
    got = failure(chat_output(answer))
    assert got.kind == "bad_answer" and got.retryable and not got.fatal


def test_an_error_in_a_200_is_told() -> None:
    assert "it broke" in failure(chat_output({"error": {"message": "it broke"}})).message


def message(text: str, kind: str = "output_text", field: str = "text") -> dict[str, Any]:
    return {"type": "message", "content": [{"type": kind, field: text}]}


def test_an_answer_of_the_responses_api() -> None:
    got = output(
        responses_output(
            {
                "status": "completed",
                "model": "m-2025",
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                    message("Paris"),
                ],
                "usage": {
                    "input_tokens": 3,
                    "output_tokens": 2,
                    "input_tokens_details": {"cached_tokens": 1},
                    "output_tokens_details": {"reasoning_tokens": 1},
                },
            }
        )
    )
    assert (got.text, got.reasoning, got.finish_reason) == ("Paris", "hm", "stop")
    assert got.usage == Usage(3, 2, 1, 1) and got.model == "m-2025"


def test_a_function_call_of_the_responses_api_has_the_shape_of_the_chat_api() -> None:
    item: Json = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    got = output(responses_output({"status": "completed", "output": [item]}))
    function: Json = {"name": "f", "arguments": "{}"}
    call: Json = {"id": "c1", "type": "function", "function": function}
    (said,) = got.messages
    assert said == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert got.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "content_filter")]
)
def test_an_incomplete_response_is_kept(reason: str, finish: str) -> None:
    got = output(
        responses_output(
            {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []}
        )
    )
    assert got.text is None and got.finish_reason == finish


@pytest.mark.parametrize("finish", ["error", "ABORT", "insufficient_system_resource", "timeout"])
def test_an_answer_that_the_endpoint_broke_off_is_a_failure_that_may_pass(finish: str) -> None:
    got = failure(chat({"content": "<think>2 and 2</think>half an ans"}, finish))
    assert (got.kind, got.retryable) == ("bad_answer", True)
    assert finish in got.message and got.partial is not None and "half an ans" in got.partial


@pytest.mark.parametrize("text", [None, "", "half an ans", "<think>half a thou"])
@pytest.mark.parametrize("finish", ["RECITATION", "incomplete", "\x1b[2J", "5"])
def test_an_unknown_finish_reason_is_kept_and_is_not_that_of_an_answer(
    finish: str, text: str | None
) -> None:
    got = output(chat({"content": text}, finish))
    assert got.broken_off and got.finish_reason == finish


def test_a_finish_reason_that_is_no_text_is_an_unknown_one() -> None:
    finishes: list[Json] = [5, {"type": "stop"}, False]
    for finish in finishes:
        choice: dict[str, Json] = {"message": {"content": "x"}, "finish_reason": finish}
        assert output(chat_output({"choices": [choice]})).broken_off


@pytest.mark.parametrize("status", ["failed", "cancelled", "EXPIRED", "queued", "in_progress"])
def test_a_response_that_did_not_come_to_its_end_is_a_failure_that_may_pass(status: str) -> None:
    got = failure(responses_output({"status": status, "output": [message("half an ans")]}))
    assert (got.kind, got.retryable) == ("bad_answer", True)
    assert status in got.message


@pytest.mark.parametrize("reason", [None, {}, {"reason": "no such reason"}, "odd"])
def test_a_response_that_is_incomplete_for_no_known_reason_is_no_answer(reason: Json) -> None:
    got = output(
        responses_output(
            {
                "status": "incomplete",
                "incomplete_details": reason,
                "output": [message("half an ans")],
            }
        )
    )
    assert got.broken_off


def test_a_response_is_incomplete_because_of_a_time_out() -> None:
    said: Json = {"status": "incomplete", "incomplete_details": {"reason": "timeout"}, "output": []}
    assert failure(responses_output(said)).retryable


def test_a_refusal_of_the_responses_api_is_the_text() -> None:
    got = output(responses_output({"output": [message("No.", "refusal", "refusal")]}))
    assert got.text == "No."


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"output": None},
        {"status": "failed", "output": []},
        {"error": {"message": "x"}, "output": []},
        [],
    ],
)
def test_a_response_that_is_none_is_retried(answer: Json) -> None:
    got = failure(responses_output(answer))
    assert got.kind == "bad_answer" and got.retryable


def test_an_empty_response_is_an_empty_output() -> None:
    assert failure(responses_output({"status": "completed", "output": []})).kind == "empty_output"
