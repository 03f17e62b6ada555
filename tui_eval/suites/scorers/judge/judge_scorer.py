"""The scorer that asks a judge: `judge`."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, JsonValue, StrictBool, StrictStr, model_validator

from tui_eval.model.json import JsonObject
from tui_eval.suites.scorers.judge.judge_fields import (
    MET_OR_NOT,
    Criteria,
    Judges,
    Requirements,
    Scale,
)
from tui_eval.suites.scorers.judge.judge_settings import judged
from tui_eval.suites.scorers.scorer import Asks, Number, Scorer

_FORMS: Final = ("rubric", "requirements", "criteria")


class JudgeScorer(Scorer):
    """A model grades the output by a rubric."""

    TEMPLATED: ClassVar[tuple[str, ...]] = (
        "rubric",
        "requirements",
        "criteria",
        "reference",
        "show",
    )

    kind: Literal["judge"]
    rubric: StrictStr | None = Field(
        default=None,
        min_length=1,
        description="What is graded and what each grade means; needs `scale`. Give one of rubric, "
        "requirements and criteria.",
    )
    scale: Scale | None = Field(
        default=None,
        description="The lowest and the highest grade of a rubric or of each criterion, as in "
        '[1, 5]; or "pass-fail", of a rubric.',
    )
    requirements: Requirements | None = Field(
        default=None,
        description="What has to be met: texts, each met or not; the value is the share met. A "
        "template may give the list.",
    )
    criteria: Criteria | None = Field(
        default=None,
        description="What is graded line by line: tables { name, text, weight }, each with a "
        "grade of the scale; the value is the weighted mean. A template may give the list.",
    )
    reference: JsonValue = Field(
        default=None, description="A right answer, for the judge to compare with."
    )
    show: dict[str, JsonValue] | None = Field(
        default=None,
        min_length=1,
        description='What else the judge sees, by name: { contexts = "{{ contexts }}" }.',
    )
    judge: Judges | None = Field(
        default=None,
        description="The name of the judge; a list is a jury. Default: the suite's only judge, or "
        'the one called "judge".',
    )
    per_requirement: StrictBool = Field(
        default=False,
        description="true: one question for each requirement, instead of one for all.",
    )
    pass_at: Number | None = Field(
        default=None,
        description="The least grade that passes, in units of the scale, in place of `threshold`.",
    )
    threshold: Annotated[Number, Field(ge=0, le=1)] | None = Field(
        default=None,
        description="The least value, 0 to 1, that passes. Default: 1 for requirements (all are "
        "met), 0.5 on a scale.",
    )
    ungraded_requirements: Literal["ungraded", "unmet"] = Field(
        default="ungraded",
        description='"unmet": requirements that the judge left ungraded count as not met, and '
        "their number is said. Default: they leave the score ungraded where they could turn it.",
    )
    vote: Literal["majority", "mean"] = Field(
        default="majority",
        description="What decides in a jury: most verdicts, or the mean of the values.",
    )

    @classmethod
    def asks(cls, table: Mapping[str, object]) -> Asks | None:
        """Return that a judge does."""
        return "judge"

    @model_validator(mode="after")
    def _asks_one_thing(self) -> "JudgeScorer":
        given = [form for form in _FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            also = f", not {' and '.join(given)}" if given else ""
            raise ValueError(f"give one of rubric, requirements and criteria{also}")
        if given == ["requirements"]:
            self._without_scale()
        else:
            self._with_scale(given[0])
        if given != ["requirements"]:
            if self.per_requirement:
                raise ValueError("per_requirement goes with requirements only")
            if self.ungraded_requirements != "ungraded":
                raise ValueError("ungraded_requirements goes with requirements only")
        return self

    def _without_scale(self) -> None:
        if self.scale is not None:
            raise ValueError("requirements are met or not: they take no scale (criteria do)")
        if self.pass_at is not None:
            raise ValueError("requirements have no scale for pass_at: give the share as threshold")

    def _with_scale(self, form: str) -> None:
        if self.scale is None:
            hint = f', or "{MET_OR_NOT}"' if form == "rubric" else ""
            raise ValueError(f"{form} needs a scale, as in scale = [1, 5]{hint}")
        if isinstance(self.scale, str):
            if form == "criteria":
                raise ValueError(
                    f'criteria are graded on a scale such as [1, 5], not "{self.scale}": '
                    "requirements are met or not"
                )
            if self.pass_at is not None or self.threshold is not None:
                raise ValueError(f'scale = "{MET_OR_NOT}" takes neither pass_at nor threshold')
            return
        low, high = self.scale
        if self.pass_at is not None:
            if self.threshold is not None:
                raise ValueError("give pass_at, in units of the scale, or threshold, not both")
            if not low <= self.pass_at <= high:
                raise ValueError(f"pass_at = {self.pass_at:g} is not within {low:g} to {high:g}")

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return the one form that questions are made of, see `judged`."""
        return judged(settings)

    def judges_named(self) -> tuple[str, ...]:
        """Return the judges that it names; empty: the suite's only one."""
        return tuple(self.judge or ())
