"""What crosses is data, bounded: reading it makes messages, whoever has written it."""

import json
import math
import random
import struct
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tui_eval.engine.executors import handful
from tui_eval.engine.executors.handful import (
    HANDFUL,
    HANDFUL_BYTES,
    MOST_FILE_COUNT,
    AttemptNews,
    AttemptOrder,
    AttemptRecall,
    AttemptReturn,
    CallAsked,
    CallMade,
    CheckReturn,
    HandfulError,
    Order,
    OversizedMessageError,
    Return,
    UnreadableMessage,
    orders,
    packed,
    returns,
)
from tui_eval.engine.executors.plain_form import plain
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
    *(-1, 1 << 63, 10**4000, 3, 2.5, math.nan, math.inf, -0.5, True, "text", "Zg==", "{"),
    *(None, [], [1], [None], ["Output"], ["Failure", 1], {}, {"a": 1}, {"a": [[]]}),
]


def told(attempt: int, form: Any, *files: bytes) -> bytes:
    """Return a message as bytes, whatever its form is."""
    return raw(attempt, json.dumps(form).encode(), *files)


def raw(attempt: int, form: bytes, *files: bytes) -> bytes:
    sizes = struct.pack(f"<{len(files)}Q", *map(len, files))
    return struct.pack("<qII", attempt, len(form), len(files)) + sizes + form + b"".join(files)


def changed(form: Any, wrong: Any) -> Iterator[Any]:
    """Give a plain form with one value in it replaced, for each there is."""
    for index, value in enumerate(form):
        before, after = form[:index], form[index + 1 :]
        yield [*before, wrong, *after]
        if isinstance(value, list):
            yield from ([*before, inner, *after] for inner in changed(value, wrong))


@pytest.mark.parametrize("whole", WHOLE, ids=lambda one: type(one).__name__)
def test_a_field_that_is_not_what_it_has_to_be_makes_its_message_unreadable(whole: Return) -> None:
    refused = 0
    for wrong in WRONG:
        for form in changed(json.loads(json.dumps(plain(whole)))[2:], wrong):
            message = told(7, [type(whole).__name__, 7, *form])
            found, other = returns(message + packed(AttemptReturn(8, None)))
            assert other == AttemptReturn(8, None)  # its neighbours are taken
            assert found.attempt == 7
            if isinstance(found, UnreadableMessage):
                refused += 1
            else:  # it is one that could have been sent
                assert returns(packed(found)) == [found]
    assert refused > 10 * len(plain(whole))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (replace(FULL, text=3), "reply.text is 3, and has to be a text"),  # type: ignore[arg-type]
        (
            replace(FULL, usage=Usage(-5)),
            "reply.usage.input is -5, and has to be a whole number from 0",
        ),
        (replace(FULL, cost_usd=math.inf), "reply.cost_usd is inf, and has to be a number from 0"),
        (replace(FULL, cost_usd=math.nan), "it is no JSON: it holds NaN"),
        (
            replace(FULL, record=AttemptRecord(files=(KeptFile(b"d" * 32, -1),))),
            "reply.record.files[0].size is -1, and has to be a whole number from 0",
        ),
        (
            replace(FULL, messages=([],)),  # type: ignore[arg-type]
            "reply.messages[0] is a list, and has to be a JSON object",
        ),
    ],
)
def test_it_is_said_which_field_is_what(reply: Output, why: str) -> None:
    assert returns(packed(AttemptReturn(7, reply))) == [UnreadableMessage(7, why)]


def test_numbers_of_attempts_alone_may_be_below_0() -> None:
    assert returns(packed(CheckReturn(-3, None))) == [CheckReturn(-3, None)]


def test_more_messages_than_are_sent_together_are_none() -> None:
    one = packed(AttemptReturn(1, None))
    assert len(returns(one * HANDFUL)) == HANDFUL
    with pytest.raises(HandfulError):
        returns(one * (HANDFUL + 1))


