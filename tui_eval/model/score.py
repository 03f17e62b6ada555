"""What scorers say of outputs."""

from collections.abc import Sequence
from typing import Final

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json
from tui_eval.model.states import Verdict

OF_OUTPUT: Final = "finish reason"
"""The name of the required score of an output that is no answer, where no scorer is required. No
scorer of a suite may be called so."""


@frozen
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


@frozen
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
    """A judge's or a program's, made wholly of what the store had already."""
    key: bytes | None = None
    """By which a program's grade is found again; None: it is not to be."""


@frozen
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
    weight = total = 0.0
    verdict = Verdict.PASS
    for score in scores:
        if not score.required:
            continue
        grade = score.grade
        if grade.value is None:
            verdict = Verdict.UNGRADED
            continue
        weight += score.weight
        total += score.weight * grade.value
        if grade.verdict is not Verdict.PASS and verdict is Verdict.PASS:
            verdict = Verdict.FAIL
    return Tally(verdict, total / weight if weight else None)
