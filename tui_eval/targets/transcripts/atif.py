"""`atif`: the Agent Trajectory Interchange Format, versions 1.0 to 1.8, one JSON document.

A step of the agent has its message, its calls and what they gave. Contents are texts or, from 1.6
on, lists of parts; steps copied from an earlier trajectory have been paid for there.
"""

import re
from typing import ClassVar, Final

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Usage
from tui_eval.targets.transcripts import values
from tui_eval.targets.transcripts.reader import DocumentReader

_VERSION: Final = re.compile(r"ATIF-v1\.[0-8]")


class AtifReader(DocumentReader):
    """Reads `{"schema_version", "agent", "steps", "final_metrics"}`."""

    FORMAT: ClassVar[str] = "atif"
    ASKED_BY: ClassVar[str] = 'it needs a schema_version from "ATIF-v1.0" to "ATIF-v1.8" and steps'

    def _document(self, document: JsonObject) -> bool:
        version = values.text(document.get("schema_version")) or ""
        steps = document.get("steps")
        if not _VERSION.fullmatch(version) or not isinstance(steps, list):
            return False
        self.model = values.text(values.obj(document.get("agent")).get("model_name"))
        for step in steps:
            if not (isinstance(step, dict) and self._step(step)):
                self.unknown += 1
        self.unknown += len(values.items(document.get("subagent_trajectories")))
        final = values.obj(document.get("final_metrics"))
        self._tokens.tell_all(_usage(final, "total_"))
        cost = values.money(final.get("total_cost_usd"))
        self.cost_usd = self.cost_usd if cost is None else cost
        return True

    def _step(self, step: JsonObject) -> bool:
        source, said = step.get("source"), values.content(step.get("message"))
        if source == "agent":
            self._under_way = None
            self._reply()
            self._acted(step, said)
        elif source in ("user", "system"):
            self._told(str(source), said)
        else:
            return False
        for result in values.items(values.obj(step.get("observation")).get("results")):
            given = values.obj(result)
            call_id = values.text(given.get("source_call_id")) or ""
            self._result(call_id, values.content(given.get("content")))
        return True

    def _acted(self, step: JsonObject, said: str | None) -> None:
        if said:
            self._say(said)
        thought = values.text(step.get("reasoning_content"))
        if thought:
            self._think(thought)
        for call in map(values.obj, values.items(step.get("tool_calls"))):
            name = values.text(call.get("function_name")) or ""
            arguments = call.get("arguments", {})
            self._call(values.text(call.get("tool_call_id")) or "", name, arguments)
        self.model = values.text(step.get("model_name")) or self.model
        metrics = values.obj(step.get("metrics"))
        if metrics and step.get("is_copied_context") is not True:
            self._tokens.tell_next(_usage(metrics))
            cost = values.money(metrics.get("cost_usd"))
            self.cost_usd = self.cost_usd if cost is None else (self.cost_usd or 0.0) + cost


def _usage(metrics: JsonObject, prefix: str = "") -> Usage:
    """Return what metrics count: the prompt's tokens with those that were cached."""
    return Usage(
        input=values.count(metrics.get(f"{prefix}prompt_tokens")),
        output=values.count(metrics.get(f"{prefix}completion_tokens")),
        cached=values.count(metrics.get(f"{prefix}cached_tokens")),
    )
