"""What scorers say of outputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.json import Json
from tui_eval.model.states import Verdict


@dataclass(frozen=True, slots=True)
class Grade:
    """One scorer's judgement of one output, before it belongs to a trial."""

    verdict: Verdict
    value: float | None
    """In 0..1; None exactly where the verdict is `ungraded`."""
    reason: str
    """One line for a person: expected against got, or why it is ungraded."""
    raw: Json = None
    """What the scorer saw or measured: the extracted number, the distance, the judge's score."""

    @classmethod
    def of(cls, passed: bool, reason: str, raw: Json = None) -> "Grade":
        """Make the grade of a check that is either met or not."""
        verdict = Verdict.PASS if passed else Verdict.FAIL
        return cls(verdict, 1.0 if passed else 0.0, reason, raw)

    @classmethod
    def ungraded(cls, reason: str, raw: Json = None) -> "Grade":
        """Make the grade of a check that could not be made."""
        return cls(Verdict.UNGRADED, None, reason, raw)


@dataclass(frozen=True, slots=True)
class Score:
    """A grade in a trial's history."""

    scorer: str
    grade: Grade
    weight: float = 1.0
    required: bool = True
    """False: reported beside the verdict, never part of it."""
    source: str = "code"
    """`code`, `judge` or `human`."""
    cached: bool = False
    """A judge's, made wholly of findings that the store had already."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What all scores of a trial come to."""

    verdict: Verdict
    score: float | None
    """The weighted mean of the required, graded scores; None where there is none."""


def tally(scores: Sequence[Score]) -> Tally:
    """Put a trial's applicable scores together.

    A trial passes when every required score passes, is ungraded when any required one is, and
    fails otherwise. Where nothing is required of the output, it passes, and has no score.
    """
    required = [score for score in scores if score.required]
    graded = [score for score in required if score.grade.value is not None]
    weight = sum(score.weight for score in graded)
    mean = (
        sum(score.weight * (score.grade.value or 0.0) for score in graded) / weight
        if weight
        else None
    )
    if len(graded) < len(required):
        return Tally(Verdict.UNGRADED, mean)
    passed = all(score.grade.verdict is Verdict.PASS for score in required)
    return Tally(Verdict.PASS if passed else Verdict.FAIL, mean)
