"""`codex`: what `codex exec --json` prints.

What it does comes as items, each begun, perhaps updated, and completed: a message, a thought, a
command, a change of files, the call of a tool of a server. The usage of a completed turn is that of
the whole thread so far.
"""

from typing import ClassVar, Final

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import EventReader, Seen

_CALLS: Final = {
    "command_execution": ("command",),
    "file_change": ("changes",),
    "mcp_tool_call": ("arguments",),
    "web_search": ("query", "action"),
    "collab_tool_call": ("tool", "prompt"),
}
"""The items that are calls of tools, and which of their fields say what is asked."""
_OTHER: Final = frozenset({"todo_list", "error", "plan"})
"""Items that are no part of the conversation; an `error` of an item is a warning."""


class CodexReader(EventReader):
    """Reads `thread.*`, `turn.*`, `item.*` and `error` events."""

    FORMAT: ClassVar[str] = "codex"
    ASKED_BY: ClassVar[str] = "it needs exec --json"
    TELLS_END: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self._thread = ""
        self._begun: set[str] = set()

    def _event(self, event: JsonObject) -> Seen:
        kind = event.get("type")
        if not isinstance(kind, str):
            return Seen.UNKNOWN
        if kind == "error" and isinstance(event.get("message"), str):
            self._fail(str(event["message"]))
            return Seen.ANYBODYS
        if kind in ("item.started", "item.updated", "item.completed"):
            item = event.get("item")
            known = isinstance(item, dict) and self._item(item, done=kind == "item.completed")
            return Seen.OWN if known else Seen.UNKNOWN
        if kind == "thread.started" and isinstance(event.get("thread_id"), str):
            self._thread = str(event["thread_id"])
        elif kind == "turn.completed":
            self.failure = None
            self.finish_reason = "stop"
            self._count(values.obj(event.get("usage")))
        elif kind == "turn.failed":
            self._fail(values.text(values.obj(event.get("error")).get("message")) or "turn failed")
        elif kind != "turn.started":
            return Seen.UNKNOWN
        return Seen.OWN

    def _item(self, item: JsonObject, *, done: bool) -> bool:
        item_id, kind = values.text(item.get("id")), values.text(item.get("type"))
        if item_id is None or kind is None:
            return False
        if kind in _CALLS:
            self._tool(item, f"{self._thread}/{item_id}", kind, done=done)
        elif kind in ("agent_message", "reasoning"):
            if done:
                said = values.text(item.get("text")) or ""
                self._spoken(said, item_id, is_thought=kind == "reasoning")
        else:
            return kind in _OTHER
        return True

    def _spoken(self, said: str, item_id: str, *, is_thought: bool) -> None:
        if is_thought:
            self._reply(item_id)
            self._think(said)
            return
        reply = self._under_way  # the message that follows a thought belongs to it
        follows = reply is not None and reply["content"] is None and "tool_calls" not in reply
        self._say(said, None if follows else item_id)

    def _tool(self, item: JsonObject, call_id: str, kind: str, *, done: bool) -> None:
        if call_id not in self._begun:
            self._begun.add(call_id)
            asked = {name: item[name] for name in _CALLS[kind] if name in item}
            name = kind
            if kind == "mcp_tool_call":
                name = f"{item.get('server')}.{item.get('tool')}"
                asked = values.obj(item.get("arguments"))
            self._call(call_id, name, asked, call_id)
        if done:
            self._result(call_id, _outcome(item))

    def _count(self, usage: JsonObject) -> None:
        self._tokens.tell(
            self._thread,
            Usage(
                input=values.count(usage.get("input_tokens")),
                output=values.count(usage.get("output_tokens")),
                reasoning=values.count(usage.get("reasoning_output_tokens")),
                cached=values.count(usage.get("cached_input_tokens")),
            ),
        )


def _outcome(item: JsonObject) -> str:
    """Return what a tool gave: what it printed, its answer or its error, else how it ended."""
    printed = values.text(item.get("aggregated_output"))
    code = values.count(item.get("exit_code"))
    if printed is not None:
        return printed if not code else f"{printed}\nexit code {code}".lstrip("\n")
    result, error = values.obj(item.get("result")), values.obj(item.get("error"))
    said = values.content(result.get("content")) or values.text(error.get("message"))
    return said or values.text(item.get("status")) or "completed"
