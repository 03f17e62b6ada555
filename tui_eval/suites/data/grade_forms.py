"""Grades as people write them: which are valid for a question, and how each is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tui_eval.model.json import Json
from tui_eval.suites.scorers.judge.judge_fields import MET_OR_NOT, is_number

RANKED: Final = frozenset({"scale", "criteria"})
"""Forms of a question whose grades have an order."""
_VERDICTS: Final = {"pass": True, "fail": False}


@dataclass(frozen=True, slots=True)
class GradeQuestion:
    """The question a person graded by, as far as it decides which grades are valid."""

    scorer: str
    form: str
    """scale, pass-fail, requirements or criteria."""
    low: float = 0.0
    high: float = 1.0
    count: int | None = None
    """How many requirements or criteria there are; None: it depends on the case."""


@dataclass(frozen=True, slots=True)
class PersonGrade:
    """What a person said of an output: one of the three."""

    score: float | None = None
    """The grade in units of the scale."""
    passed: bool | None = None
    """The verdict."""
    parts: tuple[float, ...] | None = None
    """1 or 0 for each requirement, or the grade of each criterion, in their order."""


def read_grade(grade: Json, question: GradeQuestion) -> PersonGrade:
    """Return what a valid grade says (see `wrong_grade`)."""
    passed = _verdict(grade, question)
    if passed is not None:
        return PersonGrade(passed=passed)
    if isinstance(grade, list):
        numbers = (one for one in grade if isinstance(one, int | float))
        return PersonGrade(parts=tuple(float(one) for one in numbers))
    return PersonGrade(score=float(str(grade)) if is_number(grade) else None)


def wrong_grade(grade: Json, question: GradeQuestion) -> Iterator[str]:
    """Yield what is wrong with a grade; nothing where it is valid."""
    if _verdict(grade, question) is not None:
        return
    match question.form:
        case "scale":
            if not is_number(grade):
                yield f"must be {of_scale(question)}, or pass or fail"
            elif not question.low <= float(str(grade)) <= question.high:
                yield f"must be {of_scale(question)}, not {grade}"
        case "requirements" | "criteria":
            yield from _wrong_parts(grade, question)
        case _:
            yield 'must be "pass" or "fail"'


def of_scale(question: GradeQuestion) -> str:
    """Say what a grade of a scale is."""
    return f"a number from {question.low:g} to {question.high:g}"


def _wrong_parts(grade: Json, question: GradeQuestion) -> Iterator[str]:
    of_each = "true or false" if question.form == "requirements" else of_scale(question)
    if not isinstance(grade, list) or not grade:
        yield f"must be a list with {of_each} for each of the {question.form}"
        return
    if question.count is not None and len(grade) != question.count:
        yield f"has {len(grade)} items for {question.count} {question.form}"
    for number, one in enumerate(grade, 1):
        right = (
            isinstance(one, bool)
            if question.form == "requirements"
            else is_number(one) and question.low <= float(str(one)) <= question.high
        )
        if not right:
            yield f"item {number} must be {of_each}"


def _verdict(grade: Json, question: GradeQuestion) -> bool | None:
    """Return a grade that is a verdict, which every form takes; None: it is not one."""
    if isinstance(grade, bool):
        return grade
    if isinstance(grade, str):
        return _VERDICTS.get(grade.strip().lower())
    if question.form == MET_OR_NOT and grade in (0, 1):
        return bool(grade)
    return None
