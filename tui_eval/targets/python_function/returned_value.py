"""What a function returned, as an output."""

import json
from typing import Final, TypeVar

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import Ending, canonical, ending
from tui_eval.model.outputs.output import Output, Usage

T = TypeVar("T")

FIELDS: Final = (
    "text",
    "output",
    "reasoning",
    "messages",
    "tool_calls",
    "usage",
    "cost_usd",
    "fields",
    "finish_reason",
    "model",
)
"""What a function that returns a table may say."""
_USAGE: Final = {
    "input": "input",
    "output": "output",
    "reasoning": "reasoning",
    "cached": "cached",
    "input_tokens": "input",
    "output_tokens": "output",
    "prompt_tokens": "input",
    "completion_tokens": "output",
}
"""Names of token counts, ours and those of usual clients."""


_MOST: Final = 10**12
"""Of tokens, and of US dollars: beyond is a mistake."""


class UnsuitableValueError(Exception):
    """A function returned what is no output; the message says what, and what would be one."""


def output_of(returned: Json) -> Output | None:
    """Return what a function returned as an output; None: it is empty.

    Raises:
        UnsuitableValueError: it is none.
    """
    if isinstance(returned, str):
        return Output(returned, finish_reason="stop") if returned.strip() else None
    if not isinstance(returned, dict):
        raise UnsuitableValueError(
            f"it returned {_kind(returned)}: return a text, or a table with {', '.join(FIELDS)}"
        )
    unknown = [name for name in returned if name not in FIELDS]
    if unknown:
        names = ", ".join(repr(name[:40]) for name in unknown[:5])
        raise UnsuitableValueError(
            f"it returned a table with {names}: what a table may hold is {', '.join(FIELDS)}; "
            "anything else goes into fields"
        )
    if "text" in returned and "output" in returned:
        raise UnsuitableValueError("it returned text and output, which is the same: leave one out")
    return _of_table(returned)


def _of_table(table: JsonObject) -> Output | None:
    text = _given(table, "text", str, "a text") if "text" in table else None
    text = _given(table, "output", str, "a text") if "output" in table else text
    messages = _messages(table)
    if text is None:
        text = _last_text(messages)
    messages = messages or _calling(table, text)
    calls = bool(messages and messages[-1].get("tool_calls"))
    finish = _given(table, "finish_reason", str, "a text")
    finish = ("tool_calls" if calls else "stop") if finish is None else canonical(finish)
    fields = _given(table, "fields", dict, "a table")
    if not (text and text.strip()) and not messages and ending(finish) is Ending.FINISHED:
        return None
    return Output(
        text=text,
        reasoning=_given(table, "reasoning", str, "a text"),
        messages=messages,
        fields=fields or {},
        finish_reason=finish,
        model=_given(table, "model", str, "a text"),
        usage=_usage(table),
        cost_usd=_amount(table.get("cost_usd"), "cost_usd"),
    )


def _messages(table: JsonObject) -> tuple[JsonObject, ...]:
    given = _given(table, "messages", list, "a list of messages") or []
    found: list[JsonObject] = []
    for index, message in enumerate(given):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise UnsuitableValueError(
                f"messages[{index}] is {_kind(message)}: a message has role and content"
            )
        found.append(message)
    return tuple(found)


def _calling(table: JsonObject, text: str | None) -> tuple[JsonObject, ...]:
    """Return the one message of an assistant that calls tools, where messages are not told."""
    given = _given(table, "tool_calls", list, "a list of calls") or []
    calls: list[Json] = []
    for index, call in enumerate(given):
        function = call.get("function", call) if isinstance(call, dict) else None
        name = function.get("name") if isinstance(function, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict) or not name:
            raise UnsuitableValueError(
                f"tool_calls[{index}] has no name: a call is a table with name and arguments"
            )
        arguments = function.get("arguments", {})
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        called: JsonObject = {"name": name, "arguments": written}
        calls.append(
            {"id": call.get("id") or f"call_{index}", "type": "function", "function": called}
        )
    return ({"role": "assistant", "content": text, "tool_calls": calls},) if calls else ()


def _last_text(messages: tuple[JsonObject, ...]) -> str | None:
    """Return what an assistant says last."""
    for message in reversed(messages):
        content = message.get("content")
        if message["role"] == "assistant" and isinstance(content, str):
            return content
    return None


def _usage(table: JsonObject) -> Usage:
    given = _given(table, "usage", dict, "a table of token counts") or {}
    counted: dict[str, int] = {}
    for name, count in given.items():
        own = _USAGE.get(name)
        if own is None or count is None:
            continue  # totals and details of usual clients
        whole = isinstance(count, int) and not isinstance(count, bool)
        if not whole or not 0 <= count <= _MOST:
            raise UnsuitableValueError(f"usage.{name} is {_kind(count)}: it is a number of tokens")
        counted[own] = int(count)
    return Usage(**counted)


def _amount(value: Json, name: str) -> float | None:
    if value is None:
        return None
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= _MOST:  # type: ignore[operator]
        raise UnsuitableValueError(f"{name} is {_kind(value)}: it is a number of at least 0")
    return float(value)  # type: ignore[arg-type]


def _given(table: JsonObject, name: str, kind: type[T], what: str) -> T | None:
    value = table.get(name)
    if value is not None and not isinstance(value, kind):
        raise UnsuitableValueError(f"{name} is {_kind(value)}: it is {what}")
    return value


def _kind(value: Json) -> str:
    match value:
        case None:
            return "None"
        case bool() | int() | float():
            return f"the number {value}" if not isinstance(value, bool) else str(value)
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "a table"
