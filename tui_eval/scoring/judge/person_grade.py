"""A person's grade of an output, in the form that scorers give theirs."""

from typing import Final, Protocol

from tui_eval.model.json import Json
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check
from tui_eval.scoring.grading import negated
from tui_eval.scoring.judge.item import bounds
from tui_eval.scoring.judge.reading import Finding, PartFinding
from tui_eval.scoring.judge.verdict import JudgeOpinion, grade
from tui_eval.suites.data.grade_forms import GradeQuestion
from tui_eval.suites.scorers.judge.judge_fields import MET_OR_NOT
from tui_eval.suites.scorers.judge.judge_settings import SIMILARITY

_THRESHOLD: Final = "threshold"
"""The setting of scorers that give values: the least that passes."""


class GivenGrade(Protocol):
    """What a person said: one of the three."""

    @property
    def score(self) -> float | None:
        """The grade in units of the scale."""

    @property
    def passed(self) -> bool | None:
        """The verdict."""

    @property
    def parts(self) -> tuple[float, ...] | None:
        """1 or 0 for each requirement, or the grade of each criterion, in their order."""


def person_grade(check: Check, given: GivenGrade) -> Grade:
    """Return a person's grade in the form a judge's has; a bare verdict has no value.

    A verdict is what the scorer is to say, also of one with `not = true`; a number or list answers
    its question, as a judge's does.
    """
    if given.passed is not None:
        verdict = Verdict.PASS if given.passed else Verdict.FAIL
        return Grade(verdict, None, "a person's verdict")
    if not _has_judges_form(check):
        return _of_rule(check, given.score)
    if given.parts is not None:
        parts = {number: PartFinding(value, "") for number, value in enumerate(given.parts, 1)}
    else:
        parts = {} if given.score is None else {0: PartFinding(given.score, "")}
    return grade(check, [JudgeOpinion("a person", 0, Finding(parts), None)])


def _of_rule(check: Check, score: float | None) -> Grade:
    """Return the grade of a value in 0..1, as a scorer with a threshold gives it."""
    if score is None:
        return Grade.ungraded("a list of grades, and the scorer has one")
    threshold = check.settings.get(_THRESHOLD)
    least = threshold if isinstance(threshold, int | float) else 1.0
    verdict = Verdict.PASS if score >= least - 1e-9 else Verdict.FAIL
    return negated(check, Grade(verdict, score, "a person's value"))


def question_of(check: Check) -> GradeQuestion:
    """Return what a person is asked by a check.

    Of one that no judge decides, a value from 0 to 1 where it gives values, else pass or fail.
    """
    if not _has_judges_form(check):
        form = "scale" if _THRESHOLD in check.settings else MET_OR_NOT
        return GradeQuestion(check.name, form)
    form = str(check.settings["form"])
    if form == MET_OR_NOT:
        return GradeQuestion(check.name, form)
    low, high = bounds(check.settings)
    return GradeQuestion(check.name, form, low, high, len(lines_of(check)) or None)


def _has_judges_form(check: Check) -> bool:
    """Whether a check is a judge's question by a rubric, and no rule or similarity."""
    return check.settings.get("form", SIMILARITY) != SIMILARITY


def lines_of(check: Check) -> list[str]:
    """Return the requirements of a check, or its criteria; empty: it is graded as a whole."""
    listed = check.settings.get("requirements") or check.settings.get("criteria")
    return [_line(one) for one in listed] if isinstance(listed, list) else []


def _line(entry: Json) -> str:
    if not isinstance(entry, dict):
        return str(entry)
    return f"{entry.get('name')}: {entry.get('text')}"
