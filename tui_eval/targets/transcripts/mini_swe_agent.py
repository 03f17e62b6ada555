"""`mini-swe-agent`: the trajectory file that `mini --output FILE` writes, anew after each step.

Its messages are those of the API it asks, each with `extra`: the API's answer, the commands taken
from it, what they gave. The last has the role `exit` and says how it ended.
"""

from typing import ClassVar

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import DocumentReader


class MiniSweAgentReader(DocumentReader):
    """Reads `{"info", "messages", "trajectory_format": "mini-swe-agent-…"}`."""

    FORMAT: ClassVar[str] = "mini-swe-agent"
    ASKED_BY: ClassVar[str] = "it needs --output FILE, and the transcript must be that file"

    def __init__(self) -> None:
        super().__init__()
        self._actions: list[str] = []
        """The calls made in plain text that have no result yet."""
        self._last_words: str | None = None

    def _document(self, document: JsonObject) -> bool:
        form = values.text(document.get("trajectory_format")) or ""
        if not form.startswith("mini-swe-agent"):
            return False
        info = values.obj(document.get("info"))
        for message in values.items(document.get("messages")):
            if isinstance(message, dict):
                self._message(message)
            else:
                self.unknown += 1
        self._ended(info)
        return True

    def _message(self, message: JsonObject) -> None:
        role, said = message.get("role"), values.content(message.get("content"))
        extra = values.obj(message.get("extra"))
        if role == "assistant" or message.get("object") == "response":
            self._replied(message, said, extra)
        elif role == "tool" or message.get("type") == "function_call_output":
            call_id = message.get("tool_call_id", message.get("call_id"))
            given = said if said is not None else values.content(message.get("output"))
            self._result(values.text(call_id) or "", given)
        elif role in ("user", "system"):
            if self._actions and "returncode" in extra:
                self._result(self._actions.pop(0), said)
            else:
                self._told(str(role), said)
        elif role == "exit":
            self._last_words = said
        else:
            self.unknown += 1

    def _replied(self, message: JsonObject, said: str | None, extra: JsonObject) -> None:
        self._under_way = None
        self._reply()
        if said is not None:
            self._say(said)
        for item in map(values.obj, values.items(message.get("output"))):
            if item.get("type") == "message":
                self._say(values.content(item.get("content")) or "")
            elif item.get("type") == "function_call":
                call_id = values.text(item.get("call_id")) or ""
                self._call(call_id, values.text(item.get("name")) or "", item.get("arguments"))
        before = self.tool_calls
        for call in map(values.obj, values.items(message.get("tool_calls"))):
            function = values.obj(call.get("function"))
            name = values.text(function.get("name")) or ""
            self._call(values.text(call.get("id")) or "", name, function.get("arguments"))
        if self.tool_calls == before and "output" not in message:
            self._acted(extra)
        response = values.obj(extra.get("response"))
        self.model = values.text(response.get("model")) or self.model
        usage = values.obj(response.get("usage")) or values.obj(message.get("usage"))
        if usage:
            self._tokens.tell_next(_usage(usage))

    def _acted(self, extra: JsonObject) -> None:
        """Take the commands of a reply in plain text for calls of its shell."""
        self._actions.clear()
        for action in map(values.obj, values.items(extra.get("actions"))):
            command = values.text(action.get("command"))
            if command is not None:
                self._actions.append(f"action_{self.tool_calls}")
                self._call(self._actions[-1], "bash", {"command": command})

    def _ended(self, info: JsonObject) -> None:
        stats = values.obj(info.get("model_stats"))
        # nothing where its prices are unknown, too
        self.cost_usd = values.money(stats.get("instance_cost")) or None
        status, said = values.text(info.get("exit_status")), values.text(info.get("submission"))
        if status == "Submitted":
            self.finish_reason = "stop"
            self.text = said or self.text
        elif status == "LimitsExceeded":
            agent = values.obj(values.obj(info.get("config")).get("agent"))
            most, calls = (
                values.count(agent.get("step_limit")),
                values.count(stats.get("api_calls")),
            )
            by_turns = 0 < (most or 0) <= (calls or 0)
            self.finish_reason = "limit:turns" if by_turns else "limit:cost_usd"
        elif status == "TimeExceeded":
            self.finish_reason = "limit:wall"
        elif status:
            self._fail(self._last_words or status, word=status)


def _usage(usage: JsonObject) -> Usage:
    """Return the tokens as the chat or the responses API counts them."""
    inside = usage.get("prompt_tokens_details", usage.get("input_tokens_details"))
    made = usage.get("completion_tokens_details", usage.get("output_tokens_details"))
    return Usage(
        input=values.count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        output=values.count(usage.get("completion_tokens", usage.get("output_tokens"))),
        reasoning=values.count(values.obj(made).get("reasoning_tokens")),
        cached=values.count(values.obj(inside).get("cached_tokens")),
    )
