"""What a judge's answers make of a trial."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.engine.internal_error import bug
from tui_eval.engine.judging.pending_judgement import PendingJudgement
from tui_eval.engine.judging.question import Question
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Score, Tally
from tui_eval.store.tx import Fact, Tx
from tui_eval.store.write import score_writes, trial_moves
from tui_eval.store.write.judges import judge_writes

WAITS = "waits for the judge"


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a trial's answers settle it as, for the opening they were asked in.

    Others may come before it is written down, so the trial itself is not looked at then.
    """

    pending: PendingJudgement
    scores: list[Score]
    end: Tally | Failure | None
    """How the trial ends with these scores; None: more are to come."""

    @classmethod
    def of(cls, pending: PendingJudgement) -> "Settlement":
        """Close the checks of a trial that are answered."""
        try:
            scores = pending.close_checks()
            return cls(pending, scores, pending.tally() if pending.whole else None)
        except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
            return cls(pending, [], bug())

    @property
    def last(self) -> bool:
        """Whether the trial is done with."""
        return self.end is not None

    def write(self, tx: Tx) -> None:
        """Add the scores to a trial that stands, and settle it with the last of them."""
        trial = self.pending.flight.work.trial
        if isinstance(self.end, Failure):
            trial_moves.fail_trial(tx, trial, self.end)
            return
        if self.end is not None:
            stands = trial_moves.settle(tx, trial, self.end)
        else:
            stands = bool(self.scores) and trial_moves.close(tx, trial, trial_moves.awaits(WAITS))
        if stands:
            score_writes.add_scores(tx, trial, self.scores, fresh=False)


def commit(
    tx: Tx, fact: Fact | None, of: Sequence[Question], settlements: Sequence[Settlement]
) -> tuple[dict[Question, int], list[PendingJudgement]]:
    """Write down what came of questions.

    Returns:
        The ids of their findings; and the trials that are not open any more as they were taken, of
        which nothing is written: what was said of them is about an earlier opening.
    """
    if fact is not None:
        fact(tx)
    stale = {one.pending for one in settlements if not one.pending.flight.stands(tx)}
    written = {
        question: judge_writes.add_finding(tx, question.fact())
        for question in of
        if not question.own and question.holder not in stale and not question.holder.withdrawn
    }
    for one in settlements:
        if one.pending not in stale:
            one.write(tx)
    return written, [*stale]
