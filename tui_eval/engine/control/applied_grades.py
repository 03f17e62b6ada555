"""Measuring grades made verdicts: the scores that they come to."""

import sqlite3
from collections.abc import Iterable, Sequence

from tui_eval.engine.control.grade_file import FileGrade
from tui_eval.engine.control.hand_grades import HandGrade, hand_score
from tui_eval.engine.control.output_questions import (
    NoQuestionError,
    OutputQuestion,
    OutputQuestions,
)
from tui_eval.model.json import Json
from tui_eval.store.read import grade_queries
from tui_eval.store.read.trials import trial_rows


def hand_grade(question: OutputQuestion, given: Json, *, by: str, note: str) -> HandGrade:
    """Return a person's valid grade as a score that counts.

    Args:
        question: What was graded.
        given: The grade as the person gave it.
        by: The person.
        note: Why; empty: not said.
    """
    score = hand_score(
        question.scorer,
        question.grade(given),
        by=by,
        given=given,
        note=note,
        weight=question.check.weight,
        required=question.check.required,
    )
    return HandGrade(question.trial.id, question.output_id, question.scorer, score)


def of_file(grades: Sequence[FileGrade]) -> list[HandGrade]:
    """Return the grades of a file as scores; of several people's of one output the last."""
    return _last(
        hand_grade(one.question, one.new.grade, by=one.new.person, note=one.new.note)
        for one in grades
        if one.grade is not None
    )


def of_person(
    db: sqlite3.Connection, run: int, person: str, scorer: str | None = None
) -> list[HandGrade]:
    """Return what a person has graded in a run as scores; what nobody can ask any more is left out.

    Args:
        db: The connection.
        run: The run.
        person: The person.
        scorer: Only by this scorer's question; None: by all.

    Raises:
        NoQuestionError: this version cannot read the run's suite.
    """
    questions = OutputQuestions(db, run)
    found = []
    for row in grade_queries.given(db, run, scorer):
        trial = trial_rows.trial(db, row.trial)
        if row.person != person or row.verdict is None or trial is None:
            continue
        try:
            question = questions.by(trial, row.scorer)
        except NoQuestionError:  # an edited suite may have lost the scorer
            continue
        found.append(hand_grade(question, row.grade, by=person, note=row.note))
    return _last(found)


def _last(grades: Iterable[HandGrade]) -> list[HandGrade]:
    by_question = {(one.trial, one.scorer): one for one in grades}
    return list(by_question.values())
