"""`gemini`: what `gemini --output-format stream-json` prints.

A reply comes in pieces (`delta`), then the tools that it calls, then what they gave; the usage is
told once, at the end.
"""

from typing import ClassVar, Final

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import EventReader, Seen

_TURNS: Final = "FatalTurnLimitedError"


class GeminiReader(EventReader):
    """Reads `init`, `message`, `tool_use`, `tool_result`, `error` and `result` events."""

    FORMAT: ClassVar[str] = "gemini"
    ASKED_BY: ClassVar[str] = "it needs --output-format stream-json"
    TELLS_END: ClassVar[bool] = True

    def _event(self, event: JsonObject) -> Seen:
        match event:
            case {"type": "init", "session_id": str(), "model": str(model)}:
                self.model = model
            case {"type": "message", "role": "assistant", "content": str(said)}:
                if event.get("delta") is not True:
                    self._under_way = None
                self._say(said, between="")
            case {"type": "message", "role": "user", "content": str(said)}:
                self._told("user", said)
            case {"type": "tool_use", "tool_id": str(call_id), "tool_name": str(name)}:
                self._call(call_id, name, event.get("parameters", {}))
            case {"type": "tool_result", "tool_id": str(call_id)}:
                error = values.text(values.obj(event.get("error")).get("message"))
                self._result(call_id, values.content(event.get("output")) or error)
                self._under_way = None
            case {"type": "error", "severity": str(severity), "message": str(said)}:
                if severity == "error":
                    self._fail(said)
            case {"type": "result", "status": "success" | "error"}:
                self._finished(event)
            case _:
                return Seen.UNKNOWN
        return Seen.OWN

    def _finished(self, event: JsonObject) -> None:
        stats = values.obj(event.get("stats"))
        self._tokens.tell_all(
            Usage(
                input=values.count(stats.get("input_tokens")),
                output=values.count(stats.get("output_tokens")),
                cached=values.count(stats.get("cached")),
            )
        )
        error = values.obj(event.get("error"))
        self.failure = None
        if error.get("type") == _TURNS:
            self.finish_reason = "limit:turns"
        elif event.get("status") == "error":
            said = values.text(error.get("message")) or "it failed"
            self._fail(said, word=values.text(error.get("type")))
        else:
            self.finish_reason = "stop"
