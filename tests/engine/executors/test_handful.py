"""What crosses is data: reading it makes nouns, and calls nothing."""

import math
import os
import pickle
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tui_eval.engine.executors.handful import (
    HANDFUL,
    AttemptNews,
    AttemptOrder,
    AttemptRecall,
    AttemptReturn,
    CallAsked,
    CallMade,
    CheckReturn,
    HandfulError,
    Order,
    Return,
    UnreadableMessage,
    orders,
    packed,
    returns,
)
from tui_eval.engine.executors.plain_form import plain
from tui_eval.model.json import canonical
from tui_eval.model.outputs.attempt_record import (
    AttemptProgress,
    AttemptRecord,
    ChangeCounts,
    KeptFile,
    PhaseStart,
    ProgramExit,
    ResourceFigures,
    UsageSample,
)
from tui_eval.model.outputs.output import Estimate, ExhaustedQuota, Failure, Output, Usage
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.targets.conversation.call_log import CallParty, DialogueCall

RECORD = AttemptRecord(
    exit=ProgramExit(1),
    isolation="none",
    resources=ResourceFigures(cpu_s=1.0),
    changes=ChangeCounts(1, 2, 3, 4),
    files=(KeptFile(b"d" * 32, 3),),
    phases=(PhaseStart("running", 0.5),),
    samples=(UsageSample(0.1, 0.2, 3),),
    turns=(1.0,),
)


def test_everything_that_comes_back_is_what_was_sent() -> None:
    output = Output(
        "half a pair: \ud800",
        fields={"a": [1, None]},
        usage=Usage(1, 2),
        estimate=Estimate(3, None),
        exhausted=ExhaustedQuota("tokens", 2.0),
        record=RECORD,
    )
    sent: list[Return] = [
        AttemptReturn(1, output, "partial", ({"role": "user"},), (b"file",)),
        AttemptReturn(2, Failure("timeout", "too long", retryable=True, record=RECORD)),
        AttemptNews(3, AttemptProgress("running", cpu_s=1.0)),
        CallAsked(4, DialogueCall(CallParty.USER, {"messages": []})),
        CheckReturn(-1, Grade.of(True, "right")),
    ]
    assert returns(packed(*sent)) == sent


def test_orders_are_no_returns() -> None:
    given: list[Order] = [AttemptOrder(1, "t", "id", {"q": 1}, 2.0, {}), AttemptRecall(1)]
    assert orders(packed(*given)) == given
    with pytest.raises(HandfulError):
        returns(packed(*given))


class _Calls:
    def __init__(self, *what: Any) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return self.what


@pytest.mark.parametrize(
    "what",
    [(os.getpid, ()), (eval, ("1",)), (getattr, (Output, "digest")), (Exception, ("x",))],
)
def test_nothing_is_made_or_called(what: Any) -> None:
    data = packed(AttemptReturn(1, None)) + pickle.dumps(_Calls(*what))
    with pytest.raises(HandfulError, match="only data is read"):
        returns(data)


def test_no_class_of_the_engine_is_changed() -> None:
    # the opcodes get a member of Verdict, and give it another value
    name, changed = _text("fail"), b"}" + _text("_value_") + _text("pass") + b"s"
    data = b"\x80\x05]ctui_eval.model.states\nVerdict\n" + name + b"\x85R" + changed + b"b0."
    with pytest.raises(HandfulError):
        returns(data)
    assert Verdict.FAIL.value == "fail"


def _text(text: str) -> bytes:
    return b"X" + len(text).to_bytes(4, "little") + text.encode()


