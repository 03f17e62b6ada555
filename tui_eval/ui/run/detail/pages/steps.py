"""Messages of a conversation as paragraphs: one by one, or as steps that are folded to a line."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tui_eval.format import many, seconds
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import text_of
from tui_eval.ui.run.detail.folds import LONG, Folds, folded
from tui_eval.ui.text.json_text import is_json, json_para
from tui_eval.ui.text.prose import Para, TonedSpan, drawn, marked
from tui_eval.ui.theme.glyphs import Glyphs

_INDENT = 2
_DEEPER = 4
BESIDE = 34
"""Cells that a fold's sign, name and length take beside how what it holds begins."""
LEAST = 12
_LINE = 120
"""Characters up to which what a tool gave is not folded."""
_SIGNS = 16
"""Cells that a step's sign, number and seconds take."""
_BRIEF = 200
"""Characters of a text that a step's line is made of."""


@dataclass(frozen=True, slots=True)
class _Step:
    """A reply of the assistant, with what its tools gave."""

    first: int
    """The number of its first fold."""
    messages: tuple[JsonObject, ...]


def step_paras(
    messages: Sequence[JsonObject],
    folds: Folds,
    width: int,
    glyphs: Glyphs,
    *,
    first: int = 0,
    began: Sequence[float] = (),
) -> Iterator[Para]:
    """Yield replies with what their tools gave as steps, each a line that unfolds.

    What comes before the first reply, and what a person said between, is shown as messages are.

    Args:
        messages: The conversation.
        folds: Which of what can be folded is open. A step's own fold is numbered down from -1.
        width: Cells there are.
        glyphs: The shapes.
        first: How many steps came before.
        began: When each step began, in seconds, from the first of all; fewer where nobody saw it.
    """
    room = max(width - BESIDE, LEAST)
    at = first
    for one in _steps(messages):
        if one.messages[0].get("role") != "assistant":
            yield from message_paras(one.messages[0], folds, one.first, room, glyphs)
            continue
        opened = folds.is_open(-1 - at)
        took = _took(began, at)
        yield _step_line(one, at, took, opened, max(width - _SIGNS, LEAST), glyphs)
        if opened:
            inside = one.first
            for message in one.messages:
                for para in message_paras(message, folds, inside, room - _INDENT, glyphs):
                    yield replace(para, indent=para.indent + _INDENT)
                inside += 1 + len(calls_in(message))
        at += 1


def _took(began: Sequence[float], at: int) -> str:
    """Return the seconds up to the next step, where each was seen at a look of its own."""
    before, after = began[max(at - 1, 0) : at], began[at + 1 : at + 2]
    if not after or after[0] == began[at] or (before and before[0] == began[at]):
        return ""
    return seconds(after[0] - began[at])


def _steps(messages: Sequence[JsonObject]) -> Iterator[_Step]:
    number = first = 0
    gathered: list[JsonObject] = []
    for message in messages:
        role = message.get("role")
        if gathered and (role != "tool" or gathered[0].get("role") != "assistant"):
            yield _Step(first, tuple(gathered))
            gathered, first = [], number
        gathered.append(message)
        number += 1 + len(calls_in(message))
    if gathered:
        yield _Step(first, tuple(gathered))


def _step_line(step: _Step, at: int, took: str, opened: bool, room: int, glyphs: Glyphs) -> Para:
    sign = glyphs.opened if opened else glyphs.arrow
    head = f"{sign} {at + 1:>4}  "
    words = drawn(_brief(step.messages[0], glyphs)).replace("\n", " ")
    words = words if len(words) <= room else f"{words[: room - 1]}{glyphs.cut}"
    text = f"{head}{words}{'  ' if took else ''}{took}"
    marks = [TonedSpan(0, len(head), "accent")]
    if took:
        marks.append(TonedSpan(len(text) - len(took), len(text), "dim"))
    return Para(text, marks=tuple(marks), action=f"turn_fold({-1 - at})")


def _brief(message: JsonObject, glyphs: Glyphs) -> str:
    """Return what a reply does in a few words: the tools that it calls, then what it says."""
    words = []
    for call in calls_in(message):
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = str(function.get("arguments") or "")[:_BRIEF]
            words.append(f"{function.get('name')}({arguments})")
    said = (_content(message) or "")[:_BRIEF].strip()
    if said:
        words.append(said)
    return f" {glyphs.dot} ".join(words) or "says nothing"


def counts_in(messages: Sequence[JsonObject]) -> str:
    """Return how many messages, calls of tools and long texts there are; empty: nothing to fold."""
    calls = sum(len(calls_in(message)) for message in messages)
    long = sum(is_long(message) for message in messages)
    if not calls and not long:
        return ""
    parts = [many(len(messages), "message")]
    if calls:
        parts.append(many(calls, "tool call"))
    if long:
        parts.append(f"{long} folded by length")
    return ", ".join(parts)


def calls_in(message: JsonObject) -> Sequence[Json]:
    """Return the calls of tools in a message."""
    calls = message.get("tool_calls")
    return calls if isinstance(calls, list) else ()


def _content(message: JsonObject) -> str | None:
    content = message.get("content")
    return None if content is None else text_of(content)


def is_long(message: JsonObject) -> bool:
    """Say whether what a message says is folded."""
    return len(_content(message) or "") > LONG or _is_result(message)


def _is_result(message: JsonObject) -> bool:
    """Say whether it is what a tool gave, and more than a line."""
    content = _content(message) or ""
    return message.get("role") == "tool" and ("\n" in content or len(content) > _LINE)


def message_paras(
    message: JsonObject, folds: Folds, number: int, room: int, glyphs: Glyphs
) -> Iterator[Para]:
    """Yield a message: who says it, what, and the tools it calls.

    Args:
        message: The message.
        folds: Which of what can be folded is open.
        number: The number of its first fold.
        room: Cells for how what is folded begins.
        glyphs: The shapes.
    """
    role = str(message.get("role", "?"))
    name = message.get("name") or message.get("tool_call_id")
    yield marked((role, "accent"), (f"  {name}" if name else "", "dim"))
    content = _content(message)
    if content is not None:
        inside = _laid_out(content, _INDENT)
        if is_long(message):
            opening = content[:room].strip()
            title = "all of it" if folds.is_open(number) else f"{opening}{glyphs.cut}"
            yield from folded(folds, number, glyphs, title, inside, len(content))
        else:
            yield inside
    for at, call in enumerate(calls_in(message)):
        yield from _call(call, folds, number + 1 + at, room, glyphs)
    yield Para("")


def _call(call: Json, folds: Folds, number: int, room: int, glyphs: Glyphs) -> Iterator[Para]:
    function = call.get("function") if isinstance(call, dict) else None
    whole = json.dumps(call, ensure_ascii=False)
    name, arguments = "", ""
    if isinstance(function, dict):
        name, arguments = str(function.get("name") or ""), str(function.get("arguments") or "")
    inside = _laid_out(arguments if is_json(arguments) else whole, _DEEPER)
    shown = arguments if name else whole
    brief = shown if len(shown) <= room else f"{shown[:room]}{glyphs.cut}"
    title = f"calls {name}({brief})" if name else f"calls {brief}"
    if folds.is_open(number):
        title = f"calls {name or 'a tool'}"
    for para in folded(folds, number, glyphs, title, inside, len(whole)):
        yield replace(para, indent=_INDENT if para.action is not None else para.indent)


def _laid_out(text: str, indent: int) -> Para:
    return json_para(text, indent=indent) if is_json(text) else Para(text, indent=indent)
