"""Requests and answers of the chat API in the form of Anthropic's Messages API, and back.

Single calls reach Anthropic by its layer for OpenAI's protocol; its batches know the Messages API
alone. What that layer does is done here, as "OpenAI SDK compatibility" of Anthropic's documentation
tells it: system messages go before all others, temperatures end at 1, and what it leaves unread is
left out. Names of fields: "Messages" of its API reference.
"""

import json
import re
from typing import Final
from urllib.parse import unquote_to_bytes

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import canonical
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.providers.answers import error_inside, finished_output, tokens_counted

_LEFT_OUT: Final = frozenset(
    {
        "audio",
        "frequency_penalty",
        "logit_bias",
        "logprobs",
        "metadata",
        "modalities",
        "n",
        "prediction",
        "presence_penalty",
        "reasoning_effort",
        "response_format",
        "seed",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "top_logprobs",
        "user",
    }
)
"""Parameters that the layer takes and does not read."""
_TURNED: Final = frozenset(
    {
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "parallel_tool_calls",
        "stop",
        "temperature",
        "tool_choice",
        "tools",
    }
)
"""Fields that stand in another form, or under another name."""
_CHOICES: Final = {"auto": "auto", "required": "any", "none": "none"}
_DATA_URL: Final = re.compile(
    r"data:([a-z0-9.+-]+/[a-z0-9.+-]+)(?:;[a-z0-9=._-]+)*?(;base64)?,", re.I
)


class _CannotBeSaidError(Exception):
    """The Messages API has no form for something; the message says for what."""


def messages_params(body: JsonObject) -> JsonObject | Failure:
    """Return the body of a chat call as parameters of a message; or what cannot be said so."""
    try:
        return _params(body)
    except _CannotBeSaidError as error:
        return Failure("bad_request", f"Anthropic's batches cannot be asked this: {error}")


def _params(body: JsonObject) -> JsonObject:
    most = body.get("max_completion_tokens", body.get("max_tokens"))
    if most is None:
        raise _CannotBeSaidError("they need a limit: set `max_tokens` in the target's `params`")
    given = body.get("messages")
    if not isinstance(given, list):
        raise _CannotBeSaidError("it has no messages")
    said: JsonObject = {
        name: value for name, value in body.items() if name not in _LEFT_OUT | _TURNED
    }
    said["max_tokens"] = most
    said["messages"] = _conversation(given)
    system = [_text(one) for one in given if _role(one) in ("system", "developer")]
    if system:
        said["system"] = "\n".join(system)
    temperature = body.get("temperature")
    if isinstance(temperature, int | float):
        said["temperature"] = min(temperature, 1)
    stop = body.get("stop")
    stops = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    if stops := [one for one in stops if isinstance(one, str) and one.strip()]:
        said["stop_sequences"] = [*stops]
    return {**said, **_tools(body)}


def _conversation(given: list[Json]) -> list[Json]:
    turns: list[Json] = []
    results: list[Json] = []
    for one in given:
        role = _role(one)
        assert isinstance(one, dict), "it has a role"
        if role == "tool":
            # those of one turn belong into one message
            results.append(_tool_result(one))
            if len(results) == 1:
                turns.append({"role": "user", "content": results})
            continue
        results = []
        if role == "user":
            turns.append({"role": "user", "content": _content(one.get("content"))})
        elif role == "assistant":
            turns.append({"role": "assistant", "content": _assistant(one)})
    return turns


def _role(message: Json) -> str:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ("system", "developer", "user", "assistant", "tool"):
        raise _CannotBeSaidError(f"a message with the role {role!r}")
    return str(role)


def _text(message: Json) -> str:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(one.get("text", "")) for one in parts if isinstance(one, dict))


def _content(content: Json) -> Json:
    """Return what a message holds: a text as it is, parts in their form."""
    return [_part(one) for one in content] if isinstance(content, list) else content


def _part(part: Json) -> Json:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(part, dict) or not isinstance(kind, str):
        raise _CannotBeSaidError("a part of a message that has no type")
    if kind == "image_url":
        image = part.get("image_url")
        url = image.get("url") if isinstance(image, dict) else image
        return {"type": "image", "source": _source(url)}
    if kind == "file":
        file = part.get("file")
        if not isinstance(file, dict) or not isinstance(file.get("file_data"), str):
            raise _CannotBeSaidError("a file that is not in the message itself")
        source = _source(file["file_data"])
        name = file.get("filename")
        return {"type": "document", "source": source, **({"title": name} if name else {})}
    if kind in ("input_audio", "video_url"):
        raise _CannotBeSaidError(f"a part of the type {kind!r}")
    return part  # a text; or what is Anthropic's own already


