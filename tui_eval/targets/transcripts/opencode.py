"""`opencode`: what `opencode run --format json` prints.

Each event has a part of a message: a step begins, a text, a tool with its state, a step is finished
with its tokens and cost. A message is one step; tools come once they are done, in the order they
end.
"""

from typing import ClassVar

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.finish import canonical
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import EventReader, Seen


class OpencodeReader(EventReader):
    """Reads `step_start`, `text`, `reasoning`, `tool_use`, `step_finish` and `error` events."""

    FORMAT: ClassVar[str] = "opencode"
    ASKED_BY: ClassVar[str] = "it needs run --format json"
    TELLS_END: ClassVar[bool] = True

    def _event(self, event: JsonObject) -> Seen:
        kind, part = event.get("type"), values.obj(event.get("part"))
        key = values.text(part.get("messageID"))
        if not isinstance(event.get("sessionID"), str):
            return Seen.UNKNOWN
        if kind == "error":
            self._failed(values.obj(event.get("error")))
        elif key is None:
            return Seen.UNKNOWN
        elif kind == "step_start":
            self._reply(key)
        elif kind == "text" and isinstance(part.get("text"), str):
            self._say(str(part["text"]), key)
        elif kind == "reasoning" and isinstance(part.get("text"), str):
            self._think(str(part["text"]), key)
        elif kind == "tool_use" and isinstance(part.get("callID"), str):
            self._tool(part, key)
        elif kind == "step_finish":
            self._finished(part)
        else:
            return Seen.UNKNOWN
        return Seen.OWN

    def _tool(self, part: JsonObject, key: str) -> None:
        call_id, state = str(part["callID"]), values.obj(part.get("state"))
        self._call(call_id, values.text(part.get("tool")) or "", state.get("input", {}), key)
        if state.get("status") in ("completed", "error"):
            said = values.content(state.get("output"))
            self._result(call_id, said if said is not None else values.text(state.get("error")))

    def _finished(self, part: JsonObject) -> None:
        tokens = values.obj(part.get("tokens"))
        cache = values.obj(tokens.get("cache"))
        if tokens:
            self._tokens.tell(values.text(part.get("id")), _usage(tokens, cache))
        cost = values.money(part.get("cost"))
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost
        reason = values.text(part.get("reason"))
        self.finish_reason = canonical(reason) if reason else self.finish_reason

    def _failed(self, error: JsonObject) -> None:
        data, name = values.obj(error.get("data")), values.text(error.get("name"))
        said = values.text(data.get("message")) or values.text(error.get("message")) or name
        self._fail(said or "it failed", word=name, status=values.count(data.get("statusCode")))


def _usage(tokens: JsonObject, cache: JsonObject) -> Usage:
    """Return what a step took: it tells input without the cache, output without thoughts."""
    read = values.count(cache.get("read"))
    sent = [values.count(tokens.get("input")), values.count(cache.get("write")), read]
    known = [one for one in sent if one is not None]
    output, reasoning = values.count(tokens.get("output")), values.count(tokens.get("reasoning"))
    return Usage(
        input=sum(known) if known else None,
        output=output if output is None else output + (reasoning or 0),
        reasoning=reasoning,
        cached=read,
    )
