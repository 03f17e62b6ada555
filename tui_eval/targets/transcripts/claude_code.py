"""`claude-code`: what `claude -p --verbose --output-format stream-json` prints.

One event for each block of a reply, each with the usage so far: events of one reply have the same
message id, and of its usage the last counts. The `result` at the end has that of all replies, and
knows how many tokens they produced, which the others tell from the beginning of a reply. An event
is known by its form: most have a `session_id`, but what a person or a tool said may come without.
"""

from typing import ClassVar, Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import canonical
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import EventReader, Seen

_LIMITS: Final = {"error_max_turns": "limit:turns", "error_max_budget_usd": "limit:cost_usd"}
"""How a result says that it kept to a limit of its own, and what that is as a finish reason."""


class ClaudeCodeReader(EventReader):
    """Reads `system`, `assistant`, `user` and `result` events."""

    FORMAT: ClassVar[str] = "claude-code"
    ASKED_BY: ClassVar[str] = "it needs -p --verbose --output-format stream-json"
    TELLS_END: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()
        """The texts of the reply under way."""
        self._called: set[str] = set()
        self._error: str | None = None

    def _event(self, event: JsonObject) -> Seen:
        kind = event.get("type")
        if kind == "system" and isinstance(event.get("subtype"), str):
            self.model = values.text(event.get("model")) or self.model
            return Seen.OWN
        if kind == "result" and isinstance(event.get("subtype"), str):
            self._finished(event)
            return Seen.OWN
        message = event.get("message")
        if not isinstance(message, dict) or not isinstance(message.get("content"), str | list):
            return Seen.UNKNOWN
        if kind == "assistant":
            self._replied(message, event)
        elif kind == "user":
            self._answered(message)
        else:
            return Seen.UNKNOWN
        return Seen.OWN

    def _replied(self, message: JsonObject, event: JsonObject) -> None:
        key = values.text(message.get("id")) or values.text(event.get("uuid"))
        main, before = self.text, self._under_way
        reply = self._reply(key)
        if reply is not before:
            self._said.clear()
        for block in map(values.obj, values.items(message.get("content"))):
            self._block(block, key)
        helper = values.text(event.get("parent_tool_use_id"))
        if helper is not None:
            reply["parent_tool_call_id"] = helper
            self.text = main  # what a helper of its own says is no answer
        usage = values.obj(message.get("usage"))
        if usage:
            self._tokens.tell(key, _usage(usage))
        self._error = values.text(event.get("error")) or None

    def _block(self, block: JsonObject, key: str | None) -> None:
        kind = block.get("type")
        said = values.text(block.get("text" if kind == "text" else "thinking"))
        if kind in ("text", "thinking"):
            if said is not None and said not in self._said:
                self._said.add(said)
                (self._say if kind == "text" else self._think)(said, key)
        elif kind in ("tool_use", "server_tool_use", "mcp_tool_use"):
            call_id = values.text(block.get("id")) or ""
            if call_id not in self._called:
                self._called.add(call_id)
                name = values.text(block.get("name")) or ""
                self._call(call_id, name, block.get("input"), key)
        elif isinstance(block.get("tool_use_id"), str):
            self._result(str(block["tool_use_id"]), values.content(block.get("content")))
        else:
            self.unknown += 1

    def _answered(self, message: JsonObject) -> None:
        said = message.get("content")
        blocks = [said] if isinstance(said, str) else values.items(said)
        for block in blocks:
            result = values.obj(block)
            if result.get("type") == "tool_result":
                call_id = values.text(result.get("tool_use_id")) or ""
                self._result(call_id, values.content(result.get("content")))
            else:
                self._told("user", values.content([block]))

    def _finished(self, event: JsonObject) -> None:
        usage = values.obj(event.get("usage"))
        per_model = [*map(values.obj, values.obj(event.get("modelUsage")).values())]
        self._tokens.tell_all(_usage(usage), *([_of_models(per_model)] if per_model else []))
        cost = values.money(event.get("total_cost_usd"))
        self.cost_usd = self.cost_usd if cost is None else cost
        subtype, said = str(event["subtype"]), values.text(event.get("result"))
        self.failure = None
        if subtype in _LIMITS:
            self.finish_reason = _LIMITS[subtype]
        elif event.get("is_error") is True or subtype != "success":
            status = values.count(event.get("api_error_status"))
            errors = "; ".join(filter(None, map(values.text, values.items(event.get("errors")))))
            word = self._error or (subtype if subtype != "success" else None)
            self._fail(said or errors or subtype, word=word, status=status)
        else:
            reason = values.text(event.get("stop_reason"))
            self.finish_reason = canonical(reason) if reason else "stop"
            self.text = self.text if said is None else said


def _usage(usage: JsonObject) -> Usage:
    """Return what the API counts; what is read from or put into its cache is input too."""
    cached = values.count(usage.get("cache_read_input_tokens"))
    return Usage(
        input=_sum(usage.get("input_tokens"), usage.get("cache_creation_input_tokens"), cached),
        output=values.count(usage.get("output_tokens")),
        cached=cached,
    )


def _of_models(models: list[JsonObject]) -> Usage:
    cached = [model.get("cacheReadInputTokens") for model in models]
    made = [model.get("cacheCreationInputTokens") for model in models]
    return Usage(
        input=_sum(*(model.get("inputTokens") for model in models), *made, *cached),
        output=_sum(*(model.get("outputTokens") for model in models)),
        cached=_sum(*cached),
    )


def _sum(*counts: Json) -> int | None:
    known = [one for one in map(values.count, counts) if one is not None]
    return sum(known) if known else None
