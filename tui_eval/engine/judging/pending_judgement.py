"""What a trial still waits for from judges."""

from collections.abc import Iterator, Sequence

from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.journey.trial_scoring import JudgedCheck
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.question_plan import score
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Score, Tally, tally
from tui_eval.scoring.check import Check


class PendingJudgement:
    """A trial that waits for judges: its scores so far and its open checks."""

    def __init__(self, flight: TrialInFlight, output: Output, scores: Sequence[Score]) -> None:
        """Begin without open checks.

        Args:
            flight: The trial.
            output: What is judged.
            scores: Its scores that stand already.
        """
        self.flight = flight
        self.output = output
        self._scores = list(scores)
        self._open: dict[str, tuple[Check, list[Question]]] = {}

    @property
    def withdrawn(self) -> bool:
        """Whether a person took the trial away."""
        return self.flight.withdrawn

    def add(self, ask: JudgedCheck, questions: list[Question]) -> None:
        """Add a check with what it asks."""
        self._open[ask.check.name] = (ask.check, questions)

    @property
    def questions(self) -> Iterator[Question]:
        """Everything that is still asked."""
        for _, questions in self._open.values():
            yield from questions

    def close_checks(self) -> list[Score]:
        """Return the scores of the checks that are answered now, and close them."""
        new = [
            score(check, questions)
            for check, questions in self._open.values()
            if all(question.closed for question in questions)
        ]
        for made in new:
            del self._open[made.scorer]
        self._scores += new
        return new

    @property
    def consigned(self) -> bool:
        """Whether all that is still asked is to come out of consignments."""
        left = [question for question in self.questions if not question.closed]
        return bool(left) and all(question.consigned for question in left)

    @property
    def whole(self) -> bool:
        """Whether no check is open."""
        return not self._open

    def tally(self) -> Tally:
        """Return what all scores come to."""
        return tally(self._scores)
