"""Grades by hand as a request carries them, and what they do to trials."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.engine.control.refusal import Refusal
from tui_eval.model.grade_words import grade_words
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade, Score
from tui_eval.model.states import Verdict
from tui_eval.store.requests import Outcome
from tui_eval.store.tx import Tx
from tui_eval.store.write.people import human_scores

HUMAN: Final = "human"
"""The source of a person's scores."""
_OUTCOMES: Final = {
    human_scores.NOT_DONE: Outcome.TOO_EARLY,
    human_scores.SAME: Outcome.ALREADY,
    human_scores.NONE_BY_HAND: Outcome.ALREADY,
}


@dataclass(frozen=True, slots=True)
class HandGrade:
    """A person's score of one trial's output; without one it is withdrawn."""

    trial: int
    output: int
    scorer: str
    score: Score | None
    """None: the person's score is withdrawn."""


def hand_score(
    scorer: str, grade: Grade, *, by: str, given: Json, note: str, weight: float, required: bool
) -> Score:
    """Return a person's grade as a score that counts.

    Args:
        scorer: The scorer.
        grade: What the grade comes to; a bare verdict has no value, and gets 1 or 0 here.
        by: The person.
        given: The grade as the person gave it.
        note: Why, in the person's words; empty: not said.
        weight: The scorer's weight.
        required: Whether the scorer is part of the verdict.
    """
    value = grade.value if grade.value is not None else float(grade.verdict is Verdict.PASS)
    reason = f"{grade_words(given)} by {by}{f': {note}' if note else ''}"
    raw: JsonObject = {"by": by, "grade": given}
    return Score(scorer, Grade(grade.verdict, value, reason, raw), weight, required, HUMAN)


def request_args(grades: Sequence[HandGrade]) -> JsonObject:
    """Return the arguments of a request that gives or withdraws grades."""
    trials: list[Json] = list(dict.fromkeys(one.trial for one in grades))
    listed: list[Json] = [_as_json(one) for one in grades]
    return {"trials": trials, "grades": listed}


def read(args: JsonObject) -> dict[int, list[HandGrade]]:
    """Return the grades of a request by their trials.

    Raises:
        ValueError: it has none, or they are not as `request_args` gives them.
    """
    listed = args.get("grades")
    if not isinstance(listed, list) or not listed:
        raise ValueError("the request has no grades")
    found: dict[int, list[HandGrade]] = {}
    try:
        for entry in listed:
            one = _from_json(entry)
            found.setdefault(one.trial, []).append(one)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"a grade of the request cannot be read: {error!r}") from error
    return found


def apply(
    grades: Mapping[int, Sequence[HandGrade]], request: int, tx: Tx, trial: int
) -> bool | Refusal:
    """Give a trial its grades, or withdraw them.

    Args:
        grades: By trial.
        request: The request that asks for it.
        tx: The transaction.
        trial: The trial.

    Returns:
        Whether it was moved, or why not.
    """
    refused: list[str] = []
    moved = False
    for one in grades.get(trial, ()):
        if one.score is None:
            why = human_scores.withdraw(tx, trial, one.scorer, request)
        else:
            why = human_scores.grade(tx, trial, one.output, one.score, request)
        moved = moved or why is None
        refused += [] if why is None else [why]
    if moved:
        return True
    why = refused[0] if refused else human_scores.NOT_SCORED
    return Refusal(_OUTCOMES.get(why, Outcome.CLOSED), why)


def _as_json(one: HandGrade) -> JsonObject:
    entry: JsonObject = {"trial": one.trial, "output": one.output, "scorer": one.scorer}
    if one.score is None:
        return entry
    grade = one.score.grade
    return entry | {
        "verdict": grade.verdict,
        "value": grade.value,
        "reason": grade.reason,
        "raw": grade.raw,
        "weight": one.score.weight,
        "required": one.score.required,
    }


def _from_json(entry: Json) -> HandGrade:
    if not isinstance(entry, dict):
        raise TypeError("a grade is an object")
    trial, output, scorer = int(str(entry["trial"])), int(str(entry["output"])), entry["scorer"]
    if "verdict" not in entry:
        return HandGrade(trial, output, str(scorer), None)
    value = float(str(entry["value"]))
    grade = Grade(Verdict(str(entry["verdict"])), value, str(entry["reason"]), entry["raw"])
    weight, required = float(str(entry["weight"])), bool(entry["required"])
    score = Score(str(scorer), grade, weight, required, HUMAN)
    return HandGrade(trial, output, str(scorer), score)
