"""What a person is asked about an output: each scorer's question, as rendered for its case."""

import sqlite3
from dataclasses import dataclass

from pydantic import ValidationError

from tui_eval.engine.journey.trial_scoring import TrialScoring
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.case import Column
from tui_eval.model.json import Json
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.person_grade import lines_of, person_grade, question_of
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import output_queries, trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.suites.data.grade_forms import GradeQuestion, read_grade
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.templates.template import TemplateError


class NoQuestionError(Exception):
    """Nothing can be asked about an output; the message says why."""


@dataclass(frozen=True, slots=True)
class OutputQuestion:
    """One scorer's question about one trial's output."""

    trial: TrialRow
    output_id: int
    output: Output
    check: Check

    @property
    def scorer(self) -> str:
        """The scorer that asks."""
        return self.check.name

    @property
    def asked(self) -> GradeQuestion:
        """Which grades are valid."""
        return question_of(self.check)

    @property
    def lines(self) -> list[str]:
        """The requirements or criteria; empty: it is graded as a whole."""
        return lines_of(self.check)

    def grade(self, given: Json) -> Grade:
        """Return what a valid grade comes to; see `wrong_grade`."""
        return person_grade(self.check, read_grade(given, self.asked))


class OutputQuestions:
    """Asks about the outputs of one run."""

    def __init__(self, db: sqlite3.Connection, run: int) -> None:
        """Read what all questions need.

        Args:
            db: The connection.
            run: The run.

        Raises:
            NoQuestionError: this version cannot read the run's suite.
            UnknownRunError: there is no such run.
        """
        self._db = db
        self._run = run
        try:
            suite = frozen_suite(db, run)
            self._scoring = TrialScoring(suite, Renderer(suite), IsolatedCalls())
        except (ValidationError, TemplateError) as error:
            raise NoQuestionError("this version cannot read the run's suite") from error
        self._columns = {
            row.index: Column(row.index, row.name, row.target, row.prompt)
            for row in run_queries.columns(db, run)
        }

    def of(self, trial: TrialRow) -> list[OutputQuestion]:
        """Return what can be asked about a trial's output: a question for each of its scorers.

        Those of its scores that the suite no longer has are asked as pass or fail.

        Raises:
            NoQuestionError: it has no output, or its scorers cannot be rendered.
        """
        if trial.output is None:
            raise NoQuestionError(f"it has no output to grade ({trial.state})")
        output = output_queries.output(self._db, trial.output)
        case = trial_rows.case(self._db, self._run, trial.seq)
        try:
            checks = self._scoring.checks(self._columns[trial.col], case, output)
        except TemplateError as error:
            raise NoQuestionError(str(error)) from error
        if isinstance(checks, Failure):
            raise NoQuestionError(checks.message)
        known = {check.name: check for check in checks}
        for score in trial_rows.scores(self._db, trial.id):
            if score.current and score.scorer not in known:
                known[score.scorer] = Check(
                    score.scorer, "", {}, weight=score.weight, required=score.required
                )
        return [OutputQuestion(trial, trial.output, output, check) for check in known.values()]

    def by(self, trial: TrialRow, scorer: str) -> OutputQuestion:
        """Return the question of one scorer about a trial's output.

        Raises:
            NoQuestionError: the scorer is not asked of this case, or as in `of`.
        """
        for question in self.of(trial):
            if question.scorer == scorer:
                return question
        raise NoQuestionError(f'scorer "{scorer}" is not asked of this case')
