"""Chat messages as the responses API takes them: calls of tools and their results are items."""

from collections.abc import Iterator, Sequence

from tui_eval.model.json import Json, JsonObject


def responses_input(messages: Sequence[JsonObject]) -> list[Json]:
    """Return the items of a conversation.

    A message whose content is a text stays as it is.
    """
    return [item for message in messages for item in _items(message)]


def _items(message: JsonObject) -> Iterator[JsonObject]:
    role, content = message["role"], message.get("content")
    if role == "tool":
        result: JsonObject = {"type": "function_call_output", "output": _result(content)}
        yield {**result, "call_id": message["tool_call_id"]}
        return
    calls = message.get("tool_calls")
    if content is not None and (content != "" or not calls):
        yield {"role": role, "content": _content(role, content)}
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and isinstance(function := call.get("function"), dict):
            said = {name: function.get(name) for name in ("name", "arguments")}
            yield {"type": "function_call", "call_id": call.get("id"), **said}


def _content(role: Json, content: Json) -> Json:
    if not isinstance(content, list):
        return content
    return [_part(role, part) if isinstance(part, dict) else part for part in content]


def _part(role: Json, part: JsonObject) -> JsonObject:
    match part.get("type"):
        case "text":
            return {**part, "type": "output_text" if role == "assistant" else "input_text"}
        case "image_url":
            image = part.get("image_url")
            about = image if isinstance(image, dict) else {"url": image}
            detail = {"detail": about["detail"]} if "detail" in about else {}
            return {"type": "input_image", "image_url": about.get("url"), **detail}
        case "file" if isinstance(held := part.get("file"), dict):
            return {"type": "input_file", **held}
    return part


def _result(content: Json) -> Json:
    return _content("user", content) if isinstance(content, list) else content or ""
