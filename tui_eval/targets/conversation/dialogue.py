"""The loop of a conversation: reply, tools, the user's next turn, until one of them ends it."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Final, Protocol, TypeAlias, TypeVar

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.attempt_record import NO_RECORD, AttemptProgress
from tui_eval.model.outputs.finish import Ending
from tui_eval.model.outputs.output import Estimate, Failure, Output, Usage
from tui_eval.model.visible import visible_line
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.conversation.call_log import CallParty, DialogueCall, Send
from tui_eval.targets.conversation.tool_answers import RequestedCall

N = TypeVar("N", int, float)

MOST_REPLIES: Final = "limit:turns"
"""The finish reason where the model had no reply left to give to one turn of the user."""
_USER: Final = "user"
"""The kind of a failure that is the simulated user's."""
_UNANSWERED: Final = "tool_calls"
"""The finish reason where nobody answers a call, and the endpoint gives none."""


class Tools(Protocol):
    """Who answers the calls of tools."""

    def knows(self, name: str) -> bool:
        """Return whether calls of a tool may be answered."""

    async def answer(self, call: RequestedCall) -> str | Failure | None:
        """Return what a tool gives; None: nobody says."""


class NextTurn(Protocol):
    """Who speaks as the user after the turns that are written down."""

    @property
    def max_turns(self) -> int:
        """How often at most."""

    def call(self, said: Sequence[JsonObject]) -> tuple[JsonObject, Send]:
        """Return the request for the next turn, and what makes it."""

    def heard(self, reply: Output) -> tuple[str | None, bool]:
        """Return what is said (None: nothing more), and whether it ends the conversation."""


AskTarget: TypeAlias = Callable[
    [Sequence[JsonObject]], Awaitable[tuple[JsonObject, Send] | Failure]
]
"""Gives the request for a reply to a conversation so far, and what makes it; a failure where it
cannot be rendered."""


@dataclass(frozen=True, slots=True)
class DialogueParts:
    """What a conversation is made of."""

    opening: tuple[JsonObject, ...]
    """The messages of the prompt."""
    begins: int
    """The place of the first that belongs to the conversation: before it are instructions, and
    examples."""
    turns: tuple[Json, ...]
    """What the user says after each reply: texts, or lists of parts."""
    target: AskTarget
    max_replies: int
    """To one turn of the user."""
    tools: Tools | None = None
    user: NextTurn | None = None
    calls_end: bool = True
    """Whether a call that nobody answers ends it; an app tells of those that it has made itself."""


@dataclass(slots=True)
class _Sums:
    """What the replies took together."""

    usages: list[Usage] = field(default_factory=list)
    costs: list[float | None] = field(default_factory=list)
    latencies: list[float | None] = field(default_factory=list)
    estimates: list[tuple[Estimate | None, float | None]] = field(default_factory=list)

    def add(self, reply: Output) -> None:
        self.usages.append(reply.usage)
        self.costs.append(reply.cost_usd)
        self.latencies.append(reply.latency_s)
        self.estimates.append((reply.estimate, reply.cost_usd))

    def put(self, output: Output) -> Output:
        return replace(
            output,
            usage=Usage(
                _sum([one.input for one in self.usages]),
                _sum([one.output for one in self.usages]),
                _known_sum([one.reasoning for one in self.usages]),
                _known_sum([one.cached for one in self.usages]),
            ),
            cost_usd=_sum(self.costs),
            latency_s=_known_sum(self.latencies),
            estimate=self._estimate(),
        )

    def _estimate(self) -> Estimate | None:
        found = [estimate for estimate, _ in self.estimates if estimate is not None]
        if not found:
            return None
        money = _sum([usd if one is None else one.cost_usd for one, usd in self.estimates])
        return Estimate(sum(one.tokens for one in found), money)


