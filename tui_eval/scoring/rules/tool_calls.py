"""The rule of the tools that were called: `tool_calls`."""

from collections.abc import Sequence
from typing import Final

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.rules import pairing
from tui_eval.scoring.rules.arguments import unexpected
from tui_eval.scoring.settings import number, texts
from tui_eval.suites import loop_bounds, patterns
from tui_eval.suites.scorers.tool_calls import bfcl_name
from tui_eval.texts import json_in_text
from tui_eval.texts.wording import one_of, quoted

_COMPARED_AT_ONCE: Final = 200
"""Pairs of an expected call and a call that are compared in some milliseconds, if short."""
_CHARACTERS_AT_ONCE: Final = 100_000
_NAMED: Final = 50
"""Calls whose names are kept with the grade."""
_WHY: Final = 20
"""Calls of which it is said what keeps them from being the expected one."""


@frozen
class ToolCall:
    """A call of a tool, as an output has it."""

    name: str
    arguments: Json
    """As read; a text that is no JSON stays a text."""
    problem: str | None = None
    """Why its arguments cannot be read."""


def calls_of(output: Output, of: str = "text") -> list[ToolCall]:
    """Return the calls of tools of an output, or of one of its turns, in their order."""
    replies = [message for message in output.messages if message.get("role") == "assistant"]
    if of != "text":
        turn = int(of.removeprefix("turn:"))
        replies = replies[turn - 1 : turn]
    lists = (reply.get("tool_calls") for reply in replies)
    calls = (call for one in lists if isinstance(one, list) for call in one)
    return [_call(call) for call in calls if isinstance(call, dict)]


def _call(call: JsonObject) -> ToolCall:
    function = call.get("function")
    told = function if isinstance(function, dict) else call
    name, arguments = str(told.get("name") or ""), told.get("arguments")
    if not isinstance(arguments, str):
        return ToolCall(name, {} if arguments is None else arguments)
    if not arguments.strip():
        return ToolCall(name, {})
    try:
        return ToolCall(name, json_in_text.parse(arguments))
    except ValueError as error:
        return ToolCall(name, arguments, str(error))


def tool_calls(settings: JsonObject, output: Output) -> Grade:
    """Pass where the expected tools were called, and no other where none is allowed.

    The value is the share of what fits: of the pairs, the expected calls that are missing and the
    calls that should not be there, the pairs. It is 0 where a forbidden tool was called or there
    were too many calls.
    """
    loop_bounds.allow(_characters(output), _CHARACTERS_AT_ONCE)
    calls = calls_of(output, str(settings["of"]))
    called: Json = [call.name for call in calls[:_NAMED]]
    broken = _broken(settings, calls)
    if broken is not None:
        return Grade.of(False, broken, called)
    if "calls" not in settings:
        return Grade.of(True, f"{_count(len(calls))}, none of them forbidden", called)
    try:
        found = _Comparison(settings, calls).found()
    except patterns.TooSlowError as error:
        return Grade.ungraded(str(error), called)
    threshold = number(settings["threshold"])
    passed = found.value >= (1.0 if threshold is None else threshold)
    return Grade(Verdict.PASS if passed else Verdict.FAIL, found.value, found.reason, called)


def _characters(output: Output) -> int:
    return sum(len(str(message.get("tool_calls") or "")) for message in output.messages)


def _count(calls: int) -> str:
    return "1 call" if calls == 1 else f"{calls} calls"


def _broken(settings: JsonObject, calls: Sequence[ToolCall]) -> str | None:
    """Say which of the rules is broken that hold whatever is expected."""
    if "forbidden" in settings:
        forbidden = texts(settings["forbidden"])
        for call in calls:
            if call.name in forbidden:
                return f"{quoted(call.name)} was called, which is forbidden"
    most = number(settings.get("max_calls"))
    if most is not None and len(calls) > most:
        return f"{_count(len(calls))}, at most {most} allowed"
    return None


@frozen
class _Found:
    value: float
    reason: str


