"""From a check to the questions that one judge is asked, and from answers back to its word."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.engine.journey.trial_scoring import JudgedCheck
from tui_eval.engine.judging.question import AnswerRecipient, Question
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Score
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.item import split
from tui_eval.scoring.judge.reading import Finding, PartFinding
from tui_eval.scoring.judge.request import question_key
from tui_eval.scoring.judge.verdict import JudgeOpinion, grade


class _Forever:
    """Waits for answers without a trial that could be taken away."""

    withdrawn = False


_FOREVER: Final = _Forever()


@dataclass(frozen=True, slots=True)
class QuestionContext:
    """What questions are about, who waits for the answers and how they are asked."""

    trial: int | None
    """The output's trial; None: it is of none."""
    case: int
    """Its case: two questions of one never share a batch."""
    holder: AnswerRecipient = _FOREVER
    """Who waits for the answers."""
    purpose: str = "grade"
    """`grade` or `gold`."""
    alone: bool = False
    """Whether each question has a request of its own: a person asked about this one trial."""
    hurried: bool = False
    """Whether a person waits for them while the run goes on."""
    opening: int | None = None
    """The trial's; None: it is of none."""


@dataclass(frozen=True, slots=True)
class NamedJudge:
    """A judge as questions are put to it."""

    name: str
    identity: JsonObject
    """What it is, as far as it changes grades."""
    repeats: int
    """How often it is asked the same."""


def questions(
    ask: JudgedCheck, output: Output, judge: NamedJudge, about: QuestionContext
) -> list[Question]:
    """Return what a judge is asked about an output.

    One question for each repeat; with `per_requirement` one for each repeat and requirement.

    Args:
        ask: The check, and the output as it stands before the judge.
        output: The output.
        judge: Who is asked.
        about: What the output is of, and who waits.
    """
    check, item = ask.check, ask.item
    items = split(item) if check.settings.get("per_requirement") is True else [item]
    return [
        Question(
            holder=about.holder,
            trial=about.trial,
            case=about.case,
            scorer=check.name,
            judge=judge.name,
            repeat=repeat,
            item=one,
            key=question_key(check, output, judge.identity, repeat, one.form.numbers),
            purpose=about.purpose,
            alone=about.alone,
            hurried=about.hurried,
            opening=about.opening,
        )
        for repeat in range(judge.repeats)
        for one in items
    ]


def opinions(asked: Sequence[Question]) -> list[JudgeOpinion]:
    """Merge the answers of one judge in one repeat: with `per_requirement` there are several."""
    merged: dict[tuple[str, int], list[Question]] = {}
    for question in asked:
        merged.setdefault((question.judge, question.repeat), []).append(question)
    found = []
    for (judge, repeat), group in merged.items():
        parts: dict[int, PartFinding] = {}
        for question in group:
            parts |= question.parts
        problems = dict.fromkeys(q.problem for q in group if q.problem is not None)
        reason = group[0].reason
        finding = Finding(dict(sorted(parts.items())), reason) if parts else None
        found.append(JudgeOpinion(judge, repeat, finding, "; ".join(problems) or None))
    return found


def score(check: Check, asked: Sequence[Question]) -> Score:
    """Put the answers of all judges and repeats together."""
    return Score(
        check.name,
        grade(check, opinions(asked)),
        check.weight,
        check.required,
        "judge",
        cached=all(question.origin is not None for question in asked),
    )
