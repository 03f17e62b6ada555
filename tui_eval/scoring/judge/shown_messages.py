"""The messages that a judge sees of a conversation: texts and calls, each and all bounded."""

import json
from collections.abc import Sequence
from typing import Final

from tui_eval.format import many
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import text_of
from tui_eval.model.outputs.output import Output

LONGEST: Final = 20_000
"""Characters of one text: what a message says, or the arguments of a call."""
MOST: Final = 200_000
"""Characters of all messages together."""


def of_output(of: str, output: Output) -> tuple[JsonObject, ...]:
    """Return the messages that a part of an output is to be seen with; none: it says all.

    The whole conversation where the whole output is graded, and for `turn:N` what led up to the
    reply. Any other part is graded by itself.
    """
    if of == "text":
        return output.messages
    head, _, number = of.partition(":")
    if head != "turn":
        return ()
    replies = [n for n, one in enumerate(output.messages) if one.get("role") == "assistant"]
    last = int(number)
    return output.messages[: replies[last - 1]] if last <= len(replies) else ()


def bounded(messages: Sequence[JsonObject]) -> list[Json]:
    """Return messages as a judge sees them: of long texts both ends, of very many too."""
    shown = [_short(message) for message in messages]
    sizes = [len(json.dumps(one, ensure_ascii=False)) for one in shown]
    if sum(sizes) <= MOST:
        return [*shown]
    begin = _within(sizes)
    end = len(shown) - _within([*reversed(sizes)])
    note: JsonObject = {"left_out": f"{many(end - begin, 'message')} in between"}
    return [*shown[:begin], note, *shown[end:]]


def _within(sizes: Sequence[int]) -> int:
    """Return how many take half of the room, from the first on."""
    left = MOST // 2
    for number, size in enumerate(sizes):
        left -= size
        if left < 0:
            return number
    return len(sizes)


def _short(message: JsonObject) -> JsonObject:
    shown = {**message}
    if message.get("content") is not None:
        shown["content"] = _ends(text_of(message["content"]))
    calls = message.get("tool_calls")
    if isinstance(calls, list):
        shown["tool_calls"] = [_short_call(call) for call in calls]
    return shown


def _short_call(call: Json) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(call, dict) or not isinstance(function, dict):
        return call
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        return call
    return {**call, "function": {**function, "arguments": _ends(arguments)}}


def _ends(text: str) -> str:
    left_out = len(text) - LONGEST
    if left_out <= 0:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n[… {left_out:,} characters left out …]\n{text[-half:]}"
