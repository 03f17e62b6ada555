"""Outputs that a person has graded, against which a judge is measured."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tui_eval.model.case import Case
from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.grade_forms import GradeQuestion, read_grade, wrong_grade
from tui_eval.suites.judge_choice import judges_of
from tui_eval.suites.loading.errors import did_you_mean
from tui_eval.suites.scorers.judge.judge_fields import MET_OR_NOT, is_number
from tui_eval.suites.spec import Suite

_UNSEEN: Final = ("grade", "scorer")
"""Columns no template sees: a judge that knew the grade would agree with it."""
GoldMistake: TypeAlias = tuple[str, str, str | None]
"""What is wrong with a row: its column, what, and what to do."""


@dataclass(frozen=True, slots=True)
class Gold:
    """One output with a person's grade: one of `score`, `passed` and `parts`."""

    scorer: str
    """The judge scorer whose question the person answered."""
    case: Case
    """The row as a case, for templates; it has neither the grade nor the scorer's name."""
    input: Json
    """What was asked."""
    output: str
    score: float | None = None
    """The grade in units of the scale."""
    passed: bool | None = None
    """The verdict."""
    parts: tuple[float, ...] | None = None
    """1 or 0 for each requirement, or the grade of each criterion, in their order."""


def gold(suite: Suite, judge: str) -> tuple[Gold, ...]:
    """Return the gold of a judge in a loaded suite; empty: it has none, or no scorer asks it.

    Args:
        suite: The suite.
        judge: The judge's name.
    """
    spec = next(one for one in suite.judges if one.name == judge)
    rows = spec.gold if isinstance(spec.gold, tuple) else ()
    scorers = [scorer.model_dump(mode="json", by_alias=True) for scorer in suite.scorers]
    asked = questions(scorers, judge, [one.name for one in suite.judges])
    return tuple(_gold(number, row, asked) for number, row in enumerate(rows, 1)) if asked else ()


def _gold(number: int, row: JsonObject, asked: Sequence[GradeQuestion]) -> Gold:
    fields = {name: value for name, value in row.items() if name not in _UNSEEN}
    grade = row["grade"]
    named = row.get("scorer")
    question = next(one for one in asked if named is None or one.scorer == named)
    read = read_grade(grade, question)
    return Gold(
        scorer=question.scorer,
        case=Case(seq=number - 1, id=f"gold {number}", fields=fields),
        input=row["input"],
        output=str(row["output"]),
        score=read.score,
        passed=read.passed,
        parts=read.parts,
    )


def questions(
    scorers: Sequence[JsonObject], judge: str, judges: Sequence[str]
) -> list[GradeQuestion]:
    """Return what a suite's scorers ask a judge, invalid scorers left out."""
    found = []
    for scorer in scorers:
        name, scale = scorer.get("name", scorer.get("kind")), scorer.get("scale")
        if judge not in judges_of(scorer, judges) or not isinstance(name, str):
            continue
        form = next((one for one in ("requirements", "criteria") if scorer.get(one)), "scale")
        items = scorer.get(form)
        count = len(items) if isinstance(items, list) else None
        if form == "scale" and scale == MET_OR_NOT:
            found.append(GradeQuestion(name, MET_OR_NOT))
        elif form == "requirements":
            found.append(GradeQuestion(name, form, count=count))
        elif isinstance(scale, list) and len(scale) == 2 and all(map(is_number, scale)):
            low, high = (float(str(bound)) for bound in scale)
            found.append(GradeQuestion(name, form, low, high, count))
    return found


def troubles(row: JsonObject, asked: Sequence[GradeQuestion]) -> Iterator[GoldMistake]:
    """Yield what is wrong with one row of gold.

    Args:
        row: The row.
        asked: What the judge is asked, see `questions`.
    """
    if "input" not in row:
        yield "input", "is missing: what was asked", None
    output = row.get("output")
    if not isinstance(output, str) or not output.strip():
        yield "output", "must be a text that is not empty", None
    if "grade" not in row:
        yield "grade", "is missing: what a person said of the output", None
        return
    names = [one.scorer for one in asked]
    named = row.get("scorer")
    if named is None and len(asked) > 1:
        hint = f"there are {', '.join(names)}"
        yield "scorer", "is missing: several scorers ask this judge", hint
    elif named is not None and named not in names and names:
        yield "scorer", f'no scorer "{named}" asks this judge', did_you_mean(str(named), names)
    else:
        for question in asked:
            if named is None or question.scorer == named:
                for message in wrong_grade(row["grade"], question):
                    yield "grade", message, None
