"""The names that templates need, and no case has."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from tui_eval.suites.loading.errors import Mistake, did_you_mean
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.mistake_places import mistake
from tui_eval.suites.survey.tried_templates import tried_templates
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.templates.template import RESERVED


def unknown_names(suite: Suite, columns: Collection[str]) -> tuple[Mistake, ...]:
    """Return a mistake for each name that templates need and no case has.

    Names a template asks about first (`is defined`, `default`) are not needed, nor are those of a
    scorer whose `when` asks about them. `check`, `run` and the app refuse a suite by this alone.

    Args:
        suite: The suite.
        columns: The top-level columns of all its cases together.
    """
    found: dict[tuple[str, str], Mistake] = {}
    for need in _needed(suite):
        there = columns if need.columns is None else need.columns
        for name in sorted(need.names - {*there, *need.given}):
            whose = "no case" if need.columns is None else "no example"
            message = f'{whose} has "{name}"'
            hint = did_you_mean(name, sorted(there))
            if name in RESERVED:
                hint = _NOT_THERE.get(name, f"{name} is known to scorers only")
            found[(need.field, name)] = mistake(suite, need.field, message, hint)
    return tuple(found.values())


_NOT_THERE: Final = {
    "prompt": "there is no [prompt]",
    "messages": "there is no [prompt]",
    "examples": 'only a prompt whose examples have as = "text" knows them',
    "fields": "no target gives fields",
    "workspace": "no target has a workspace",
}


@dataclass(frozen=True, slots=True)
class _Need:
    """The names a template needs."""

    field: str
    names: frozenset[str]
    given: frozenset[str]
    """Names it knows beside columns."""
    columns: frozenset[str] | None = None
    """The columns it sees, where they are not those of cases."""


_TO_PROMPTS: Final = frozenset(("case",))
_TO_TARGETS: Final = frozenset(("case", "prompt", "messages"))


def _needed(suite: Suite) -> Iterator[_Need]:
    for prompt in Renderer(suite).prompts():
        examples = frozenset(("examples",)) if prompt.examples_as_text else frozenset()
        for template in prompt.templates:
            yield _Need(template.field, template.required, _TO_PROMPTS | examples)
        where = prompt.examples_where
        if where is not None:
            yield _Need(where.field, where.required, _TO_PROMPTS | {"example"})
        for template in prompt.example_templates:
            columns = prompt.example_columns
            yield _Need(template.field, template.required, _TO_PROMPTS, columns)
    to_scorers = _TO_TARGETS | suite.names_of_output
    to_targets = _TO_TARGETS if suite.prompts else _TO_PROMPTS
    for tried in tried_templates(suite):
        given = to_targets | tried.late if tried.scorer is None else to_scorers
        yield _Need(tried.field, tried.template.required - tried.asked, given)
