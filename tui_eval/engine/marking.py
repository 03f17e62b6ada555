"""From an output to the scores its trial lacks."""

from collections.abc import Sequence

from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure, Output
from tui_eval.model.score import Score
from tui_eval.scoring.check import Subject
from tui_eval.scoring.grading import grade
from tui_eval.scoring.scorers import Scorers
from tui_eval.scoring.standing import override
from tui_eval.suites.prompts import Renderer
from tui_eval.suites.spec import Suite


class Marking:
    """A suite's scorers, applied to trials."""

    def __init__(self, suite: Suite, renderer: Renderer) -> None:
        self._suite = suite
        self._scorers = Scorers(suite.scorers)
        self._renderer = renderer

    def problem(self, column: Column, case: Case) -> Failure | None:
        """Say what is wrong with a case's scorers before anything is asked of a target."""
        return self._scorers.problem(self._subject(column, case, None))

    def scores(
        self, column: Column, case: Case, output: Output, kept: Sequence[Score]
    ) -> list[Score] | Failure:
        """Give the scores that are still missing.

        Args:
            column: What was asked how.
            case: What was asked.
            output: What came back.
            kept: Scores of this output that still count; theirs are not missing.

        Returns:
            One score for each applicable scorer without one; a failure where a scorer cannot be
            rendered for the case.
        """
        checks = self._scorers.checks(self._subject(column, case, output))
        if isinstance(checks, Failure):
            return checks
        have = {score.scorer for score in kept}
        no_answer = override(output, self._suite.run.truncated, self._suite.run.filtered)
        return [
            Score(
                check.name,
                grade(check, output) if no_answer is None else no_answer,
                check.weight,
                check.required,
            )
            for check in checks
            if check.name not in have
        ]

    def _subject(self, column: Column, case: Case, output: Output | None) -> Subject:
        messages = self._renderer.messages(column, case)
        return Subject(case, _last_user_text(messages), tuple(messages), output)


def _last_user_text(messages: Sequence[JsonObject]) -> str | None:
    for message in reversed(messages):
        content = message.get("content")
        if message.get("role") == "user" and isinstance(content, str):
            return content
    return None