def _source(url: Json) -> JsonObject:
    """Return where a picture or a file comes from."""
    if not isinstance(url, str):
        raise _CannotBeSaidError("a picture without an address")
    found = _DATA_URL.match(url)
    if found is None:
        return {"type": "url", "url": url}
    media_type, data = found[1].lower(), url[found.end() :]
    if not found[2]:
        text = unquote_to_bytes(data).decode("utf-8", "replace")
        return {"type": "text", "media_type": "text/plain", "data": text}
    return {"type": "base64", "media_type": media_type, "data": data}


def _assistant(message: JsonObject) -> Json:
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        return _content(message.get("content"))
    content = message.get("content")
    parts: list[Json] = []
    if isinstance(content, list):
        parts = [_part(one) for one in content]
    elif content:
        parts = [{"type": "text", "text": content}]
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(call, dict) or not isinstance(function, dict):
            raise _CannotBeSaidError("a tool call that names no function")
        parts.append(
            {
                "type": "tool_use",
                "id": call.get("id"),
                "name": function.get("name"),
                "input": _arguments(function.get("arguments")),
            }
        )
    return parts


def _arguments(text: Json) -> JsonObject:
    try:
        found = json.loads(text) if isinstance(text, str) and text.strip() else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _CannotBeSaidError("a tool call whose arguments are no JSON object")
    return found


def _tool_result(message: JsonObject) -> JsonObject:
    return {
        "type": "tool_result",
        "tool_use_id": message.get("tool_call_id"),
        "content": _content(message.get("content")),
    }


def _tools(body: JsonObject) -> JsonObject:
    tools = body.get("tools")
    if not isinstance(tools, list) or not tools:
        return {}
    said: JsonObject = {"tools": [_tool(one) for one in tools]}
    choice = _choice(body.get("tool_choice"))
    if body.get("parallel_tool_calls") is False and choice != {"type": "none"}:
        choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": True}
    if choice is not None:
        said["tool_choice"] = choice
    return said


def _tool(tool: Json) -> Json:
    function = tool.get("function") if isinstance(tool, dict) else None
    if not isinstance(function, dict):
        return tool  # Anthropic's own, such as a search
    about = {"description": function["description"]} if function.get("description") else {}
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    return {"name": function.get("name"), **about, "input_schema": schema}


def _choice(choice: Json) -> JsonObject | None:
    if choice is None:
        return None
    if isinstance(choice, str) and choice in _CHOICES:
        return {"type": _CHOICES[choice]}
    function = choice.get("function") if isinstance(choice, dict) else None
    if isinstance(function, dict):
        return {"type": "tool", "name": function.get("name")}
    if isinstance(choice, dict):
        return choice
    raise _CannotBeSaidError(f"the tool choice {choice!r}")


def message_output(message: Json) -> Output | Failure:
    """Read an answer of the Messages API as one of the chat API is read."""
    if not isinstance(message, dict):
        return Failure("bad_answer", "the answer is no JSON object", retryable=True)
    if message.get("error"):
        return error_inside(message["error"])
    blocks = message.get("content")
    if not isinstance(blocks, list):
        return Failure("bad_answer", "the answer has no content", retryable=True)
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    for block in blocks:
        if not isinstance(block, dict):
            continue
        text, thought = block.get("text"), block.get("thinking")
        if block.get("type") == "text" and isinstance(text, str):
            texts.append(text)
        elif block.get("type") == "thinking" and isinstance(thought, str):
            thoughts.append(thought)
        elif block.get("type") == "tool_use":
            calls.append(_call(block))
    reason, model = message.get("stop_reason"), message.get("model")
    return finished_output(
        "".join(texts) if texts else None,
        "\n".join(thoughts) or None,
        calls,
        canonical(reason) if isinstance(reason, str) and reason else None,
        model if isinstance(model, str) else None,
        _usage(message.get("usage")),
    )


def _call(block: JsonObject) -> JsonObject:
    function: JsonObject = {
        "name": block.get("name"),
        "arguments": json.dumps(block.get("input"), ensure_ascii=False),
    }
    return {"id": block.get("id"), "type": "function", "function": function}


def _usage(usage: Json) -> Usage:
    """Return the tokens of an answer: what its cache took and gave is counted apart there."""
    if not isinstance(usage, dict):
        return Usage()
    given = tokens_counted(usage.get("input_tokens"))
    written = tokens_counted(usage.get("cache_creation_input_tokens")) or 0
    cached = tokens_counted(usage.get("cache_read_input_tokens"))
    return Usage(
        input=None if given is None else given + written + (cached or 0),
        output=tokens_counted(usage.get("output_tokens")),
        cached=cached,
    )
