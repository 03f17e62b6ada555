"""What crosses between an engine and its workers, several messages at a time.

A message is the number of its attempt, the sizes of what follows, its plain form as JSON in ASCII,
and its files. Bytes that come from a worker are data, whoever has written them: what is read of
them is bounded by what is there, by `MOST_TOLD` and by `MOST_VALUES`, and of that the messages
listed here are made, field by field. One that cannot be made is told as such (`UnreadableMessage`),
so that it ends its attempt and no other.
"""

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, get_args

from tui_eval.engine.executors.plain_form import APART, PlainFormError, plain, read_as
from tui_eval.model.json import JsonObject, compact
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.scoring.check import Check
from tui_eval.targets.conversation.call_log import DialogueCall

HANDFUL: Final = 64
"""Messages that are sent at once, however short it is since the last ones were …"""
HANDFUL_BYTES: Final = 1_000_000
"""… and bytes of them: a longer message goes alone, and holds up no shorter ones."""
MOST_TOLD: Final = 128_000_000
"""Bytes of the JSON of one message: twice the longest transcript that is read."""
MOST_VALUES: Final = 4_000_000
"""Values in it: as objects they take some 100 bytes each."""
MOST_FILES: Final = 1_000_000_000
"""Bytes of the files of one message …"""
MOST_FILE_COUNT: Final = 300_000
"""… and how many: more than the entries of a workspace that are listed."""
MOST: Final = MOST_TOLD + MOST_FILES + 100_000_000
"""Bytes of a handful."""

_SIZES: Final = struct.Struct("<qII")
"""The number of an attempt, the bytes of the JSON, how many files there are: their sizes follow."""
_SIZE: Final = 8
_STRINGS: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?+')
_compact = compact()


@dataclass(slots=True)
class AttemptOrder:
    """An attempt that a worker is to make."""

    attempt: int
    """Its id in the store."""
    target: str
    """Its target's name."""
    identity: str
    """The digest of the target's identity: a worker whose own is another one refuses."""
    request: JsonObject
    """As the target's `request` gave it; no key is part of it."""
    timeout_s: float
    limits: dict[str, int]
    """What it may take, as its case says."""
    workspace: str | None = None
    """The name under which the files of its workspace were shared; None: it has none of its own."""


@dataclass(slots=True)
class AttemptRecall:
    """Nobody waits for an attempt any more: whatever runs for it ends."""

    attempt: int


@dataclass(slots=True)
class AttemptNews:
    """How far an attempt is."""

    attempt: int
    progress: AttemptProgress


@dataclass(slots=True)
class AttemptReturn:
    """What came of an attempt."""

    attempt: int
    reply: Output | Failure | None
    """None: it was recalled, or its conversation goes on another time."""
    partial: str | None = None
    """What it had produced, as `AttemptContext.partial`."""
    messages: tuple[JsonObject, ...] = ()
    files: tuple[bytes, ...] = field(default=(), metadata=APART)
    """What the files held that are kept of it, in the order of its record."""


@dataclass(slots=True)
class CallAsked:
    """A conversation comes to a call, whose reply may be known; see `CallLog.ask`."""

    attempt: int
    call: DialogueCall


@dataclass(slots=True)
class CallSend:
    """The reply to the call is not known, and the call may leave."""

    attempt: int


@dataclass(slots=True)
class CallMade:
    """What came of a call that was sent."""

    attempt: int
    reply: Output | Failure


@dataclass(slots=True)
class CallAnswer:
    """The reply with which the conversation goes on: a known one, or the one that came."""

    attempt: int
    reply: Output | Failure | None
    """None: it does not go on now."""
    held: str = ""
    """Why not."""


@dataclass(slots=True)
class CheckOrder:
    """A check of an output that a worker is to decide by running something."""

    attempt: int
    """A number that no attempt has: below 0."""
    check: Check
    output: Output
    made_of: str
    """The digest of what decides beside the check: a worker that has something else refuses."""


@dataclass(slots=True)
class CheckReturn:
    """What came of a check."""

    attempt: int
    grade: Grade | None
    """None: it could not be decided."""
    why: str = ""
    """Why not."""


Order: TypeAlias = AttemptOrder | AttemptRecall | CallSend | CallAnswer | CheckOrder
Return: TypeAlias = AttemptReturn | AttemptNews | CallAsked | CallMade | CheckReturn
_Kinds: TypeAlias = Mapping[str, type]
_ORDERS: Final[_Kinds] = {one.__name__: one for one in get_args(Order)}
_RETURNS: Final[_Kinds] = {one.__name__: one for one in get_args(Return)}


@dataclass(slots=True)
class UnreadableMessage:
    """A message about an attempt that is not what it has to be: nothing of it is taken."""

    attempt: int
    why: str
    """For a person: which field is what."""


class HandfulError(Exception):
    """Bytes are no handful of ours."""


class OversizedMessageError(Exception):
    """A message is more than crosses; its text says by how much."""


def packed(*messages: Order | Return) -> bytes:
    """Return messages as bytes; those of several one after the other are those of all.

    Raises:
        OversizedMessageError: one of them is more than is read.
    """
    return b"".join([part for one in messages for part in _parts(one)])


