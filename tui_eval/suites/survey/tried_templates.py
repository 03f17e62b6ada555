"""The templates of a suite beside those of its prompts: of targets, the user and scorers."""

from dataclasses import dataclass

from tui_eval.suites.scorers.scorer import Scorer
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates.template import NestedTemplate


@dataclass(frozen=True, slots=True)
class TriedTemplate:
    """A template beside those of prompts."""

    field: str
    template: NestedTemplate
    scorer: str | None = None
    """The scorer it belongs to."""
    when: NestedTemplate | None = None
    """Where it gives false, the template is not used."""
    late: frozenset[str] = frozenset()
    """Names that it knows only once a target was asked, or has answered."""

    @property
    def asked(self) -> frozenset[str]:
        """Names its `when` looks at."""
        if self.when is None:
            return frozenset()
        return frozenset(name for one in self.when.templates() for name in one.names)

    @property
    def waits(self) -> bool:
        """Whether it needs an answer."""
        made = self.template.templates() + ([] if self.when is None else self.when.templates())
        return any(one.names & self.late for one in made)


def tried_templates(suite: Suite) -> list[TriedTemplate]:
    """Return the templates of targets, of the simulated user and of scorers, in this order."""
    found: list[TriedTemplate] = []
    for index, target in enumerate(suite.targets):
        for field, value in target.templates().items():
            path = f"targets[{index}].{field}"
            late = target.late_names(field)
            found.append(TriedTemplate(path, NestedTemplate(value, path), late=late))
    if suite.user is not None:
        for field, value in suite.user.templates().items():
            found.append(TriedTemplate(f"user.{field}", NestedTemplate(value, f"user.{field}")))
    for index, scorer in enumerate(suite.scorers):
        found += _of_scorer(scorer, f"scorers[{index}]", suite.names_of_output)
    return found


def _of_scorer(scorer: Scorer, path: str, late: frozenset[str]) -> list[TriedTemplate]:
    sources = scorer.templates()
    at = f"{path}.when"
    when = NestedTemplate(sources.pop("when"), at) if "when" in sources else None
    found = [
        TriedTemplate(
            f"{path}.{name}", NestedTemplate(value, f"{path}.{name}"), scorer.name, when, late
        )
        for name, value in sources.items()
    ]
    return found if when is None else [TriedTemplate(at, when, scorer.name, late=late), *found]
