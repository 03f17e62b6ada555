from dataclasses import replace
from typing import Any

import pytest

from tests.targets.making import COLUMN, answered, case, only, requested
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure
from tui_eval.targets import Target
from tui_eval.targets.attempt.attempt_context import AttemptContext

REPLAY = {"kind": "replay", "path": "answers.jsonl"}


@pytest.fixture
def target() -> Target:
    return only(REPLAY)


def said(output: str, **more: Any) -> Case:
    return replace(case(question="x"), recorded={"t": {"output": output, **more}})


async def test_what_was_recorded_is_the_output(target: Target) -> None:
    messages = [{"role": "assistant", "content": "4"}]
    of = said("4", latency_s=1.5, finish_reason="stop", messages=messages)
    got = await answered(target, of)
    assert (got.text, got.latency_s, got.finish_reason) == ("4", 1.5, "stop")
    assert list(got.messages) == messages


async def test_what_was_not_recorded_is_unknown(target: Target) -> None:
    got = await answered(target, said("4"))
    assert got.latency_s is None and got.finish_reason is None and got.cost_usd == 0.0
    assert got.model is None and got.usage.input is None


async def test_recorded_thinking_is_kept_apart(target: Target) -> None:
    got = await answered(target, said("<think>2 and 2</think>4"))
    assert (got.text, got.reasoning) == ("4", "2 and 2")
    assert (await answered(target, said("<think>2 and"))).cut_short


async def test_an_empty_recording_is_an_empty_output_unless_it_was_cut(target: Target) -> None:
    got = await target.generate(requested(target, said("")), AttemptContext(1))
    assert isinstance(got, Failure) and got.kind == "empty_output"
    assert (await answered(target, said("", finish_reason="length"))).cut_short


async def test_a_recorded_finish_reason_is_read_however_it_is_spelled(target: Target) -> None:
    assert (await answered(target, said("4", finish_reason="MAX_TOKENS"))).cut_short
    assert (await answered(target, said("", finish_reason="Content_Filter"))).filtered
    assert (await answered(target, said("4", finish_reason="END_TURN"))).finish_reason == "stop"


@pytest.mark.parametrize("finish", ["error", "RECITATION"])
@pytest.mark.parametrize("text", ["", "half an ans"])
async def test_a_recording_that_was_broken_off_is_no_answer(
    target: Target, finish: str, text: str
) -> None:
    got = await answered(target, said(text, finish_reason=finish))
    assert got.broken_off and got.finish_reason == finish


def test_a_case_without_a_recording_is_a_failure_of_that_case(target: Target) -> None:
    got = target.request(COLUMN, case(question="x"))
    assert isinstance(got, Failure)
    assert got.kind == "no_recording" and not got.fatal
    assert "answers.jsonl (case by column 'id', output by column 'output')" in got.message
    other = target.request(COLUMN, replace(case(question="y"), id="c1"))
    assert other == got, "many of them are one reason"


def test_the_recording_is_the_request_and_the_file_is_in_no_key(target: Target) -> None:
    assert requested(target, said("4")) != requested(target, said("5"))
    assert target.identity() == only({**REPLAY, "path": "moved.jsonl", "id": "key"}).identity()


async def test_nothing_has_to_be_opened_and_nothing_is_missing(target: Target) -> None:
    assert target.problem() is None and not target.simulated and target.model is None
    async with target:
        assert (await answered(target, said("4"))).text == "4"