def _parts(message: Order | Return) -> Iterator[bytes]:
    told = _compact(plain(message)).encode("ascii")
    files = message.files if isinstance(message, AttemptReturn) else ()
    if len(told) > MOST_TOLD or _values(told) > MOST_VALUES:
        raise OversizedMessageError(
            f"it is {len(told):,} bytes of {_values(told):,} values, and at most {MOST_TOLD:,} "
            f"bytes of {MOST_VALUES:,} values go to a worker, or come from it"
        )
    size = sum(map(len, files))
    if size > MOST_FILES or len(files) > MOST_FILE_COUNT:
        raise OversizedMessageError(
            f"it left {len(files):,} files of {size:,} bytes, and at most {MOST_FILE_COUNT:,} of "
            f"{MOST_FILES:,} come from a worker"
        )
    yield _SIZES.pack(message.attempt, len(told), len(files))
    yield from (len(data).to_bytes(_SIZE, "little") for data in files)
    yield told
    yield from files


def orders(data: bytes) -> list[Order]:
    """Return what an engine has packed.

    Raises:
        HandfulError: they are something else.
    """
    found = _read(data, _ORDERS)
    for one in found:
        if isinstance(one, UnreadableMessage):
            raise HandfulError(f"an order cannot be read: {one.why}")
    return found


def returns(data: bytes) -> list[Return | UnreadableMessage]:
    """Return what a worker has packed, each message by itself.

    Raises:
        HandfulError: they are no messages, each with the number of its attempt.
    """
    return _read(data, _RETURNS)


def _read(data: bytes, kinds: _Kinds) -> list[Any]:
    if len(data) > MOST:
        raise HandfulError(f"what came is {len(data):,} bytes, and at most {MOST:,} are read")
    found: list[Any] = []
    at = 0
    while at < len(data) and len(found) <= HANDFUL:
        attempt, told, files, at = _pieces(data, at)
        if at > HANDFUL_BYTES and (found or at < len(data)):
            raise HandfulError(f"several messages are more than {HANDFUL_BYTES:,} bytes together")
        found.append(_message(attempt, told, files, kinds))
    if not 0 < len(found) <= HANDFUL:
        raise HandfulError(f"what came is not 1 to {HANDFUL} messages")
    return found


def _pieces(data: bytes, at: int) -> tuple[int, bytes, list[bytes], int]:
    """Return the pieces of the message that begins at a place, and where the next one begins."""
    begins = at + _SIZES.size
    if begins > len(data):
        raise HandfulError("what came ends in the middle of a message")
    attempt, size, files = _SIZES.unpack_from(data, at)
    told = begins + _SIZE * files
    if files > MOST_FILE_COUNT:
        raise HandfulError(f"a message of {files:,} files came, and at most {MOST_FILE_COUNT:,} do")
    if told + size > len(data):  # before as many sizes are read as are said to be there
        raise HandfulError("what came ends in the middle of a message")
    sizes = struct.unpack_from(f"<{files}Q", data, begins)
    at = told + size
    if at + sum(sizes) > len(data):
        raise HandfulError("what came ends in the middle of a file")
    found = []
    for length in sizes:
        found.append(data[at : at + length])
        at += length
    return attempt, data[told : told + size], found, at


def _message(attempt: int, told: bytes, files: Sequence[bytes], kinds: _Kinds) -> Any:  # noqa: ANN401  # one of the kinds, or unreadable
    try:
        form = _json(told)
        name = form[0] if type(form) is list and form else None
        kind = kinds.get(name) if type(name) is str else None
        if kind is None:
            raise HandfulError("what came is no message of those that are expected")
        made = read_as(kind, [name, 0, *form[2:]])
    except PlainFormError as error:
        return UnreadableMessage(attempt, str(error))
    made.attempt = attempt  # it alone may be below 0
    if kind is AttemptReturn:
        made.files = tuple(files)
    elif files:
        return UnreadableMessage(attempt, f"it is {name}, and brings files")
    return made


def _json(told: bytes) -> Any:  # noqa: ANN401  # any JSON value
    """Read JSON that anybody may have written.

    Raises:
        PlainFormError: it is none, or too much.
    """
    if len(told) > MOST_TOLD:
        raise PlainFormError(f"is {len(told):,} bytes, and at most {MOST_TOLD:,} are read")
    if (count := _values(told)) > MOST_VALUES:
        raise PlainFormError(f"holds {count:,} values, and at most {MOST_VALUES:,} are read")
    try:
        return json.loads(told.decode("ascii"), parse_constant=_constant)
    except RecursionError:
        raise PlainFormError("is nested too deeply to be read") from None
    except ValueError as error:  # also of what is not ASCII, or a number with too many digits
        raise PlainFormError(f"is no JSON: {error}") from None


def _values(told: bytes) -> int:
    """Return how many values there are in JSON at most; 0 where its length alone bounds them."""
    if len(told) <= MOST_VALUES or _opened(told) <= MOST_VALUES:
        return 0
    return _opened(_STRINGS.sub(b"", told))  # what is in texts is no value


def _opened(told: bytes) -> int:
    return told.count(b",") + told.count(b"[") + told.count(b"{")


def _constant(name: str) -> float:
    """Read what a number like 1e999 comes to, as JSON is read everywhere; there is no NaN."""
    if name == "NaN":
        raise ValueError("it holds NaN")
    return float(name)
