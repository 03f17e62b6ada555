"""Trying edited scorers on a run's outputs: what would come of it, without recording anything."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from tui_eval.engine.control.changed_scorers import ScorerEdits
from tui_eval.engine.control.verdict_change import VerdictChange
from tui_eval.engine.judging.question_plan import QuestionContext, score
from tui_eval.engine.judging.stored_answers import CallCount, StoredAnswers
from tui_eval.engine.preflight.request_forecast import edited_session
from tui_eval.engine.session import Session
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Score, Tally, tally
from tui_eval.model.states import Verdict
from tui_eval.store.read.trials import output_queries, trial_rows
from tui_eval.store.rows import ScoreRow, TrialRow
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates.template import TemplateError

_PAGE = 200


@dataclass(frozen=True, slots=True)
class TryoutProgress:
    """How far it has come."""

    outputs: int = 0
    """Tried so far."""
    judged: int = 0
    """Of them, those whose verdict hangs on what judges are still to be asked, or programs to be
    run for."""
    judge_calls: int = 0
    """The requests that this takes, see `CallCount`."""
    broken: int = 0
    """Of them, those that the edited scorers cannot be made for."""
    problem: str | None = None
    """Why not, of the first."""


def tryout(
    db: sqlite3.Connection, run: int, changed: Suite, edits: ScorerEdits
) -> Iterator[VerdictChange | TryoutProgress]:
    """Score a run's outputs with edited scorers, as far as that asks nobody and runs nothing.

    What judges have said that the store knows is taken, as a rescore takes it.

    Args:
        db: The connection.
        run: The run.
        changed: Its suite with the edited scorers.
        edits: What they differ in.

    Yields:
        Each verdict that would change, in dataset order, and now and then how far it is; that last.
    """
    try:
        session = edited_session(db, run, changed)
    except TemplateError as error:
        yield TryoutProgress(problem=str(error))
        return
    with closing(session):
        yield from _tried(db, run, _Trying(db, run, session, edits))


def _tried(
    db: sqlite3.Connection, run: int, trying: "_Trying"
) -> Iterator[VerdictChange | TryoutProgress]:
    outputs = judged = broken = 0
    problem: str | None = None
    place = -1
    while page := trial_rows.trials_from(db, run, place + 1, _PAGE):
        place = page[-1].place
        for trial in page:
            if trial.verdict is None or trial.output is None:
                continue  # nothing was graded: there is nothing to compare with
            outputs += 1
            found = trying.score(trial)
            if isinstance(found, Failure):
                broken, problem = broken + 1, problem or found.message
            elif found is None:
                judged += 1
            elif found[0].verdict is not trial.verdict:
                yield _flip(trial, trial.verdict, *found)
        yield TryoutProgress(outputs, judged, trying.count.calls, broken, problem)


class _Trying:
    """Scores trials with edited scorers, and counts what judges would be asked."""

    def __init__(
        self, db: sqlite3.Connection, run: int, session: Session, edits: ScorerEdits
    ) -> None:
        self._db = db
        self._run = run
        self._session = session
        self._edits = edits
        self._stored = StoredAnswers(db, session)
        self._columns = {column.index: column for column in session.columns}
        self.count = CallCount(session)

    def score(self, trial: TrialRow) -> tuple[Tally, list[Score]] | Failure | None:
        """Return what a trial's scores would come to, and the new ones.

        None: judges are asked, or programs run.
        """
        assert trial.output is not None, "only what has an output is tried"
        case = trial_rows.case(self._db, self._run, trial.seq)
        output = output_queries.output(self._db, trial.output)
        kept = [
            row.as_score()
            for row in trial_rows.scores(self._db, trial.id)
            if _counts(row) and (row.scorer not in self._edits.scorers or row.source == "human")
        ]
        outcome = self._session.outcome(self._columns[trial.col], case, output, kept)
        if isinstance(outcome, Failure):
            return outcome
        if outcome.programs:
            return None  # nothing is run here
        about = QuestionContext(trial.id, trial.seq)
        asked = [(ask.check, self._stored.questions(ask, output, about)) for ask in outcome.asks]
        self.count.add(question for _, questions in asked for question in questions)
        if any(not question.closed for _, questions in asked for question in questions):
            return None
        new = [*outcome.scores, *(score(*answered) for answered in asked)]
        return tally([*kept, *new]), new


def _counts(score: ScoreRow) -> bool:
    return score.current and not score.superseded and score.withdrawn_at is None


def _flip(trial: TrialRow, was: Verdict, found: Tally, scores: list[Score]) -> VerdictChange:
    telling = [score for score in scores if score.grade.verdict is found.verdict] or scores
    why = f"{telling[0].scorer}: {telling[0].grade.reason}" if telling else "a scorer is gone"
    return VerdictChange(
        trial.place, trial.case_id, trial.column, trial.epoch, was, found.verdict, why
    )
