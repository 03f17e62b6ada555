from dataclasses import replace

import pytest

from tui_eval.model.outputs.output import Failure, Output, Usage

PLAIN = Output("42", finish_reason="stop")


@pytest.mark.parametrize(
    "change",
    [
        {"text": "43"},
        {"text": None},
        {"reasoning": "because"},
        {"messages": ({"role": "tool", "content": "42"},)},
        {"fields": {"answer": 42}},
        {"finish_reason": "length"},
    ],
)
def test_what_can_be_scored_is_in_the_digest(change: dict[str, object]) -> None:
    assert replace(PLAIN, **change).digest() != PLAIN.digest()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change",
    [{"latency_s": 2.0}, {"cost_usd": 1.0}, {"usage": Usage(1, 2)}, {"model": "another name"}],
)
def test_time_and_money_are_in_no_digest(change: dict[str, object]) -> None:
    assert replace(PLAIN, **change).digest() == PLAIN.digest()  # type: ignore[arg-type]


def test_an_output_knows_why_it_ended() -> None:
    assert not PLAIN.cut_short
    assert not PLAIN.filtered
    assert Output("4", finish_reason="length").cut_short
    assert Output(None, finish_reason="content_filter").filtered


def test_what_an_endpoint_did_not_say_is_unknown() -> None:
    assert Output("42").usage == Usage(None, None, None, None)
    assert Output("42").cost_usd is None


def test_a_failure_is_exported_as_its_kind_and_message() -> None:
    failure = Failure("timeout", "no answer within 300 s", retryable=True, partial="half")
    assert failure.as_json() == {"kind": "timeout", "message": "no answer within 300 s"}
