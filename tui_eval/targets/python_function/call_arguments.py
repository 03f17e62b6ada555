"""What a function is called with, as the suite says it."""

from typing import Any

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.templates.template import NestedTemplate, TemplateError


class CallArguments:
    """The arguments of a target's function, by place or by name."""

    def __init__(self, args: Any, target: str) -> None:  # noqa: ANN401 - as the suite has them
        """Compile the templates.

        Args:
            args: The target's `args`; None: it gets the prompt's text, or the case.
            target: The target's name.

        Raises:
            TemplateError: one cannot be read.
        """
        self._template = NestedTemplate(args, f"targets.{target}.args")
        self._given = args is not None
        self.positional = 1 if args is None else 0 if isinstance(args, dict) else len(args)
        """How many are given by place."""
        self.keywords = tuple(args) if isinstance(args, dict) else ()
        """The names of those given by name."""

    def request(self, renderer: Renderer, column: Column, case: Case) -> JsonObject | Failure:
        """Return `args` and `kwargs` of the call for a case."""
        try:
            names = renderer.target_names(column, case)
            if not self._given:
                asked = renderer.messages(column, case)
                one: Json = names["prompt"] if asked else case.fields
                return {"args": [one], "kwargs": {}}
            args = self._template.value(names)
        except TemplateError as error:
            return Failure("template", str(error))
        if isinstance(args, dict):
            return {"args": [], "kwargs": args}
        return {"args": args, "kwargs": {}}
