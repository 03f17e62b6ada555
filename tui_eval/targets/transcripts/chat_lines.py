"""`messages`: a chat message a line, with usage and cost beside it."""

from typing import ClassVar, Final

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import EventReader, Seen

_ROLES: Final = frozenset({"system", "developer", "user", "assistant", "tool"})


class ChatLinesReader(EventReader):
    """Reads `{"role", "content", "tool_calls", "tool_call_id", "usage", "cost_usd"}` a line."""

    FORMAT: ClassVar[str] = "messages"
    ASKED_BY: ClassVar[str] = "each line must be a JSON object with a role and a content"

    def _event(self, event: JsonObject) -> Seen:
        role = values.text(event.get("role"))
        # a type makes it an event of some program
        if role not in _ROLES or "type" in event or not {"content", "tool_calls"} & event.keys():
            return Seen.UNKNOWN
        said = values.content(event.get("content"))
        if role == "assistant":
            self._assistant(event, said)
        elif role == "tool":
            self._result(values.text(event.get("tool_call_id")) or "", said)
        else:
            self._told(role, said)
        self._figures(event)
        return Seen.OWN

    def _assistant(self, event: JsonObject, said: str | None) -> None:
        self._under_way = None  # each line is a reply of its own
        self._reply()
        if said is not None:
            self._say(said)
        thought = values.text(event.get("reasoning_content"))
        if thought:
            self._think(thought)
        for call in map(values.obj, values.items(event.get("tool_calls"))):
            function = values.obj(call.get("function")) or call
            name = values.text(function.get("name")) or ""
            arguments = function.get("arguments", {})
            self._call(values.text(call.get("id")) or "", name, arguments)
        self.model = values.text(event.get("model")) or self.model

    def _figures(self, event: JsonObject) -> None:
        usage = values.obj(event.get("usage"))
        if usage:
            told = Usage(values.count(usage.get("input")), values.count(usage.get("output")))
            self._tokens.tell_next(told)
        cost = values.money(event.get("cost_usd"))
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost
