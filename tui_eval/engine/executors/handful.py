"""What crosses between an engine and its workers, several messages at a time.

Bytes that come from a worker are data, whoever has written them: they are read as numbers, texts,
bytes, lists and tables alone, and of those the messages listed here are made, field by field. One
that cannot be made is told as such (`UnreadableMessage`), so that it ends its attempt and no other.
"""

import io
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_args

from tui_eval.engine.executors.plain_form import PlainFormError, plain, read_as
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.scoring.check import Check
from tui_eval.targets.conversation.call_log import DialogueCall

HANDFUL: Final = 64
"""Messages that are sent at once, however short it is since the last ones were …"""
HANDFUL_BYTES: Final = 1_000_000
"""… and bytes of them: a longer message goes alone, and holds up no shorter ones."""


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
    files: tuple[bytes, ...] = ()
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


def packed(*messages: Order | Return) -> bytes:
    """Return messages as bytes; those of several one after the other are those of all."""
    return b"".join([pickle.dumps((one.attempt, plain(one)), protocol=5) for one in messages])


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
    came = io.BytesIO(data)
    found: list[object] = []
    try:
        while came.tell() < len(data) and len(found) <= HANDFUL:
            found.append(_PlainData(came).load())
    except Exception as error:
        raise HandfulError(f"what came cannot be read: {error}") from error
    if not 0 < len(found) <= HANDFUL:
        raise HandfulError(f"what came is not 1 to {HANDFUL} messages")
    return [_message(one, kinds) for one in found]


def _message(one: object, kinds: _Kinds) -> Any:  # noqa: ANN401  # one of the kinds, or unreadable
    if type(one) is not tuple or len(one) != 2 or type(one[0]) is not int:
        raise HandfulError("what came is no message about an attempt")
    attempt, told = one
    name = told[0] if type(told) is tuple and told else None
    kind = kinds.get(name) if type(name) is str else None
    if kind is None:
        raise HandfulError("what came is no message of those that are expected")
    try:
        made = read_as(kind, (name, 0, *told[2:]))
    except PlainFormError as error:
        return UnreadableMessage(attempt, str(error))
    made.attempt = attempt  # it alone may be below 0
    return made


class _PlainData(pickle.Unpickler):
    """Reads data alone: names, by which pickles make objects and call, are refused."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # as the base class has it
        raise HandfulError(f"{module}.{name} is a name, and only data is read")
