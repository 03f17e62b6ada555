from typing import Any

from tui_eval.model.json import Json
from tui_eval.model.outputs.output import Output
from tui_eval.providers.answers import chat_output, responses_output
from tui_eval.providers.logprobs import FIRST, first_logprobs

B: dict[str, Json] = {"token": "B", "logprob": -0.5}
TOLD: dict[str, Json] = {**B, "bytes": [66], "top_logprobs": [{**B, "id": 3}, {"token": "A"}]}
KEPT: dict[str, Json] = {**B, "top_logprobs": [B]}


def test_the_first_tokens_are_kept_and_nothing_else_of_them() -> None:
    assert first_logprobs([TOLD] * 20) == [KEPT] * FIRST
    assert first_logprobs([B, {"token": "x", "logprob": None}, TOLD]) == [{**B, "top_logprobs": []}]
    odds: list[Json] = [
        None,
        {},
        "x",
        [3],
        [{"token": "B", "logprob": float("-inf")}],
        [{"token": "B", "logprob": -(10**400)}],
        [{"token": 3}],
    ]
    for odd in odds:
        assert first_logprobs(odd) == []


def test_a_chat_answer_brings_them_as_a_field() -> None:
    message: dict[str, Any] = {"message": {"content": "B"}, "finish_reason": "stop"}
    with_them = chat_output({"choices": [{**message, "logprobs": {"content": [TOLD]}}]})
    without = chat_output({"choices": [{**message, "logprobs": None}]})
    assert isinstance(with_them, Output)
    assert isinstance(without, Output)
    assert with_them.fields == {"logprobs": [KEPT]}
    assert without.fields == {}


def test_an_answer_of_the_responses_api_brings_them_too() -> None:
    content: list[Json] = [{"type": "output_text", "text": "B", "logprobs": [TOLD]}]
    got = responses_output({"status": "completed", "output": [
        {"type": "reasoning", "content": []}, {"type": "message", "content": content}
    ]})  # fmt: skip
    assert isinstance(got, Output)
    assert got.fields == {"logprobs": [KEPT]}
