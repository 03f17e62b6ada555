"""What judges still owe a trial."""

from collections.abc import Iterator, Sequence

from tui_eval.engine.hand import Hand
from tui_eval.engine.judging.asking import score
from tui_eval.engine.judging.question import Question
from tui_eval.engine.marking import Ask
from tui_eval.model.output import Output
from tui_eval.model.score import Score, Tally, tally
from tui_eval.scoring.check import Check


class Dossier:
    """A trial that waits for judges: its scores so far and its open checks."""

    def __init__(self, hand: Hand, output: Output, scores: Sequence[Score]) -> None:
        """Open a dossier.

        Args:
            hand: The trial.
            output: What is judged.
            scores: Its scores that stand already.
        """
        self.hand = hand
        self.output = output
        self._scores = list(scores)
        self._open: dict[str, tuple[Check, list[Question]]] = {}

    @property
    def withdrawn(self) -> bool:
        """Whether a person took the trial away."""
        return self.hand.withdrawn

    def add(self, ask: Ask, questions: list[Question]) -> None:
        """Add a check with what it asks."""
        self._open[ask.check.name] = (ask.check, questions)

    @property
    def questions(self) -> Iterator[Question]:
        """Everything that is still asked."""
        for _, questions in self._open.values():
            yield from questions

    def close_checks(self) -> list[Score]:
        """Give the scores of the checks that are answered now, and close them."""
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
    def whole(self) -> bool:
        """Whether no check is open."""
        return not self._open

    def tally(self) -> Tally:
        """Give what all scores come to."""
        return tally(self._scores)
