"""Where an attempt makes the calls of a conversation, so that none is made twice."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output

Send: TypeAlias = Callable[[], Awaitable[Output | Failure]]
"""Makes a call once."""


class CallParty(StrEnum):
    """Who is asked by a call of a conversation."""

    TARGET = "target"
    USER = "user"
    """The simulated user: with a limit and money of its own."""


@dataclass(frozen=True, slots=True)
class DialogueCall:
    """A call of a conversation that is to be made."""

    party: CallParty
    request: JsonObject
    """All that it asks: a reply that is known answers an equal request alone."""
    said: tuple[JsonObject, ...] = ()
    """What was said since the reply before: turns of the user, answers of tools."""


class CallLog(Protocol):
    """The calls of one attempt, in their order."""

    @property
    def counted(self) -> bool:
        """Whether any was made through it: what replies took is counted by then."""

    @property
    def call_s(self) -> float:
        """Seconds that the calls took which this attempt has made itself."""

    @property
    def held(self) -> str | None:
        """Why the conversation was left between two calls, to go on later; None: it was not."""

    async def ask(self, call: DialogueCall, send: Send) -> Output | Failure:
        """Return the reply to a call: the one that is known, or the one that comes when it is sent.

        A reply is on the disk, and counted, when it is returned.

        Raises:
            HeldError: no call may leave now; see `held`.
        """


class HeldError(Exception):
    """A conversation is left between two calls: the run pauses, or a cap has no room."""


class UnrecordedCalls:
    """Makes each call: there is no engine."""

    counted = False
    call_s = 0.0
    held = None

    async def ask(self, call: DialogueCall, send: Send) -> Output | Failure:
        """Make the call."""
        return await send()
