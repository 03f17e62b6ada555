"""What of an app's answer is its output: JSON paths → `Output`.

An answer is one JSON value, or the values of a stream's events. A path that may lead to several
places gives all of them, in order and over all events; one that names a single place gives the last
event's. Texts are joined.

Everything here can be pickled by name: answers are read in another process where they are long.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.attempt_record import NO_RECORD, AttemptRecord
from tui_eval.model.outputs.finish import canonical
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.visible import visible_line
from tui_eval.providers.answer_reading import READ_AT_ONCE
from tui_eval.providers.answers import finished_output
from tui_eval.providers.endpoint import MAX_BODY
from tui_eval.providers.http.event_streams import StreamEvent
from tui_eval.suites.data import jsonpath
from tui_eval.suites.spec.targets.http import AnswerUsage, HttpTargetSpec
from tui_eval.targets.transcripts import values

OUTPUT: Final = "output"
"""The kind of a failure because an answer has nothing where the output should be."""

_SHOWN: Final = 300
_NAMES: Final = 12
_PARTIAL: Final = 20_000
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters")


@dataclass(frozen=True, slots=True)
class ReplyMapping:
    """The JSON paths of a target."""

    output: str | None
    fields: tuple[tuple[str, str], ...]
    tool_calls: str | None
    messages: str | None
    finish_reason: str | None
    usage: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, spec: HttpTargetSpec) -> "ReplyMapping":
        """Return those of a target."""
        usage = (spec.usage or AnswerUsage()).model_dump(exclude_none=True)
        return cls(
            spec.output,
            tuple(spec.fields.items()),
            spec.tool_calls,
            spec.messages,
            spec.finish_reason,
            tuple(usage.items()),
        )

    @property
    def linear(self) -> bool:
        """Whether an answer is read in a time in proportion to its length."""
        return all(jsonpath.parse(path).linear for path in self._paths())

    @property
    def takes_whole(self) -> bool:
        """Whether the answer is a text, in which nothing is looked for."""
        return not any(True for _ in self._paths())

    def identity(self) -> JsonObject:
        """Return what decides of an answer what the output is."""
        return {
            "output": self.output,
            "fields": dict(self.fields),
            "tool_calls": self.tool_calls,
            "messages": self.messages,
            "finish_reason": self.finish_reason,
            "usage": dict(self.usage),
        }

    def _paths(self) -> Iterable[str]:
        named = (self.output, self.tool_calls, self.messages, self.finish_reason)
        yield from (path for path in named if path is not None)
        yield from (path for _, path in (*self.fields, *self.usage))


def read_reply(mapping: ReplyMapping, body: bytes) -> Output | Failure:
    """Read an answer that is one value; its latency is for the caller to add."""
    return _read(mapping, [body])


def read_events(mapping: ReplyMapping, events: Sequence[StreamEvent]) -> Output | Failure:
    """Read a stream's events; their latency is for the caller to add."""
    if not events:
        return Failure("bad_answer", "the answer has no events", retryable=True)
    for event in events:
        if event.name == "error":
            said = visible_line(event.data.decode("utf-8", "replace"), _SHOWN)
            partial = partial_text(mapping, events)
            why = f"the stream ended in an error: {said}"
            return Failure("bad_answer", why, retryable=True, partial=partial)
    return _read(mapping, [event.data for event in events])


def partial_text(mapping: ReplyMapping, events: Sequence[StreamEvent]) -> str | None:
    """Return what a stream said that broke off, as far as it is read at once; None: nothing."""
    documents: list[Json] = []
    left = READ_AT_ONCE if mapping.linear else 0
    for event in events:
        left -= len(event.data)
        if left < 0:
            break
        try:
            documents.append(_decoded(mapping, event.data))
        except (ValueError, RecursionError):
            continue
    try:
        return "".join(_Found(documents).texts(mapping.output)) or None
    except jsonpath.TooDeepError:
        return None


def _read(mapping: ReplyMapping, parts: Sequence[bytes]) -> Output | Failure:
    try:
        documents = [_decoded(mapping, part) for part in parts]
        got = _mapped(mapping, _Found(documents))
    except RecursionError:
        got = Failure("bad_answer", "the answer is nested too deeply", retryable=True)
    except (ValueError, _NotThereError) as error:
        kind = OUTPUT if isinstance(error, _NotThereError) else "bad_answer"
        got = Failure(kind, str(error), retryable=True)
    if isinstance(got, Failure) and got.partial is None:
        return replace(got, partial=_begins(parts))
    return got


def _begins(parts: Sequence[bytes]) -> str | None:
    joined = b"\n".join(parts)[: _PARTIAL * 4] if len(parts) < 1000 else parts[0][:_PARTIAL]
    return joined.decode("utf-8", "replace")[:_PARTIAL] or None


class _NotThereError(Exception):
    """An answer has nothing where a path leads; the message says what it has."""


class _NotJsonError(ValueError):
    """An answer is none."""


def _decoded(mapping: ReplyMapping, part: bytes) -> Json:
    if mapping.takes_whole:
        return part.decode("utf-8", "replace")
    try:
        found: Json = json.loads(part, parse_constant=_no_number)
    except ValueError as error:
        begins = visible_line(part[:_SHOWN].decode("utf-8", "replace"), 80)
        what = f"begins with {begins!r}" if begins.strip() else "is empty"
        raise _NotJsonError(f"the answer is no valid JSON, it {what}") from error
    return found


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


