"""A suite's scorers, ready to make the checks of its cases."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from pydantic import ConfigDict, TypeAdapter

from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject, canonical
from tui_eval.model.outputs.output import Failure
from tui_eval.scoring.check import Check, Subject
from tui_eval.suites.scorers import ScorerSpec
from tui_eval.suites.scorers.setting_error import SettingError
from tui_eval.suites.templates.template import NestedTemplate, Template, TemplateError, holds

Names: TypeAlias = Mapping[str, Json]

_ASKED: Final = frozenset(("prompt", "messages"))


class Scorers:
    """The scorers of one suite, compiled once.

    A trial's checks are made in two moments: `problem` tells before anything is asked of a target
    what is wrong for a case already, `checks` gives what its output is graded by.
    """

    def __init__(
        self, specs: Sequence[ScorerSpec], late: frozenset[str] = frozenset(("output", "fields"))
    ) -> None:
        """Compile the scorers' templates.

        Args:
            specs: The suite's scorers.
            late: Names that only an output brings, see `Suite.names_of_output`.

        Raises:
            TemplateError: when a template cannot be read.
            SettingError: when a setting that is no template asks nothing.
        """
        self._scorers = [_Scorer(spec) for spec in specs]
        self._late = late
        self._look_at_asked = any(scorer.looks_at_asked for scorer in self._scorers)

    def look_at_asked(self, case: Case) -> bool:
        """Tell whether what was asked may matter to a case's scores: else it need not be rendered.

        It does to judges, to programs, and to templates that name it.
        """
        if self._look_at_asked or not case.scorers:
            return self._look_at_asked
        return any(scorer.looks_at_asked for scorer in self._of(case))

    def checks(self, subject: Subject) -> list[Check] | Failure:
        """Make the checks of a trial, in the suite's order, the case's own last.

        A scorer the case skips, whose `when` is false, or that is for other targets, has none. An
        undefined name or a null in `expected` is an error of the case: the failure that ends its
        trial.
        """
        names = subject.names(self._late)
        asked = subject.input()
        checks = []
        for scorer in self._of(subject.case):
            try:
                if scorer.applies(names, subject.target):
                    seen = subject.seen_by_programs() if scorer.runs_program else asked
                    checks.append(scorer.check(names, seen))
            except (TemplateError, SettingError) as error:
                return _failure(scorer.name, error)
        return checks

    def check(self, scorer: str, subject: Subject, asked: Json) -> Check | Failure:
        """Make the check of one of the suite's scorers, whether it would apply or not.

        Args:
            scorer: The scorer's name; a `KeyError` where there is none.
            subject: What its templates see.
            asked: What was asked.
        """
        made = {one.name: one for one in self._scorers}[scorer]
        try:
            return made.check(subject.names(self._late), asked)
        except (TemplateError, SettingError) as error:
            return _failure(scorer, error)

    def problem(self, subject: Subject) -> Failure | None:
        """Say what is wrong for a case before it has an output; None: nothing that can be known.

        Templates that look at the output are left for `checks`.
        """
        names = subject.names(self._late)
        for scorer in self._of(subject.case):
            try:
                scorer.try_out(names, subject.target, self._late)
            except (TemplateError, SettingError) as error:
                return _failure(scorer.name, error)
        return None

    def _of(self, case: Case) -> "list[_Scorer]":
        if not case.skip and not case.scorers:
            return self._scorers
        kept = [scorer for scorer in self._scorers if scorer.name not in case.skip]
        return kept + [_own(canonical(settings)) for settings in case.scorers]


def _failure(scorer: str, error: TemplateError | SettingError) -> Failure:
    return Failure(kind="template", message=f'scorer "{scorer}": {error}')


_SPECS: Final[TypeAdapter[ScorerSpec]] = TypeAdapter(
    ScorerSpec, config=ConfigDict(defer_build=True)
)


@lru_cache(maxsize=1024)
def _own(settings: bytes) -> "_Scorer":
    """Compile a scorer that a case brings along; equal ones are compiled once."""
    return _Scorer(_SPECS.validate_json(settings))


class _Scorer:
    """One scorer: its fixed settings, and what is rendered for each case."""

    def __init__(self, spec: ScorerSpec) -> None:
        self.name = spec.name
        self._kind = spec.kind
        self._settle = spec.settle
        self._weight = float(spec.weight)
        self._required = spec.required
        self._negate = spec.negate
        self._targets = spec.targets
        self._when = None if spec.when is None else Template(spec.when, "when")
        settings = spec.own_settings()
        self._templates = {
            field: NestedTemplate(settings[field], field)
            for field in spec.TEMPLATED
            if field in spec.templates_in(settings)
        }
        self._settings = settings if self._templates else spec.settle(settings)
        templates = [part for made in self._templates.values() for part in made.templates()]
        if self._when is not None:
            templates.append(self._when)
        named = frozenset[str]().union(*(template.names for template in templates))
        self.runs_program = spec.RUNS_PROGRAM
        decided_elsewhere = spec.asks_judge or spec.RUNS_PROGRAM
        self.looks_at_asked = decided_elsewhere or not named.isdisjoint(_ASKED)

    def applies(self, names: Names, target: str | None) -> bool:
        """Tell whether it is for the target, and its `when` holds."""
        if self._targets is not None and target is not None and target not in self._targets:
            return False
        if self._when is None:
            return True
        return holds(self._when.value(names))

    def check(self, names: Names, asked: Json) -> Check:
        """Render it for a case."""
        return Check(
            name=self.name,
            kind=self._kind,
            settings=self._rendered(names),
            input=asked,
            weight=self._weight,
            required=self._required,
            negate=self._negate,
        )

    def _rendered(self, names: Names) -> JsonObject:
        if not self._templates:
            return self._settings
        settings = dict(self._settings)
        for field, template in self._templates.items():
            value = template.value(names)
            if value is None:
                raise SettingError(f"{field} is null")
            settings[field] = value
        return self._settle(settings)

    def try_out(self, names: Names, target: str | None, late: frozenset[str]) -> None:
        """Render what can be rendered without the names that an output brings."""
        if self._when is not None and self._when.names & late:
            return
        if not self.applies(names, target):
            return
        templates = [part for made in self._templates.values() for part in made.templates()]
        if not any(template.names & late for template in templates):
            self._rendered(names)
