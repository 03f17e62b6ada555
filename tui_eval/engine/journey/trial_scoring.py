"""From an output to the scores its trial lacks, and to what judges must say for the others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.case import Case, Column
from tui_eval.model.frozen import frozen
from tui_eval.model.outputs.conversation import last_user_text
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import OF_OUTPUT, Grade, Score
from tui_eval.scoring import deciding
from tui_eval.scoring.check import Check, Subject
from tui_eval.scoring.incomplete_output import ABOUT_ENDINGS, override
from tui_eval.scoring.judge.item import Item
from tui_eval.scoring.scorers import Scorers
from tui_eval.suites.data.gold import Gold, gold
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates.renderer import Renderer

_LEFT_OUT = Grade.ungraded("not judged: the run was started without judges; rescore runs them")


@dataclass(frozen=True, slots=True)
class JudgedCheck:
    """A check that judges decide."""

    check: Check
    item: Item


@dataclass(frozen=True, slots=True)
class GoldJudgeCheck:
    """What one judge is asked about an output that a person has graded."""

    judge: str
    gold: Gold
    output: Output
    asked: "GoldCheck | Failure"
    """A failure where the scorer cannot be rendered for it."""


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """A check with what is asked, or with the grade where a rule decides."""

    check: Check
    item: Item | Grade


@frozen
class ScoringOutcome:
    """What came of scoring an output without asking anybody."""

    scores: tuple[Score, ...]
    asks: tuple[JudgedCheck, ...] = ()
    """What is left for judges; each of them is there."""
    programs: tuple[Check, ...] = ()
    """What is left for programs to decide."""
    scoring_version: int = 0
    """Which judges they were made for, see `Session.scoring_version`."""

    @property
    def decided(self) -> bool:
        """Whether nothing is left for judges or programs."""
        return not self.asks and not self.programs

    def with_scores(self, scores: tuple[Score, ...]) -> "ScoringOutcome":
        """Return it with what programs have decided."""
        return replace(self, scores=(*self.scores, *scores), programs=())


class TrialScoring:
    """A suite's scorers, applied to trials."""

    def __init__(
        self,
        suite: Suite,
        renderer: Renderer,
        calls: IsolatedCalls,
        *,
        no_judge: bool = False,
        scoring_version: int = 0,
    ) -> None:
        """Compile the scorers.

        Args:
            suite: The suite.
            renderer: Renders what was asked.
            calls: Make what could take long.
            no_judge: Whether checks that judges decide are left ungraded.
            scoring_version: Which judges there are, see `Session.scoring_version`.
        """
        self._suite = suite
        self._no_judge = no_judge
        self._judges = frozenset(judge.name for judge in suite.judges)
        self._scoring_version = scoring_version
        self._scorers = Scorers(suite.scorers, suite.names_of_output)
        self._renderer = renderer
        self._calls = calls

    def problem(self, column: Column, case: Case) -> Failure | None:
        """Say what is wrong with a case's scorers before anything is asked of a target."""
        return self._scorers.problem(self._subject(column, case, None))

    def checks(self, column: Column, case: Case, output: Output) -> list[Check] | Failure:
        """Return what an output is scored by; a failure where a scorer cannot be rendered."""
        return self._scorers.checks(self._subject(column, case, output))

    def outcome(
        self, column: Column, case: Case, output: Output, kept: Sequence[Score]
    ) -> ScoringOutcome | Failure:
        """Return the scores that are still missing, and what judges are to say for the rest.

        Args:
            column: What was asked how.
            case: What was asked.
            output: What came back.
            kept: Scores of this output that still count; theirs are not missing.

        Returns:
            One score, question or check for each applicable scorer without a score, and a required
            score of the output itself where it is no answer and nothing else required says so; a
            failure where a scorer cannot be rendered for the case.

        Raises:
            NotAtOnceError: where it is to be done at once and could take longer.
            AbandonedError: the engine is ending.
        """
        checks = self.checks(column, case, output)
        if isinstance(checks, Failure):
            return checks
        have = {score.scorer for score in kept}
        no_answer = override(output, self._suite.run.truncated, self._suite.run.filtered)
        scores: list[Score] = []
        asks: list[JudgedCheck] = []
        programs: list[Check] = []
        for check in checks:
            if check.name in have:
                continue
            overridden = None if check.kind in ABOUT_ENDINGS else no_answer
            if overridden is None and check.runs_program:
                programs.append(check)
                continue
            found = overridden or self.decided(check, output)
            if not isinstance(found, Item):
                scores.append(Score(check.name, found, check.weight, check.required))
            elif (unasked := self._unasked(check)) is not None:
                scores.append(Score(check.name, unasked, check.weight, check.required, "judge"))
            else:
                asks.append(JudgedCheck(check, found))
        decided = OF_OUTPUT in have or any(check.required for check in checks)
        if no_answer is not None and not decided:
            scores.append(Score(OF_OUTPUT, no_answer))
        return ScoringOutcome(tuple(scores), tuple(asks), tuple(programs), self._scoring_version)

    def _unasked(self, check: Check) -> Grade | None:
        """Return the grade of a check whose judges cannot be asked; None: they can.

        A check that is asked of nobody would be waited for without end.
        """
        if self._no_judge:
            return _LEFT_OUT
        named = check.settings["judges"]
        assert isinstance(named, list), "as a judge's check has it"
        gone = [f'no judge is called "{name}"' for name in named if name not in self._judges]
        if not named:
            gone = [f"the scorer names no judge, and the suite has {len(self._judges) or 'none'}"]
        return Grade.ungraded(f"not judged: {'; '.join(gone)}") if gone else None

    def decided(self, check: Check, output: Output) -> Grade | Item:
        """Return the grade of an output, or what a judge is to be asked (see `deciding.decided`).

        Raises:
            NotAtOnceError: where it is to be done at once and could take longer.
            AbandonedError: the engine is ending.
        """
        return deciding.decided(check, output, self._calls)

    def gold(self, judge: str) -> list[GoldJudgeCheck]:
        """Return what a judge is asked about its gold, in the order of the rows."""
        return [self._gold_ask(judge, row) for row in gold(self._suite, judge)]

    def _gold_ask(self, judge: str, row: Gold) -> GoldJudgeCheck:
        output = Output(row.output, finish_reason="stop")
        prompt = row.input if isinstance(row.input, str) else None
        subject = Subject(row.case, prompt, (), output)
        check = self._scorers.check(row.scorer, subject, row.input)
        if isinstance(check, Failure):
            return GoldJudgeCheck(judge, row, output, check)
        return GoldJudgeCheck(judge, row, output, GoldCheck(check, self.decided(check, output)))

    def _subject(self, column: Column, case: Case, output: Output | None) -> Subject:
        if not self._scorers.look_at_asked(case):
            return Subject(case, output=output, target=column.target)
        asked = self._renderer.opening(column, case)
        return Subject(
            case,
            last_user_text(asked.messages),
            tuple(asked.messages),
            output,
            column.target,
            tuple(asked.conversation),
        )
