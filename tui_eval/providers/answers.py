"""What an endpoint's answer holds: the JSON of the chat and responses APIs → `Output`."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import Ending, canonical, ending
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.visible import visible_line
from tui_eval.providers.logprobs import first_logprobs

_OPEN, _CLOSE = "<think>", "</think>"
_SPACE = re.compile(r"\s*")
_MOST_TOKENS = 10**9
"""More than any call takes; the sums of all calls fit where they are kept."""


def chat_output(answer: Json) -> Output | Failure:
    """Read an answer of `/chat/completions`; its latency and cost are for the caller to add."""
    if not isinstance(answer, dict):
        return _bad("the answer is no JSON object")
    if answer.get("error"):
        return error_inside(answer["error"])
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        return _bad("the answer has no choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return _bad("the answer's choice has no message")
    if choice.get("error"):
        return error_inside(choice["error"])
    content = message.get("content")
    if content is not None and not isinstance(content, str | list):
        return _bad("the answer's content is no text")
    text, thought = _content(content)
    if text is None:
        text = _str(message.get("refusal"))
    reasoning = _str(message.get("reasoning_content")) or _str(message.get("reasoning")) or thought
    calls = _list(message.get("tool_calls"))
    if not calls and isinstance(message.get("function_call"), dict):
        calls = [{"type": "function", "function": message["function_call"]}]
    given = choice.get("logprobs")
    return with_logprobs(
        finished_output(
            text,
            reasoning,
            calls,
            _finish(choice.get("finish_reason")),
            _str(answer.get("model")),
            _chat_usage(answer.get("usage")),
        ),
        given.get("content") if isinstance(given, dict) else None,
    )


def with_logprobs(got: Output | Failure, tokens: Json) -> Output | Failure:
    """Return an output with the log-probabilities of its first tokens among its fields."""
    found = first_logprobs(tokens)
    if isinstance(got, Failure) or not found:
        return got
    return replace(got, fields={**got.fields, "logprobs": found})


def responses_output(answer: Json) -> Output | Failure:
    """Read an answer of `/responses`; its latency and cost are for the caller to add."""
    if not isinstance(answer, dict):
        return _bad("the answer is no JSON object")
    if answer.get("error"):
        return error_inside(answer["error"])
    status = _finish(answer.get("status"))
    if ending(status) is Ending.BROKEN_OFF:
        return _bad(f"the answer's status is {visible_line(str(status), 60)!r}")
    items = answer.get("output")
    if not isinstance(items, list):
        return _bad("the answer has no output")
    texts: list[str] = []
    thoughts: list[str] = []
    calls: list[Json] = []
    tokens: Json = None
    for item in items:
        if not isinstance(item, dict):
            continue
        if item.get("type") == "message":
            tokens = tokens or _logprobs_of_part(item.get("content"))
            texts.extend(_texts(item.get("content"), ("text", "refusal")))
        elif item.get("type") == "reasoning":
            thoughts.extend(_texts(item.get("content"), ("text",)))
            thoughts.extend(_texts(item.get("summary"), ("text",)))
        elif item.get("type") == "function_call":
            function: JsonObject = {"name": item.get("name"), "arguments": item.get("arguments")}
            calls.append({"id": item.get("call_id"), "type": "function", "function": function})
    incomplete = answer.get("incomplete_details")
    reason = incomplete.get("reason") if isinstance(incomplete, dict) else None
    finish = _finish(reason) or (status if ending(status) is Ending.UNKNOWN else None)
    return with_logprobs(
        finished_output(
            "".join(texts) if texts else None,
            "\n".join(thoughts) or None,
            calls,
            finish or ("tool_calls" if calls else "stop"),
            _str(answer.get("model")),
            _responses_usage(answer.get("usage")),
        ),
        tokens,
    )


def _logprobs_of_part(content: Json) -> Json:
    """Return the log-probabilities that come with the first part of a message."""
    first = next(iter(_list(content)), None)
    return first.get("logprobs") if isinstance(first, dict) else None


def finished_output(
    text: str | None,
    reasoning: str | None,
    calls: list[Json],
    finish: str | None,
    model: str | None,
    usage: Usage,
) -> Output | Failure:
    """Return the output of an answer, its thinking taken out of the text; or say why it is none.

    Args:
        text: What was said; None: nothing.
        reasoning: What was thought, apart from the text.
        calls: The tool calls, in the form of the chat API.
        finish: Why it ended, in the protocol's words.
        model: The model's name as the endpoint returned it.
        usage: What it took.
    """
    said = text
    if text is not None:
        text, thought, closed = split_thinking(text)
        reasoning = "\n".join(part for part in (reasoning, thought) if part) or None
        if not closed and ending(finish) is Ending.FINISHED:
            finish = "length"
    how = ending(finish)
    if how is Ending.BROKEN_OFF:
        why = f"the endpoint broke the answer off: finish reason {visible_line(str(finish), 60)!r}"
        return Failure("bad_answer", why, retryable=True, partial=said or reasoning, usage=usage)
    empty = text is None or not text.strip()
    if empty and not calls and how is Ending.FINISHED:
        return Failure("empty_output", "empty output", partial=reasoning, usage=usage)
    messages: tuple[JsonObject, ...] = ()
    if calls:
        messages = ({"role": "assistant", "content": text, "tool_calls": calls},)
    return Output(
        text=text,
        reasoning=reasoning,
        messages=messages,
        finish_reason=finish,
        model=model,
        usage=usage,
    )


def split_thinking(text: str) -> tuple[str | None, str | None, bool]:
    """Split `<think>…</think>` at the start of a text from what follows it.

    Takes time in proportion to the text. Some templates put the opening tag into the prompt, so
    that a text may start inside.

    Returns:
        The text (None: it never began), the thinking (None: there is none), and whether the
        thinking was closed.
    """
    thoughts: list[str] = []
    at = 0
    while text.startswith(_OPEN, begins := _after_space(text, at)):
        begins += len(_OPEN)
        ends = text.find(_CLOSE, begins)
        if ends < 0:
            thoughts.append(text[begins:].strip())
            return None, "\n".join(filter(None, thoughts)) or None, False
        thoughts.append(text[begins:ends].strip())
        at = ends + len(_CLOSE)
    if not thoughts and _CLOSE in text and _OPEN not in text:
        thought, _, rest = text.partition(_CLOSE)
        return rest.lstrip(), thought.strip() or None, True
    if not thoughts:
        return text, None, True
    return text[at:].lstrip(), "\n".join(filter(None, thoughts)) or None, True


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _content(content: Json) -> tuple[str | None, str | None]:
    """Return text and thinking of a message's content: a string, or a list of parts."""
    if not isinstance(content, list):
        return _str(content), None
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, dict) and part.get("type") == "thinking":
            inner = part.get("thinking")
            thoughts.extend([inner] if isinstance(inner, str) else _texts(inner, ("text",)))
        else:
            texts.extend(_texts([part], ("text", "refusal")))
    return "".join(texts) if texts else None, "\n".join(thoughts) or None


