"""What crosses between an engine and its workers, several messages at a time.

Bytes that come from a worker are data: reading them makes the classes listed here and calls
nothing else, whoever has written them.
"""

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tui_eval.model import attempt_record, output
from tui_eval.model.attempt_record import AttemptProgress
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check
from tui_eval.targets.conversation.call_log import CallParty, DialogueCall

HANDFUL: Final = 64
"""Messages that are sent at once, however short it is since the last ones were."""


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


_ORDERS: Final = (AttemptOrder, AttemptRecall, CallSend, CallAnswer, CheckOrder)
_RETURNS: Final = (AttemptReturn, AttemptNews, CallAsked, CallMade, CheckReturn)
Order: TypeAlias = AttemptOrder | AttemptRecall | CallSend | CallAnswer | CheckOrder
Return: TypeAlias = AttemptReturn | AttemptNews | CallAsked | CallMade | CheckReturn
_BESIDE: Final = (DialogueCall, CallParty, Check, Grade, Verdict)
_NOUNS: Final = {
    (module.__name__, name): getattr(module, name)
    for module, names in {
        output: ("Output", "Failure", "Usage", "Estimate", "ExhaustedQuota"),
        attempt_record: (
            *("AttemptProgress", "AttemptRecord", "ProgramExit", "ResourceFigures"),
            *("ChangeCounts", "KeptFile", "PhaseStart", "UsageSample"),
        ),
    }.items()
    for name in names
} | {(made.__module__, made.__name__): made for made in (*_ORDERS, *_RETURNS, *_BESIDE)}


class HandfulError(Exception):
    """Bytes are no handful of ours."""


def packed(messages: Sequence[Order | Return]) -> bytes:
    """Return messages as bytes."""
    return pickle.dumps([*messages], protocol=5)


def orders(data: bytes) -> list[Order]:
    """Return what an engine has packed.

    Raises:
        HandfulError: they are something else.
    """
    return _read(data, _ORDERS)


def returns(data: bytes) -> list[Return]:
    """Return what a worker has packed.

    Raises:
        HandfulError: they are something else.
    """
    return _read(data, _RETURNS)


def _read(data: bytes, kinds: tuple[type, ...]) -> list[Any]:
    try:
        found = _Nouns(io.BytesIO(data)).load()
    except Exception as error:
        raise HandfulError(f"what came cannot be read: {error}") from error
    if not isinstance(found, list) or not all(isinstance(one, kinds) for one in found):
        raise HandfulError("what came is no list of messages")
    return found


class _Nouns(pickle.Unpickler):
    """Makes the nouns listed above, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # as the base class has it
        try:
            return _NOUNS[module, name]
        except KeyError:
            raise HandfulError(f"{module}.{name} is no noun that crosses") from None
