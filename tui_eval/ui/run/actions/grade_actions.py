"""Grades by people: `g` for good, of the trial or the marked ones; `G` to measure the judge."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_eval.engine.control.hand_grades import HandGrade, request_args
from tui_eval.format import decimal, many
from tui_eval.model.json import Json
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.rows import ScoreRow
from tui_eval.suites.config.app_state import GRADER, login_name
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.grade.grading_choice import GradingChoice
from tui_eval.ui.run.actions.action_group import ActionGroup, in_worker
from tui_eval.ui.run.actions.commands import Command
from tui_eval.ui.run.actions.request_sender import RequestSender
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen

if TYPE_CHECKING:
    from tui_eval.engine.control.output_questions import OutputQuestion
    from tui_eval.ui.dialogs.grade_dialog import GradeDecision, GradeSubject

# The suite's format and scorers are imported where they are used: the first picture needs neither.


@dataclass(frozen=True, slots=True)
class _Gradable:
    """What can be graded of some trials."""

    questions: "Mapping[str, Sequence[OutputQuestion]]"
    """By scorer, in the order of the first trial."""
    scores: Mapping[str, ScoreRow]
    """The first trial's scores that count, by scorer."""
    why_not: str | None
    """Why a trial cannot be graded, of the first that cannot."""


class GradeActions(ActionGroup):
    """Grades trials by hand, and opens the screen on which outputs are graded blindly."""

    def __init__(
        self, screen: BaseScreen, run: ObservedRun, trial_list: TrialList, sender: RequestSender
    ) -> None:
        """Make the actions of a screen.

        Args:
            screen: Where the person is asked and told.
            run: What is known of the run.
            trial_list: Which trials are graded.
            sender: Sends the grades.
        """
        super().__init__(screen, run)
        self._list = trial_list
        self._sender = sender

    @in_worker
    async def action_grade(self) -> None:
        """Grade the trial or the marked ones by hand, for good."""
        from tui_eval.ui.dialogs.grade_dialog import GradeDialog
        from tui_eval.ui.grade.grade_entry import GradeEntry

        with self.context.keys_wait():  # the next keys are for the question
            trials = await self._list.acted_on()
            found = await self.client.ponder(_gradable, self.run.id, trials)
        if not found.questions:
            self.screen.say(f"not graded: {found.why_not or 'nothing scores it'}", "warning")
            return
        scorer = await self._scorer(found)
        if scorer is None:
            return
        asked = found.questions[scorer]
        entry = GradeEntry(asked[0].asked, asked[0].lines)
        subject = self._subject(found, scorer, len(trials))
        dialog = GradeDialog(subject, entry, self.context.glyphs)
        decision = await self.screen.app.push_screen_wait(dialog)
        if decision is None:
            return
        grades = _grades(asked, decision, self.person)
        if len(grades) < len(trials):
            left = many(len(trials) - len(grades), "trial")
            self.screen.say(f"{left} left out: {found.why_not or 'another question'}", "warning")
        if grades:
            await self._sender.send(Command(Verb.GRADE, request_args(grades)))

    @in_worker
    async def action_grading(self) -> None:
        """Grade outputs blindly, to see how far the judge is right."""
        await self.open_grading(GradingChoice())

    async def open_grading(self, choice: GradingChoice) -> None:
        """Show the screen on which outputs are graded."""
        from tui_eval.ui.screens.grade_screen import GradeScreen

        await self.screen.app.push_screen(GradeScreen(self.context, self.run.id, choice))

    @property
    def person(self) -> str:
        """Who grades: whoever said so last, else the login's name."""
        return self.context.remembered.get(GRADER) or login_name()

    async def _scorer(self, found: _Gradable) -> str | None:
        """Return the scorer that is meant; None: the person chose none."""
        names = list(found.questions)
        if len(names) == 1:
            return names[0]
        choices = [Choice(name, name, _now(found.scores.get(name))) for name in names]
        menu = Menu("grade by hand", choices, self.context.glyphs)
        return await self.screen.app.push_screen_wait(menu)

    def _subject(self, found: _Gradable, scorer: str, n: int) -> "GradeSubject":
        from tui_eval.ui.dialogs.grade_dialog import GradeSubject
        from tui_eval.ui.grade.question_page import asked_paras, shown_question

        first = found.questions[scorer][0]
        about = many(n, "trial") if n > 1 else f"{first.trial.case_id}  {first.trial.column}"
        score = found.scores.get(scorer)
        return GradeSubject(
            title=f"{scorer}: {about}",
            now="" if n > 1 or score is None else f"now {_now(score)}  {score.reason}",
            asked=list(asked_paras(shown_question(first))),
            by_hand=score is not None and score.source == "human",
        )


def _now(score: ScoreRow | None) -> str:
    """Return what a scorer says now, and who."""
    if score is None:
        return ""
    by = "by hand" if score.source == "human" else f"by {score.source}"
    return f"{score.verdict} {decimal(score.value)} {by}"


def _gradable(db: sqlite3.Connection, run: int, trials: Sequence[int]) -> _Gradable:
    """Return what can be graded of some trials; in a thread."""
    from tui_eval.engine.control.output_questions import NoQuestionError, OutputQuestions

    questions: dict[str, list[OutputQuestion]] = {}
    why_not: str | None = None
    first: int | None = None
    try:
        asking = OutputQuestions(db, run)
    except NoQuestionError as error:
        return _Gradable({}, {}, str(error))
    for number in trials:
        trial = trial_rows.trial(db, number)
        try:
            found = [] if trial is None else asking.of(trial)
        except NoQuestionError as error:
            why_not = why_not or str(error)
            continue
        first = number if first is None and found else first
        for question in found:
            questions.setdefault(question.scorer, []).append(question)
    current = [] if first is None else trial_rows.scores(db, first)
    return _Gradable(questions, {one.scorer: one for one in current if one.current}, why_not)


def _grades(
    asked: "Sequence[OutputQuestion]", decision: "GradeDecision", person: str
) -> "list[HandGrade]":
    """Return a decision as grades of all trials that it fits."""
    from tui_eval.engine.control.applied_grades import hand_grade
    from tui_eval.suites.data.grade_forms import wrong_grade

    given: Json = decision.given
    if given is None:
        return [HandGrade(one.trial.id, one.output_id, one.scorer, None) for one in asked]
    return [
        hand_grade(one, given, by=person, note=decision.note)
        for one in asked
        if not any(wrong_grade(given, one.asked))
    ]
