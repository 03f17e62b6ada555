"""What one person grades, output by output, and how each grade is kept."""

from functools import partial

from tui_eval.engine.control.drawing import SEED, GradingSession, grading_session
from tui_eval.engine.control.output_questions import NoQuestionError
from tui_eval.model.grade_words import grade_words
from tui_eval.model.json import Json
from tui_eval.store.write.people import grade_writes
from tui_eval.store.write.people.grade_writes import NewGrade
from tui_eval.store.writer import once
from tui_eval.ui.grade import grading_reader
from tui_eval.ui.grade.grade_entry import GradeEntry
from tui_eval.ui.grade.question_page import ShownQuestion
from tui_eval.ui.store_access.store_client import StoreClient


class BlindGrading:
    """One person's way through the outputs that were drawn for a scorer of a run."""

    def __init__(self, client: StoreClient, run: int, scorer: str, person: str, n: int) -> None:
        """Begin with nothing drawn.

        Args:
            client: The way to the store.
            run: The run.
            scorer: By whose question.
            person: Who grades.
            n: How many outputs are drawn in all.
        """
        self._client = client
        self.run = run
        self.scorer = scorer
        self.person = person
        self.n = n
        self.session = GradingSession(SEED, (), 0, 0)
        self.at = 0
        """Which of the session's outputs is shown, from 0; past the last one it is over."""
        self.shown: ShownQuestion | None = None
        """None: it is over, or the output cannot be graded."""
        self.entry: GradeEntry | None = None
        """The grade that is being given."""
        self.problem: str | None = None
        """Why the output cannot be graded; None: it can."""
        self.note = ""

    async def draw(self) -> None:
        """Draw the outputs, and go to the first without a grade."""
        self.session = await self._client.ponder(
            grading_session, self.run, self.scorer, self.person, self.n
        )
        await self.go_to(self.session.done)

    async def go_to(self, at: int) -> None:
        """Read one of the outputs; past the last one nothing is shown.

        What was shown stays until the other is read: between the two nothing is over.
        """
        shown, entry, problem, note = None, None, None, ""
        if at < len(self.session.trials):
            about = (self.run, self.session.trials[at], self.scorer)
            try:
                shown = await self._client.ponder(grading_reader.question_about, *about)
            except NoQuestionError as error:
                problem = str(error)
            else:
                entry = GradeEntry(shown.question.asked, shown.question.lines)
                if at < self.session.done:
                    before = await self._client.ponder(
                        grading_reader.last_grade, *about, self.person
                    )
                    if before is not None:
                        note = before.note
                        entry.problem = f"graded before: {grade_words(before.given)}"
        self.at = at
        self.shown, self.entry, self.problem, self.note = shown, entry, problem, note

    async def keep(self, given: Json) -> None:
        """Write a grade of the shown output down, and go to the next without one.

        Args:
            given: A valid grade; None: the person cannot tell.

        Raises:
            StoreError: the store cannot be written; nothing was kept.
            OutputReplacedError: the trial was asked again meanwhile; nothing was kept.
        """
        assert self.shown is not None, "an output is shown"
        question = self.shown.question
        grade = None if given is None else question.grade(given)
        new = NewGrade(
            trial=question.trial.id,
            output=question.output_id,
            scorer=self.scorer,
            person=self.person,
            grade=given,
            verdict=None if grade is None else grade.verdict,
            value=None if grade is None else grade.value,
            note=self.note,
            seed=self.session.seed,
        )
        write = partial(grade_writes.add, run=self.run, grades=[new])
        await self._client.act(once, self._client.path, write)
        self.session = self.session.graded(question.trial.id)
        await self.go_to(self.session.done)

    @property
    def typed(self) -> bool:
        """Whether anything is entered that can be erased."""
        return self.entry is not None and self.entry.begun

    @property
    def count(self) -> int:
        """How many outputs are this person's."""
        return len(self.session.trials)