ENDS = packed(WHOLE[0])
HOSTILE = {
    "nothing": b"",
    "no sizes": b"\x80\x05",
    "a text": b"nonsense, and more of it than there are sizes in a message",
    "a number": told(1, 3),
    "no kind": told(1, []),
    "a kind that is none": told(1, [["AttemptReturn"], 1, None]),
    "an object of the engine": told(1, ["Output", "text"]),
    "an order": packed(AttemptRecall(1)),
    "a pickle": b"\x80\x04r\xff\xff\xff\x7f.",
    "more JSON than there is": struct.pack("<qII", 1, 0xFFFFFFFF, 0) + b"[]",
    "more files than there are": struct.pack("<qII", 1, 2, 0xFFFFFFFF) + b"[]",
    "a longer file than there is": struct.pack("<qIIQ", 1, 2, 1, 1 << 63) + b"[]",
    "sizes beyond all bounds": struct.pack("<qII2Q", 1, 2, 2, (1 << 64) - 1, 2) + b"[]",
    "a half": ENDS[:-1],
    "empty files": struct.pack("<qII", 1, 2, MOST_FILE_COUNT + 1)
    + bytes(8 * MOST_FILE_COUNT + 8)
    + b"[]",
    "two long ones": packed(AttemptReturn(1, Output("x" * HANDFUL_BYTES))) * 2,
}


@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_what_is_no_handful_is_refused_and_takes_no_room(data: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(HandfulError):
            returns(data)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 4 * HANDFUL_BYTES


@pytest.mark.parametrize(
    ("form", "why"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'["AttemptReturn"', "no JSON"),
        ('["AttemptReturn",1,"é"]'.encode(), "no JSON"),
        (b"9" * 5_000, "no JSON"),
        (b"[[]" + b",[]" * 100_000 + b"]", "200,002 values, and at most 150,000"),
        (b'{"' + b',[\\"' * 100_000, "no JSON"),  # texts that do not end are looked for once
        (b"[" + b"1" * 700_000 + b"]", "700,002 bytes, and at most 600,000"),
    ],
    ids=["deep", "half", "not ascii", "digits", "values", "quotes", "long"],
)
def test_json_that_cannot_be_ends_its_attempt_alone(
    form: bytes, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handful, "MOST_VALUES", 150_000)
    monkeypatch.setattr(handful, "MOST_TOLD", 600_000)
    found, other = returns(raw(7, form) + packed(AttemptReturn(8, None)))
    assert other == AttemptReturn(8, None)
    assert isinstance(found, UnreadableMessage)
    assert found.attempt == 7
    assert why in found.why


def test_what_texts_hold_is_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handful, "MOST_VALUES", 1_000)
    returned = AttemptReturn(1, Output('[{"a\\": 1}, ' * 2_000))
    assert returns(packed(returned)) == [returned]


@pytest.mark.parametrize(
    ("bound", "most", "returned"),
    [
        ("MOST_TOLD", 1_000, AttemptReturn(1, Output("x" * 1_000))),
        ("MOST_VALUES", 1_000, AttemptReturn(1, Output("x", fields={"a": [1] * 1_000}))),
        ("MOST_FILES", 1_000, AttemptReturn(1, None, files=(b"x" * 1_001,))),
        ("MOST_FILE_COUNT", 2, AttemptReturn(1, None, files=(b"", b"", b""))),
    ],
)
def test_what_would_not_be_read_is_not_sent(
    bound: str, most: int, returned: AttemptReturn, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = packed(returned)
    assert returns(sent) == [returned]
    monkeypatch.setattr(handful, bound, most)
    with pytest.raises(OversizedMessageError, match=f"{most:,}"):
        packed(returned)


def test_files_come_with_what_an_attempt_came_to_alone() -> None:
    form = json.loads(json.dumps(plain(AttemptNews(7, AttemptProgress("running")))))
    (found,) = returns(told(7, form, b"file"))
    assert found == UnreadableMessage(7, "it is AttemptNews, and brings files")


def test_bytes_that_anybody_changed_are_messages_or_none() -> None:
    chance = random.Random(7)
    whole = packed(*WHOLE)
    refused = unreadable = 0
    for _ in range(3_000):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 1, 2, 8))):
            at = chance.randrange(len(data))
            match chance.randrange(3):
                case 0:
                    data[at] = chance.randrange(256)
                case 1:
                    del data[at : at + chance.randrange(1, 9)]
                case _:
                    data[at:at] = chance.choice((b"0", b"-", b"[", b'"', b"\xff" * 4, b"1e999"))
        try:
            found = returns(bytes(data))
        except HandfulError:
            refused += 1
            continue
        unreadable += any(isinstance(one, UnreadableMessage) for one in found)
        for one in found:
            if not isinstance(one, UnreadableMessage):
                assert returns(packed(one)) == [one]
    assert refused > 100
    assert unreadable > 100