class Dialogue:
    """One conversation of one attempt."""

    def __init__(self, parts: DialogueParts, attempt: AttemptContext) -> None:
        self._parts = parts
        self._attempt = attempt
        self._said: list[JsonObject] = []
        """After the prompt."""
        self._new: list[JsonObject] = []
        """Since the last reply."""
        self._sums = _Sums()
        self._replies = 0
        self._tool_calls = 0
        self._last: Output | None = None
        """The last reply."""

    async def outcome(self) -> Output | Failure:
        """Hold it; return its output, or what it failed with."""
        ended = await self._held()
        if isinstance(ended, Failure) and self._last is not None:
            return replace(ended, messages=tuple(self._said), partial=self._last.text)
        return ended

    async def _held(self) -> Output | Failure:
        scripted, spoken = list(self._parts.turns), 0
        waits = _waits_for_reply(self._parts)
        while True:
            if waits:
                ended = await self._replied()
                if isinstance(ended, Failure):
                    return ended
                if ended is not None:
                    return self._output(ended)
            waits = True
            if scripted:
                self._say({"role": "user", "content": scripted.pop(0)})
                continue
            user = self._parts.user
            if user is None or spoken >= user.max_turns:
                return self._output(None)
            spoken += 1
            over = await self._spoken(user)
            if isinstance(over, Failure):
                return over
            if over:
                return self._output(None)

    async def _replied(self) -> Failure | str | None:
        """Let the model reply, and its tools answer, until it says something to the user.

        Returns:
            The finish reason where the conversation ends with that; None: it may go on.
        """
        for _ in range(self._parts.max_replies):
            reply = await self._reply()
            if isinstance(reply, Failure):
                return reply
            if reply.ending is not Ending.FINISHED:
                return reply.finish_reason
            calls = _tool_calls(reply)
            if not calls or not self._parts.calls_end:
                return None
            answers = await self._answers(calls)
            if isinstance(answers, Failure):
                return answers
            if answers is None:
                return reply.finish_reason or _UNANSWERED
            for answer in answers:
                self._say(answer)
        return MOST_REPLIES

    async def _reply(self) -> Output | Failure:
        self._tell("running")
        asked = await self._parts.target([*self._parts.opening, *self._said])
        if isinstance(asked, Failure):
            return asked
        call = DialogueCall(CallParty.TARGET, asked[0], tuple(self._new))
        reply = await self._attempt.calls.ask(call, asked[1])
        if isinstance(reply, Failure):
            return reply
        self._replies += 1
        self._last = reply
        self._sums.add(reply)
        for message in reply.messages or ({"role": "assistant", "content": reply.text},):
            self._say(message)
        self._new = []
        self._attempt.partial = reply.text
        return reply

    async def _answers(self, calls: Sequence[JsonObject]) -> list[JsonObject] | Failure | None:
        """Have all calls of a reply answered; None: nobody says what one of them gives."""
        tools, found = self._parts.tools, list[JsonObject]()
        if tools is None:
            return None
        for written in calls:
            call = RequestedCall.of(written)
            if call is None or not tools.knows(call.name):
                return None
            self._tool_calls += 1
            self._tell("running", call.name)
            answer = call.problem or await tools.answer(call)
            if answer is None or isinstance(answer, Failure):
                return answer
            found.append(call.answered(answer))
        return found

    async def _spoken(self, user: NextTurn) -> Failure | bool:
        """Let the user speak; return whether that ends the conversation."""
        self._tell("user")
        request, send = user.call([*self._parts.opening[self._parts.begins :], *self._said])
        call = DialogueCall(CallParty.USER, request)
        reply = await self._attempt.calls.ask(call, send)
        if isinstance(reply, Failure):
            return reply
        if reply.cut_short or reply.filtered or reply.broken_off:
            how = visible_line(reply.finish_reason or "", 60)
            return Failure(
                _USER,
                f"the simulated user's turn is not whole: it ended with {how}; raise its limit of "
                "tokens where that is why, and retry",
            )
        text, over = user.heard(reply)
        if text is not None:
            self._say({"role": "user", "content": text})
        return over

    def _say(self, message: JsonObject) -> None:
        self._said.append(message)
        self._new.append(message)
        self._attempt.messages = tuple(self._said)

    def _tell(self, phase: str, tool: str | None = None) -> None:
        self._attempt.progress(AttemptProgress(phase, turn=self._replies, tool=tool))

    def _output(self, finish: str | None) -> Output | Failure:
        """Return the output: the whole trajectory, and the last reply as its text.

        Where nobody asked the target, there is nothing of it to grade.

        Args:
            finish: Why it ended; None: as its last reply did.
        """
        if self._last is None:
            return Failure(_USER, "the simulated user ended the conversation before it began")
        record = replace(NO_RECORD, steps=self._replies, tool_calls=self._tool_calls)
        several = len(self._said) > 1
        output = replace(
            self._last,
            messages=tuple(self._said) if several else self._last.messages,
            finish_reason=finish or self._last.finish_reason,
            record=record,
        )
        return self._sums.put(output)


def _waits_for_reply(parts: DialogueParts) -> bool:
    """Return whether the model is to reply first: to what was said last, or as nobody else will."""
    last = parts.opening[-1:]
    asked = any(one.get("role") in ("user", "tool") for one in last)
    return asked or not (parts.turns or parts.user)


def _tool_calls(reply: Output) -> list[JsonObject]:
    found: list[JsonObject] = []
    for message in reply.messages:
        calls = message.get("tool_calls")
        found += [one for one in calls if isinstance(one, dict)] if isinstance(calls, list) else []
    return found


def _sum(values: Sequence[N | None]) -> N | None:
    """Add up; None where one is unknown."""
    known = [value for value in values if value is not None]
    return reduce(add, known) if known and len(known) == len(values) else None


def _known_sum(values: Sequence[N | None]) -> N | None:
    """Add up what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return reduce(add, known) if known else None
