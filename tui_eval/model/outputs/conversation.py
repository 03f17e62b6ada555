"""Chat messages as they are sent, recorded and read: the one form all of them have here.

A message has a `role` and a `content`, a text or a list of parts. A reply may have `tool_calls`
in place of a content; a message of role `tool` gives the result of one, by its `tool_call_id`.
Parts that name a file, `{type = "image", path = …}`, stay names wherever a message is kept or
shown: its bytes are read where a request leaves.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Final, TypeGuard

from tui_eval.model.json import Json, JsonObject

ROLES: Final = ("system", "developer", "user", "assistant", "tool")
"""Who may speak."""
INSTRUCTING: Final = ("system", "developer")
"""Who tells the model how to answer."""
OF_FILES: Final = ("image", "file")
"""The types of parts that may name a file by its `path`."""

_KEPT: Final = ("role", "content", "name", "tool_calls", "tool_call_id")
"""What is taken of a recorded message; what else a log says of it is nothing to send."""


def text_of(content: Json) -> str:
    """Return a content as text; each part that is none is a mark such as `[image img/a.png]`."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: Json) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return json.dumps(part, ensure_ascii=False)
    text = part.get("text")
    if isinstance(text, str):
        return text
    kind = str(part.get("type", "part")).removeprefix("input_").removesuffix("_url")
    where = part.get("path") or part.get("filename") or _address(part.get("image_url"))
    return f"[{kind} {where}]" if isinstance(where, str) and where else f"[{kind}]"


def _address(image: Json) -> str | None:
    """Return where an image is fetched from; None: it is in the message itself."""
    url = image.get("url") if isinstance(image, dict) else image
    return url if isinstance(url, str) and not url.startswith("data:") else None


def read_by_people(message: JsonObject) -> JsonObject:
    """Return a message whose content is a text: what it has beside texts is a mark."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return message
    return {**message, "content": text_of(content)}


def last_user_text(messages: Iterable[JsonObject]) -> str | None:
    """Return the last that the user says; None: nothing."""
    for message in reversed([*messages]):
        if message.get("role") == "user":
            return text_of(message.get("content"))
    return None


def names_file(part: Json) -> TypeGuard[JsonObject]:
    """Say whether a part of a message names a file."""
    return isinstance(part, dict) and part.get("type") in OF_FILES and "path" in part


def files_in(
    value: Json, at: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the paths of files that messages name, each with its place."""
    if names_file(value):
        if isinstance(path := value["path"], str) and path:
            yield (*at, "path"), path
    elif isinstance(value, dict | list):
        steps = value.items() if isinstance(value, dict) else enumerate(value)
        for step, inner in steps:
            yield from files_in(inner, (*at, step))


def read_messages(given: Json) -> list[JsonObject]:
    """Return a recorded conversation in the form messages have here.

    JSON in a text, as a cell of a table has it, is read, and so is an object that holds
    `messages`. Arguments of calls become texts.

    Raises:
        ValueError: it is none; the message names the place.
    """
    given = from_text(given)
    if isinstance(given, dict) and "messages" in given:
        given = given["messages"]
    if not isinstance(given, list):
        raise ValueError(f"must be a list of messages, not {_what(given)}")  # noqa: TRY004 - data
    called: set[str] = set()
    found = []
    for number, one in enumerate(given, 1):
        trouble = _trouble(one, called)
        if trouble is not None:
            raise ValueError(f"message {number}: {trouble}")
        assert isinstance(one, dict), "anything else is a trouble"
        found.append(_plain(one))
    return found


def from_text(given: Json) -> Json:
    """Return what a list or an object that is written as a text says, as cells of a table are."""
    if not isinstance(given, str) or not given.lstrip().startswith(("[", "{")):
        return given
    try:
        read: Json = json.loads(given)
    except (ValueError, RecursionError):
        return given
    return read


def _plain(message: JsonObject) -> JsonObject:
    kept = {name: message[name] for name in _KEPT if message.get(name) is not None}
    if "content" not in kept:
        kept["content"] = None
    calls = kept.get("tool_calls")
    if isinstance(calls, list):
        kept["tool_calls"] = [_call(one) for one in calls if isinstance(one, dict)]
    return kept


def _call(call: JsonObject) -> JsonObject:
    function = call["function"]
    assert isinstance(function, dict), "anything else is a trouble"
    arguments = function.get("arguments", "")
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    return {**call, "type": "function", "function": {**function, "arguments": arguments}}


def _trouble(message: Json, called: set[str]) -> str | None:
    """Return what is wrong with a message; None: nothing. Its calls are added to `called`."""
    if not isinstance(message, dict):
        return f"must be an object with role and content, not {_what(message)}"
    role = message.get("role")
    if role not in ROLES:
        return f"role must be one of {', '.join(ROLES)}, not {_what(role)}"
    calls = message.get("tool_calls")
    if calls:
        if role != "assistant":
            return f"only the assistant calls tools, not {role}"
        trouble = calls_trouble(calls)
        if trouble is not None:
            return trouble
        assert isinstance(calls, list), "anything else is a trouble"
        called |= {str(one.get("id")) for one in calls if isinstance(one, dict)}
    if role == "tool":
        answered = message.get("tool_call_id")
        if not isinstance(answered, str) or not answered:
            return "has no tool_call_id: which call is it the result of?"
        if answered not in called:
            return f'tool_call_id "{answered}" is no call before it'
    content = message.get("content")
    if content is None:
        return None if calls else "has no content"
    return content_trouble(content)


def calls_trouble(calls: Json) -> str | None:
    """Return what is wrong with the `tool_calls` of a message; None: nothing."""
    if not isinstance(calls, list):
        return f"tool_calls must be a list, not {_what(calls)}"
    for number, call in enumerate(calls, 1):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return (
                f"call {number} must be "
                '{ id = "…", function = { name = "…", arguments = "…" } }'
            )
        assert isinstance(call, dict), "it has a function"
        if not isinstance(call.get("id"), str):
            return f"call {number} has no id: results name it"
    return None


def content_trouble(content: Json) -> str | None:
    """Return what is wrong with what a message says; None: nothing."""
    if isinstance(content, str):
        return None
    if not isinstance(content, list):
        return f"content must be a text or a list of parts, not {_what(content)}"
    if not content:
        return "content is an empty list"
    for number, part in enumerate(content, 1):
        trouble = _part_trouble(part)
        if trouble is not None:
            return f"part {number} {trouble}"
    return None


def _part_trouble(part: Json) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str) or not kind:
        return 'must be a table with a type: { type = "text", text = "…" }'
    if kind == "text" and not isinstance(part.get("text"), str):
        return 'of type "text" has no text'
    if kind in OF_FILES:
        path = part.get("path")
        if path is None and kind == "file" and isinstance(part.get("file"), dict):
            return None
        if not isinstance(path, str) or not path:
            return f'of type "{kind}" has no path'
    return None


def _what(value: Json) -> str:
    match value:
        case None:
            return "null"
        case str():
            return f'"{value[:40]}"' if value else "an empty text"
        case list():
            return "a list"
        case dict():
            return "an object"
    return json.dumps(value)
