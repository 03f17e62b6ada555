"""What a suite says of how the calls of its tools are answered."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.loading.toml_lines import Path

ANSWERS: Final = "answers"
"""The field of a tool that no endpoint is sent."""
KNOWN_LATE: Final = frozenset(("arguments",))
"""What templates of answers know beside a case's columns: what the tool was called with."""
_FIELDS: Final = ("when", "answer")


def sent_tool(tool: Mapping[str, Json]) -> JsonObject:
    """Return a tool as endpoints are sent it."""
    return {name: value for name, value in tool.items() if name != ANSWERS}


def tool_name(tool: Mapping[str, Json]) -> str | None:
    """Return a tool's name; None: it has none, as those of the endpoint's own."""
    function = tool.get("function")
    name = function.get("name") if isinstance(function, dict) else tool.get("name")
    return name if isinstance(name, str) else None


def answer_templates(tools: Sequence[Mapping[str, Json]]) -> Iterator[tuple[str, str, str, Json]]:
    """Yield each field of an answer: the tool, the answer's path, the field, what it says."""
    for place, tool in enumerate(tools):
        answers, name = tool.get(ANSWERS), tool_name(tool)
        for number, answer in enumerate(answers if isinstance(answers, list) else ()):
            if isinstance(answer, dict) and name is not None:
                path = f"tools[{place}].{ANSWERS}[{number}]"
                for field in _FIELDS:
                    yield name, path, field, answer.get(field, True if field == "when" else None)


def answer_mistakes(tools: object) -> Iterator[FieldMistake]:
    """Yield what is wrong with the answers of tools as they are written."""
    for place, tool in enumerate(tools if isinstance(tools, list | tuple) else ()):
        if not isinstance(tool, Mapping) or ANSWERS not in tool:
            continue
        at = ("tools", place, ANSWERS)
        answers = tool[ANSWERS]
        if tool_name(tool) is None:
            yield FieldMistake(at, "the tool has no name", 'give function = { name = "…" }')
        if not isinstance(answers, list):
            hint = 'write answers = [{ when = "{{ … }}", answer = "…" }]'
            yield FieldMistake(at, "must be a list of tables", hint)
            continue
        for number, answer in enumerate(answers):
            yield from _mistakes_of((*at, number), answer)


def _mistakes_of(at: tuple[str | int, ...], answer: object) -> Iterator[FieldMistake]:
    if not isinstance(answer, Mapping):
        yield FieldMistake(at, "must be a table", 'write { when = "{{ … }}", answer = "…" }')
        return
    for name in answer:
        if name not in _FIELDS:
            yield FieldMistake((*at, str(name)), "unknown key", f"there are {', '.join(_FIELDS)}")
    if answer.get("answer") is None:
        yield FieldMistake((*at, "answer"), "is missing", "say what the tool gives")
    when = answer.get("when")
    if when is not None and not isinstance(when, str | bool):
        yield FieldMistake((*at, "when"), "must be a template", 'write "{{ arguments.x == 1 }}"')


def written_answers(tools: object) -> Iterator[tuple[Path, Json]]:
    """Yield what answers say and when, as they are written, with where each stands."""
    for place, tool in enumerate(tools if isinstance(tools, list | tuple) else ()):
        answers = tool.get(ANSWERS) if isinstance(tool, Mapping) else None
        for number, answer in enumerate(answers if isinstance(answers, list) else ()):
            for field in _FIELDS if isinstance(answer, Mapping) else ():
                yield ("tools", place, ANSWERS, number, field), answer.get(field)
