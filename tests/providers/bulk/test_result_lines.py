"""What one line of results says, or why it says nothing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.anthropic_batches import anthropic_reply
from tui_eval.providers.bulk.api import BulkLine, StrayLine, custom_id, id_within, token_and_ordinal
from tui_eval.providers.bulk.connection import never_taken
from tui_eval.providers.bulk.openai_lines import chat_reply, responses_reply
from tui_eval.providers.bulk.result_lines import ReadReply, line_read
from tui_eval.providers.patience import EndpointIdentity

NAMES = st.sampled_from(
    [
        "body",
        "choices",
        "code",
        "content",
        "custom_id",
        "error",
        "finish_reason",
        "input",
        "message",
        "model",
        "name",
        "output",
        "reasoning",
        "response",
        "result",
        "status",
        "status_code",
        "stop_reason",
        "text",
        "thinking",
        "tool_calls",
        "type",
        "usage",
    ]
)
BODY = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
DEEP = b"[" * 100_000
DONE = {"status_code": 200, "body": BODY}


def read(row: Any) -> BulkLine | StrayLine:
    content = row if isinstance(row, bytes) else json.dumps(row).encode()
    return line_read(content, "results, line 3", chat_reply, EndpointIdentity("host"))


def reply(**row: Any) -> Output | Failure:
    got = read({"custom_id": "t-0", **row})
    assert isinstance(got, BulkLine)
    return got.reply


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (b"{", "it is no valid JSON"),
        (b"\xff\xfe{", "it is no valid JSON"),
        (DEEP, "it is nested too deeply"),
        ([], "it is no JSON object"),
        ({}, "it has no custom_id"),
        ({"custom_id": ""}, "it has no custom_id"),
        ({"custom_id": 7}, "it has no custom_id"),
    ],
)
def test_a_line_that_is_nobodys_says_why(row: Any, problem: str) -> None:
    assert read(row) == StrayLine("results, line 3", problem)


def test_an_answer_that_cannot_be_read_is_a_failure_of_its_request() -> None:
    """It was done, and is paid: asked again it would be paid again."""
    got = read(b'{"id":"1","custom_id": "t-7","response":' + DEEP)
    assert isinstance(got, BulkLine)
    assert isinstance(got.reply, Failure)
    assert (got.custom_id, got.reply.kind, got.reply.retryable) == ("t-7", "bad_answer", False)
    assert "nested too deeply (results, line 3)" in got.reply.message


def test_no_text_of_an_answer_is_taken_for_its_id() -> None:
    told = json.dumps({"response": '"custom_id": "t-7"'}).encode()
    assert id_within(told) is None
    assert id_within(b'{"custom_id" : "t-7", "response": "custom_id') == "t-7"


@pytest.mark.parametrize(
    ("row", "kind", "status"),
    [
        ({"response": DONE, "error": {"message": "m"}}, "bad_answer", None),
        ({"response": {"status_code": 200, "body": None}}, "bad_answer", None),
        ({"response": {"body": BODY}}, "bad_answer", None),
        ({"response": None, "error": None}, "bad_answer", None),
        ({"response": "x"}, "bad_answer", None),
        ({"response": None, "error": {"code": "server_error", "message": "m"}}, "bad_answer", None),
        ({"response": None, "error": {"code": "batch_expired"}}, "expired", None),
        ({"response": None, "error": {"code": "batch_cancelled"}}, "cancelled", None),
        ({"response": None, "error": {"code": "batch_canceled"}}, "cancelled", None),
        ({"response": None, "error": {"code": ["batch_expired"]}}, "bad_answer", None),
        ({"response": {"status_code": 500, "body": BODY}}, "server_error", 500),
        ({"response": {"status_code": 429}, "error": "slow down"}, "rate_limit", 429),
    ],
)
def test_a_line_without_an_answer_is_a_failure(row: Any, kind: str, status: int | None) -> None:
    got = reply(**row)
    assert isinstance(got, Failure)
    assert (got.kind, got.status) == (kind, status)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from([chat_reply, responses_reply, anthropic_reply]))
def test_whatever_a_line_holds_it_is_read(value: Any, of: ReadReply) -> None:
    told = {"custom_id": "t-0", "response": value, "error": value, "result": value}
    for row in (value, told, {"custom_id": "t-0", **(value if isinstance(value, dict) else {})}):
        content = json.dumps(row).encode()
        assert isinstance(
            line_read(content, "x", of, EndpointIdentity("host")), BulkLine | StrayLine
        )


def test_lines_say_the_same_whatever_the_provider_calls_them() -> None:
    one = read({"id": "1", "custom_id": "t-0", "response": {**DONE, "request_id": "a"}})
    two = read({"id": "2", "custom_id": "t-0", "response": {**DONE, "request_id": "b"}})
    named = {**BODY, "id": "another", "created": 7, "system_fingerprint": "fp"}
    four = read({"custom_id": "t-0", "response": {**DONE, "body": named}})
    other = {**BODY, "usage": {"prompt_tokens": 7}}
    three = read({"id": "1", "custom_id": "t-0", "response": {**DONE, "body": other}})
    assert isinstance(one, BulkLine)
    assert isinstance(two, BulkLine)
    assert isinstance(three, BulkLine)
    assert isinstance(four, BulkLine)
    assert one.digest == two.digest == four.digest != three.digest


def test_an_id_is_within_what_providers_take_and_is_taken_apart_again() -> None:
    token = "A" * 40
    made = custom_id(token, 10**9 - 1)
    assert len(made) <= 64
    assert token_and_ordinal(made) == (token, 10**9 - 1)
    for wrong in ("", "a-b", "a b", "A" * 41, "é"):
        with pytest.raises(ValueError, match="no id"):
            custom_id(wrong, 0)
    for foreign in (
        "",
        "t",
        "t-",
        "t-x",
        "t--1",
        "t-1\n",
        "t-" + "1" * 10,
        "a-b-1",
        "t-01",
        "t-00",
    ):
        assert token_and_ordinal(foreign) is None


def test_what_never_left_was_never_taken() -> None:
    assert never_taken(Failure("connection", "m", unsent=True))
    assert not never_taken(Failure("connection", "m"))
    assert not never_taken(Failure("server_error", "m", status=502))
    assert not never_taken(Failure("bad_request", "m", status=408))
    assert never_taken(Failure("rate_limit", "m", status=429))
