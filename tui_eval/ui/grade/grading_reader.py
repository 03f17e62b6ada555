"""Reading what is graded and what came of it; each function in a connection's thread."""

import sqlite3
from dataclasses import dataclass, replace

from tui_eval.engine.control.output_questions import NoQuestionError, OutputQuestions
from tui_eval.model.json import Json
from tui_eval.model.outputs.conversation import last_user_text
from tui_eval.reports.agreement.run_agreement import scorer_agreement
from tui_eval.reports.terminal.agreement_text import agreement_text
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read import (
    grade_queries,
    report_queries,
    run_queries,
)
from tui_eval.store.read.trials import trial_queries, trial_rows
from tui_eval.store.write.judges import measured_judges
from tui_eval.suites.frozen_suite import readable_suite
from tui_eval.ui.grade.question_page import ShownQuestion, shown_question
from tui_eval.ui.run.detail.rendered_request import messages


@dataclass(frozen=True, slots=True)
class LastGrade:
    """What a person said of an output before."""

    given: Json
    """None: could not tell."""
    note: str


def scorers_to_grade(db: sqlite3.Connection, run: int) -> list[str]:
    """Return the scorers by whose question a person may grade: those that ask judges, else all."""
    suite = readable_suite(db, run)
    asking = [] if suite is None else [one.name for one in suite.scorers if one.asks_judge]
    scored = report_queries.scorer_names(db, run)
    judged = report_queries.judged_scorers(db, run)
    return [one for one in scored if one in judged or one in asking] or scored


def question_about(db: sqlite3.Connection, run: int, trial_id: int, scorer: str) -> ShownQuestion:
    """Return what is shown of a trial.

    Raises:
        NoQuestionError: nothing can be asked about it any more.
    """
    trial = trial_rows.trial(db, trial_id)
    if trial is None:
        raise NoQuestionError("the run was deleted meanwhile")
    shown = shown_question(OutputQuestions(db, run).by(trial, scorer))
    if not isinstance(shown.asked, dict):
        return shown
    # of a recording's row the question alone: the row may hold the right answer, or the verdict
    found = trial_queries.whole(db, run, trial_id)
    said = () if found is None else messages(db, run, found)
    question = None if isinstance(said, str) else last_user_text(said)
    return shown if question is None else replace(shown, asked=question)


def last_grade(
    db: sqlite3.Connection, run: int, trial: int, scorer: str, person: str
) -> LastGrade | None:
    """Return what a person said of an output before; None: nothing."""
    for row in grade_queries.given(db, run, scorer):
        if row.trial == trial and row.person == person:
            return LastGrade(row.grade, row.note)
    return None


def agreement_lines(db: sqlite3.Connection, run: int, scorer: str, width: int) -> list[str]:
    """Return how far a scorer agrees with people, as `tui-eval agreement` says it."""
    with report_queries.moment(db):
        golds = measured_judges.measured(db, run)[1]
        found = scorer_agreement(db, run, scorer, readable_suite(db, run), golds)
        columns = run_queries.columns(db, run)
    return agreement_text([found], columns, width=width, ink=AnsiStyle()).splitlines()
