"""A scorer as rendered for one case."""

from collections.abc import Collection
from typing import Final

from tui_eval.model.case import Case
from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.outputs.conversation import read_by_people
from tui_eval.model.outputs.output import Output
from tui_eval.scoring.rules import call_figures
from tui_eval.suites.scorers import SCORERS

GRADING: Final = 1
"""Raised when any kind of scorer comes to judge differently, so that no old score is reused."""

_PROGRAMS: Final = frozenset(kind for kind, model in SCORERS.items() if model.RUNS_PROGRAM)
"""The kinds that a program decides."""


@frozen
class Subject:
    """What scorers see of a trial."""

    case: Case
    prompt: str | None = None
    """The rendered user text; None where there is no prompt, as for a replay."""
    messages: tuple[JsonObject, ...] = ()
    """The rendered request, examples and session included."""
    output: Output | None = None
    """None: not produced yet."""
    target: str | None = None
    """Whose output it is; None: nobody's in particular, as gold's."""
    conversation: tuple[JsonObject, ...] = ()
    """Those of `messages` that are neither instructions nor examples."""

    def names(self, late: Collection[str]) -> dict[str, Json]:
        """Return what scorers' templates can name; `late` are those that only an output brings.

        The case's fields stand at top level; a field with one of the other names is reached by
        `case.NAME`.
        """
        names: dict[str, Json] = {
            **self.case.fields,
            "case": self.case.fields,
            "prompt": self.prompt,
            "messages": [read_by_people(one) for one in self.messages],
        }
        brought: dict[str, Json] = {}
        if self.output is not None:
            brought = {"output": self.output.text, "fields": self.output.fields}
        for name in late:
            names.pop(name, None)
        return names | {name: value for name, value in brought.items() if name in late}

    def input(self) -> Json:
        """Return what was asked, as judges see it and score keys have it.

        That is the question, and where something was said before it the whole conversation.
        """
        if len(self.conversation) > 1:
            return [read_by_people(one) for one in self.conversation]
        if self.prompt is not None:
            return self.prompt
        return list(self.messages) if self.messages else self.case.fields

    def seen_by_programs(self) -> Json:
        """Return what of a trial programs see beside its output, as it goes into score keys."""
        return {"case": self.case.fields, "messages": list(self.messages)}


@frozen
class Check:
    """What one scorer asks of one case's output."""

    name: str
    kind: str
    settings: JsonObject
    """All that decides the grade, as rendered for the case: expected, of, threshold, flags."""
    input: Json = None
    """What was asked; see `Subject.input`, and of programs `Subject.seen_by_programs`."""
    weight: float = 1.0
    required: bool = True
    negate: bool = False
    """`not = true`: a pass is a fail and a fail a pass."""

    @property
    def asks_judge(self) -> bool:
        """Whether a judge grades, or the suite's embedding, and no rule."""
        return "judges" in self.settings

    @property
    def runs_program(self) -> bool:
        """Whether a program decides, and no rule."""
        return self.kind in _PROGRAMS

    @property
    def of(self) -> str:
        """The part of the output that is judged."""
        return str(self.settings.get("of", "text"))

    def key(self, output: Output) -> bytes:
        """Return the score key (32 bytes): the same key is the same grade.

        Over the output, what was asked and the scorer as rendered; not over its name, weight or
        whether it is required. A program is not known by it alone: see `engine.grading`.
        """
        # a figure of the call is no part of the output's digest
        figure = call_figures.FIGURES.get(self.kind)
        judged: Json = figure(self.settings, output) if figure else output.digest().hex()
        scorer: list[Json] = [GRADING, self.kind, self.negate, self.settings, self.input, judged]
        return digest(scorer)