class _Comparison:
    """Expected calls beside calls, each pair of them compared once at most."""

    def __init__(self, settings: JsonObject, calls: Sequence[ToolCall]) -> None:
        expected = settings["calls"]
        assert isinstance(expected, list)
        self._expected = [one for one in expected if isinstance(one, dict)]
        self._calls = calls
        self._optional = {at for at, one in enumerate(self._expected) if one["optional"]}
        self._others = settings["match"] == "superset"
        self._fewer = settings["match"] == "subset"
        self._order = settings["order"]
        self._more = settings["arguments"] == "subset"
        self._read_name = bfcl_name if settings["form"] == "bfcl" else str
        self._known: dict[tuple[int, int], str | None] = {}
        loop_bounds.allow(len(self._expected) * len(calls), _COMPARED_AT_ONCE)

    def found(self) -> _Found:
        sizes = (len(self._expected), self._optional, len(self._calls), self._fits)
        strictly = self._order == "strict" and (self._others or self._fewer)
        if strictly and pairing.side_by_side(*sizes, others_around=self._others):
            return self._all_fits()
        pair = pairing.in_any_order if self._order == "any" else pairing.in_order
        pairs = pair(*sizes)
        missing = [] if self._fewer else [one for one in self._required if one not in pairs]
        paired = set(pairs.values())
        extra = [] if self._others else [at for at in range(len(self._calls)) if at not in paired]
        between = _between(pairs, self._others) if strictly else 0
        apart = len(missing) + len(extra) + between
        if not apart:
            return self._all_fits()
        return _Found(len(pairs) / (len(pairs) + apart), self._reason(missing, extra, between))

    @property
    def _required(self) -> list[int]:
        return [one for one in range(len(self._expected)) if one not in self._optional]

    def _fits(self, one: int, call: int) -> bool:
        return self._differs(one, call) is None

    def _differs(self, one: int, call: int) -> str | None:
        """Say what keeps a call from being an expected one."""
        pair = (one, call)
        if pair not in self._known:
            self._known[pair] = self._compared(self._expected[one], self._calls[call])
        return self._known[pair]

    def _compared(self, expected: JsonObject, call: ToolCall) -> str | None:
        if self._read_name(call.name) != expected["name"]:
            return "another name"
        arguments = expected["arguments"]
        if not isinstance(arguments, dict):
            return None
        if call.problem is not None:
            return f"its arguments are no JSON: {call.problem}"
        return unexpected(arguments, call.arguments, "", more=self._more)

    def _all_fits(self) -> _Found:
        if not self._calls:
            return _Found(1.0, "no tool was called, as expected")
        return _Found(1.0, f"{_count(len(self._calls))}, as expected")

    def _reason(self, missing: Sequence[int], extra: Sequence[int], between: int) -> str:
        if missing:
            why = self._why(missing[0])
            left_out = [str(self._expected[one]["name"]) for one in missing]
            if len(missing) == 1 or why:
                return f"{quoted(left_out[0])} was not called as expected{why}"
            return f"not called as expected: {one_of(left_out, 'and')}"
        if extra:
            return f"not expected: {one_of([self._calls[at].name for at in extra], 'and')}"
        others = "others were called" if self._others else "expected ones were left out"
        return f"{others} between the expected calls: {between}"

    def _why(self, one: int) -> str:
        """Say what a call of the same name has that keeps it from being the expected one."""
        name = self._expected[one]["name"]
        alike = [at for at, call in enumerate(self._calls) if self._read_name(call.name) == name]
        for at in alike[:_WHY]:
            differs = self._differs(one, at)
            if differs is not None:
                return f": {differs}"
        if alike:
            return ": its calls stand in another order, or for others"
        called = [call.name for call in self._calls]
        return f": called {one_of(called, 'and')}" if called else ": no tool was called"


def _between(pairs: dict[int, int], others: bool) -> int:
    """Return how many stand unpaired between the first and the last that are paired."""
    paired = sorted(pairs.values() if others else pairs)
    return paired[-1] - paired[0] + 1 - len(paired) if paired else 0