FULL = Output(
    "text",
    "reasoning",
    ({"role": "user"},),
    {"a": 1},
    "stop",
    "model",
    Usage(1, 2, 3, 4),
    0.5,
    latency_s=0.1,
    workspace=b"w" * 32,
    record=replace(RECORD, steps=1, tool_calls=2, printed="printed"),
    exhausted=ExhaustedQuota("tokens", 2.0),
    estimate=Estimate(3, 0.1),
)
FAILED = Failure("timeout", "too long", status=500, retry_after_s=1.0, partial="p", record=RECORD)
WHOLE: list[Return] = [
    AttemptReturn(7, FULL, "partial", ({"role": "user"},), (b"file",)),
    AttemptReturn(7, FAILED),
    AttemptNews(7, AttemptProgress("running", 1, "tool", 0.1, 2, 3, 4, 5)),
    CallAsked(7, DialogueCall(CallParty.USER, {"messages": []}, ({"role": "user"},))),
    CallMade(7, FULL),
    CheckReturn(7, Grade(Verdict.PASS, 1.0, "right", {"seen": 1}), "why"),
]
WRONG: list[Any] = [
    *(-1, 1 << 63, 3, 2.5, math.nan, math.inf, -0.5, True, "text", b"bytes", b"{", b"NaN"),
    *(
        b"[" * 100_000,
        None,
        [],
        [1],
        {"a": 1},
        {1: 2},
        (),
        (1,),
        ("Output",),
        set(),
        bytearray(b"x"),
    ),
]


def changed(form: Any, wrong: Any) -> Iterator[Any]:
    """Give a plain form with one value in it replaced, for each there is."""
    for index, value in enumerate(form):
        before, after = form[:index], form[index + 1 :]
        yield (*before, wrong, *after)
        if isinstance(value, tuple):
            yield from ((*before, inner, *after) for inner in changed(value, wrong))


@pytest.mark.parametrize("whole", WHOLE, ids=lambda one: type(one).__name__)
def test_a_field_that_is_not_what_it_has_to_be_makes_its_message_unreadable(whole: Return) -> None:
    refused = 0
    for wrong in WRONG:
        for form in changed(plain(whole)[2:], wrong):
            told = (7, (type(whole).__name__, 7, *form))
            found, other = returns(pickle.dumps(told, protocol=5) + packed(AttemptReturn(8, None)))
            assert other == AttemptReturn(8, None)  # its neighbours are taken
            assert found.attempt == 7
            if isinstance(found, UnreadableMessage):
                refused += 1
            else:  # it is one that could have been sent
                assert returns(packed(found)) == [found]
                canonical([repr(found)])
    assert refused > 10 * len(plain(whole))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (replace(FULL, text=3), "reply.text is 3, and has to be a text"),  # type: ignore[arg-type]
        (
            replace(FULL, usage=Usage(-5)),
            "reply.usage.input is -5, and has to be a whole number from 0",
        ),
        (replace(FULL, cost_usd=math.nan), "reply.cost_usd is nan, and has to be a number from 0"),
        (
            replace(FULL, record=AttemptRecord(files=(KeptFile(b"d" * 32, -1),))),
            "reply.record.files[0].size is -1, and has to be a whole number from 0",
        ),
        (replace(FULL, messages=({"a": math.nan},)), "reply.messages[0] is no JSON: it holds NaN"),
    ],
)
def test_it_is_said_which_field_is_what(reply: Output, why: str) -> None:
    assert returns(packed(AttemptReturn(7, reply))) == [UnreadableMessage(7, why)]


def test_numbers_of_attempts_alone_may_be_below_0_and_are_numbers() -> None:
    wrong: list[Any] = ["1", None, [], 1.0, True]
    for attempt in wrong:
        with pytest.raises(HandfulError):
            returns(pickle.dumps((attempt, plain(AttemptReturn(1, None)))))
    assert returns(packed(CheckReturn(-3, None))) == [CheckReturn(-3, None)]


def test_more_messages_than_are_sent_together_are_none() -> None:
    one = (1, plain(AttemptReturn(1, None)))
    assert len(returns(pickle.dumps(one) * HANDFUL)) == HANDFUL
    with pytest.raises(HandfulError):
        returns(pickle.dumps(one) * (HANDFUL + 1))


@pytest.mark.parametrize("data", [b"", b"\x80\x05", b"nonsense", pickle.dumps(3)])
def test_what_is_no_handful_is_refused(data: bytes) -> None:
    with pytest.raises(HandfulError):
        returns(data)
