"""What tools answer, as the suite says it."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.spec.tool_answers import answer_templates
from tui_eval.suites.templates.template import Names, NestedTemplate, TemplateError, holds


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A call that a model wants to have answered."""

    id: str
    name: str
    arguments: Json
    """As the model wrote them, read; None: they are no JSON."""
    problem: str | None = None
    """Why the arguments cannot be read; None: they can."""

    @classmethod
    def of(cls, written: JsonObject) -> "RequestedCall | None":
        """Read a call of the chat API's form; None: it names no function."""
        function, call = written.get("function"), written.get("id")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            return None
        name, given = str(function["name"]), function.get("arguments")
        ident = call if isinstance(call, str) else ""
        if not isinstance(given, str):
            return cls(ident, name, {} if given is None else given)
        try:
            read: Json = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError) as error:
            return cls(ident, name, None, f"the arguments are no valid JSON: {error}")
        return cls(ident, name, read)

    def answered(self, text: str) -> JsonObject:
        """Return the message that answers it."""
        return {"role": "tool", "tool_call_id": self.id, "content": text}


@dataclass(frozen=True, slots=True)
class _Rule:
    when: NestedTemplate
    answer: NestedTemplate


class ToolAnswers:
    """The answers of a target's tools: of each tool the first whose condition holds."""

    def __init__(self, tools: Sequence[JsonObject], field: str) -> None:
        """Compile their templates.

        Args:
            tools: As the suite has them.
            field: The path of the target's table.

        Raises:
            TemplateError: one cannot be read.
        """
        read: dict[tuple[str, str], dict[str, NestedTemplate]] = {}
        for name, path, part, source in answer_templates(tools):
            at = f"{field}.{path}.{part}"
            read.setdefault((name, path), {})[part] = NestedTemplate(source, at)
        self._rules: defaultdict[str, list[_Rule]] = defaultdict(list)
        for (name, _), parts in read.items():
            self._rules[name].append(_Rule(parts["when"], parts["answer"]))
        self.names = frozenset(
            used
            for parts in read.values()
            for one in parts.values()
            for template in one.templates()
            for used in template.names
        ) - {"arguments"}
        """The columns of a case that they use."""

    def __bool__(self) -> bool:
        """Return whether any tool is answered."""
        return bool(self._rules)

    def knows(self, name: str) -> bool:
        """Return whether a tool has answers, whatever they are for."""
        return name in self._rules

    def answer(self, call: RequestedCall, names: Names) -> str | None:
        """Return what a tool gives; None: it has no answer for these arguments.

        Raises:
            TemplateError: an answer cannot be rendered.
        """
        seen: dict[str, Json] = {**names, "arguments": call.arguments}
        for rule in self._rules.get(call.name, ()):
            if _holds(rule.when, seen):
                given = rule.answer.value(seen)
                return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        return None


def _holds(when: NestedTemplate, seen: Names) -> bool:
    try:
        return holds(when.value(seen))
    except TemplateError:
        return False  # the model has left an argument out, or given one of another type