def _texts(parts: Json, names: Iterable[str]) -> list[str]:
    found: list[str] = []
    for part in _list(parts):
        if isinstance(part, dict):
            found.extend(value for name in names if isinstance(value := part.get(name), str))
        elif isinstance(part, str):
            found.append(part)
    return found


def _finish(reason: Json) -> str | None:
    """Return a finish reason in the protocol's words; one that is no text is an unknown one."""
    if reason is None or reason == "":
        return None
    return canonical(reason if isinstance(reason, str) else json.dumps(reason)[:60])


def _chat_usage(usage: Json) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    given, produced = (
        tokens_counted(usage.get("prompt_tokens")),
        tokens_counted(usage.get("completion_tokens")),
    )
    reasoning = tokens_counted(_inside(usage, "completion_tokens_details", "reasoning_tokens"))
    cached = tokens_counted(_inside(usage, "prompt_tokens_details", "cached_tokens"))
    if cached is None:
        cached = tokens_counted(usage.get("prompt_cache_hit_tokens"))
    total = tokens_counted(usage.get("total_tokens"))
    known = given is not None and produced is not None and total is not None and reasoning
    # some endpoints count reasoning beside the completion; their total gives it away
    if known and total == (given or 0) + (produced or 0) + (reasoning or 0):
        produced = (produced or 0) + (reasoning or 0)
    return Usage(input=given, output=produced, reasoning=reasoning, cached=cached)


def _responses_usage(usage: Json) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        input=tokens_counted(usage.get("input_tokens")),
        output=tokens_counted(usage.get("output_tokens")),
        reasoning=tokens_counted(_inside(usage, "output_tokens_details", "reasoning_tokens")),
        cached=tokens_counted(_inside(usage, "input_tokens_details", "cached_tokens")),
    )


def _inside(row: JsonObject, outer: str, inner: str) -> Json:
    value = row.get(outer)
    return value.get(inner) if isinstance(value, dict) else None


def tokens_counted(value: Json) -> int | None:
    """Return a number of tokens; what is none, or absurd, is unknown."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_TOKENS:
        return None
    return value


def _str(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _bad(what: str) -> Failure:
    return Failure("bad_answer", what, retryable=True)


def error_inside(error: Json) -> Failure:
    """Return what an error means that stands where an answer was to be."""
    message = error.get("message") if isinstance(error, dict) else error
    shown = visible_line(message if isinstance(message, str) else str(error), 300)
    return _bad(f"an error instead of an answer: {shown}")