class _Found:
    """The values of an answer."""

    def __init__(self, documents: Sequence[Json]) -> None:
        self.documents = documents

    def all(self, path: str) -> list[Json]:
        """Return everything a path leads to."""
        parsed = jsonpath.parse(path)
        return [value for document in self.documents for value in parsed.find(document)]

    def last(self, path: str | None) -> Json:
        """Return the last that is not null; None: there is none."""
        there = [] if path is None else self.all(path)
        return next((value for value in reversed(there) if value is not None), None)

    def texts(self, path: str | None) -> list[str]:
        """Return the texts that a path leads to; without a path, the whole answer."""
        there = self.documents if path is None else self.all(path)
        return [_text(value) for value in there if value is not None]

    def tables(self, path: str) -> list[Json]:
        """Return what a path leads to, the items of lists one by one."""
        there = self.all(path)
        return [item for value in there for item in (value if isinstance(value, list) else [value])]

    def shape(self) -> str:
        """Say what the answer has, for whoever wrote a path that leads nowhere."""
        first = self.documents[0]
        many = len(self.documents) > 1
        what = f"the first of {len(self.documents)} events" if many else "the answer"
        if isinstance(first, dict):
            names = ", ".join(visible_line(name, 40) for name in [*first][:_NAMES])
            more = ", …" if len(first) > _NAMES else ""
            told = first.get("error")
            error = f"; its error says {visible_line(_text(told), _SHOWN)}" if told else ""
            return f"{what} has {names}{more}{error}" if first else f"{what} is an empty table"
        if isinstance(first, list):
            return f"{what} is a list of {len(first)}"
        return f"{what} is {visible_line(_text(first), 80)!r}"


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _mapped(mapping: ReplyMapping, found: _Found) -> Output | Failure:
    if mapping.output is not None and not found.all(mapping.output):
        calls = mapping.tool_calls is not None and found.all(mapping.tool_calls)
        if not calls:
            raise _NotThereError(f"nothing at {mapping.output}: {found.shape()}")
    calls = _tool_calls(mapping, found)
    texts = found.texts(mapping.output)
    text = "".join(texts) if texts else None
    if text is not None and len(text) > MAX_BODY:
        raise ValueError(f"the output is longer than {MAX_BODY:,} characters")
    why = found.last(mapping.finish_reason)
    told = {name: found.last(path) for name, path in mapping.usage}
    usage = Usage(*(values.count(told.get(name)) for name in _TOKENS))
    got = finished_output(
        text, None, calls, None if why is None else canonical(_text(why)), None, usage
    )
    cost = values.money(told.get("cost_usd"))
    if isinstance(got, Failure):
        return replace(got, cost_usd=cost)
    messages = _messages(mapping, found) or got.messages
    return replace(
        got,
        messages=messages,
        fields=_fields(mapping, found),
        cost_usd=cost,
        record=_record(messages),
    )


_TOKENS: Final = ("input", "output", "reasoning", "cached")


def _fields(mapping: ReplyMapping, found: _Found) -> JsonObject:
    fields: JsonObject = {}
    for name, path in mapping.fields:
        there = found.all(path)
        if not jsonpath.parse(path).definite:
            fields[name] = there
        elif there:
            fields[name] = there[-1]
    return fields


def _messages(mapping: ReplyMapping, found: _Found) -> tuple[JsonObject, ...]:
    if mapping.messages is None:
        return ()
    there = found.tables(mapping.messages)
    said = tuple(one for one in there if isinstance(one, dict) and isinstance(one.get("role"), str))
    if len(said) < len(there) or not said:
        what = "nothing" if not there else "what is no message with a role"
        raise _NotThereError(f"{what} at {mapping.messages} (messages): {found.shape()}")
    return said


def _tool_calls(mapping: ReplyMapping, found: _Found) -> list[Json]:
    if mapping.tool_calls is None:
        return []
    called = (value for value in found.tables(mapping.tool_calls) if value is not None)
    return [_tool_call(mapping.tool_calls, value) for value in called]


def _tool_call(path: str, value: Json) -> JsonObject:
    """Return a call in the form of the chat API."""
    call = values.obj(value)
    function = values.obj(call.get("function")) or call
    name = values.text(function.get("name"))
    if name is None:
        shown = visible_line(_text(value), 80)
        raise _NotThereError(f"no tool call with a name at {path} (tool_calls): {shown}")
    arguments = next((function[key] for key in _ARGUMENTS if key in function), {})
    made: JsonObject = {"name": name, "arguments": values.compact(arguments)}
    return {"id": values.text(call.get("id")) or "", "type": "function", "function": made}


def _record(messages: Sequence[JsonObject]) -> AttemptRecord:
    if not messages:
        return NO_RECORD
    replies = [message for message in messages if message.get("role") == "assistant"]
    calls = sum(len(values.items(message.get("tool_calls"))) for message in replies)
    return AttemptRecord(steps=len(replies), tool_calls=calls)
