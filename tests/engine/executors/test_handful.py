"""What crosses is data: reading it makes nouns, and calls nothing."""

import os
import pickle
from typing import Any

import pytest

from tui_eval.engine.executors.handful import (
    AttemptNews,
    AttemptOrder,
    AttemptRecall,
    AttemptReturn,
    CallAsked,
    CheckReturn,
    HandfulError,
    Order,
    Return,
    orders,
    packed,
    returns,
)
from tui_eval.model.attempt_record import (
    AttemptProgress,
    AttemptRecord,
    ChangeCounts,
    KeptFile,
    PhaseStart,
    ProgramExit,
    ResourceFigures,
    UsageSample,
)
from tui_eval.model.output import Estimate, ExhaustedQuota, Failure, Output, Usage
from tui_eval.model.score import Grade
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
    assert returns(packed(sent)) == sent


def test_orders_are_no_returns() -> None:
    given: list[Order] = [AttemptOrder(1, "t", "id", {"q": 1}, 2.0, {}), AttemptRecall(1)]
    assert orders(packed(given)) == given
    with pytest.raises(HandfulError):
        returns(packed(given))


class _Calls:
    def __init__(self, *what: Any) -> None:
        self.what = what

    def __reduce__(self) -> Any:
        return self.what


@pytest.mark.parametrize(
    "what",
    [(os.getpid, ()), (eval, ("1",)), (getattr, (Output, "digest")), (Exception, ("x",))],
)
def test_nothing_else_is_made_or_called(what: Any) -> None:
    data = pickle.dumps([AttemptReturn(1, None), _Calls(*what)])
    with pytest.raises(HandfulError, match="no noun that crosses"):
        returns(data)


@pytest.mark.parametrize("data", [b"", b"\x80\x05", b"nonsense", pickle.dumps(3)])
def test_what_is_no_handful_is_refused(data: bytes) -> None:
    with pytest.raises(HandfulError):
        returns(data)
