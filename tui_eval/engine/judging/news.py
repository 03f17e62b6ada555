"""What a judge's answers make of a trial."""

from dataclasses import dataclass

from tui_eval.engine.bugs import bug
from tui_eval.engine.judging.dossier import Dossier
from tui_eval.model.output import Failure
from tui_eval.model.score import Score, Tally
from tui_eval.store import record
from tui_eval.store.tx import Tx

WAITS = "waits for the judge"


@dataclass(frozen=True, slots=True)
class News:
    """What answers make of a trial, as it stood when they came.

    Others may come before it is written down, so nothing is asked of the dossier then.
    """

    dossier: Dossier
    scores: list[Score]
    end: Tally | Failure | None
    """How the trial ends with these scores; None: more are to come."""

    @classmethod
    def of(cls, dossier: Dossier) -> "News":
        """Close the checks of a trial that are answered."""
        try:
            scores = dossier.close_checks()
            return cls(dossier, scores, dossier.tally() if dossier.whole else None)
        except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
            return cls(dossier, [], bug())

    @property
    def last(self) -> bool:
        """Whether the trial is done with."""
        return self.end is not None

    def write(self, tx: Tx) -> None:
        """Add the scores to a trial that stands, and settle it with the last of them."""
        trial = self.dossier.hand.work.trial
        if isinstance(self.end, Failure):
            record.fail_trial(tx, trial, self.end)
            return
        if self.end is not None:
            stands = record.settle(tx, trial, self.end)
        else:
            stands = bool(self.scores) and record.await_judge(tx, trial, WAITS)
        if stands:
            record.add_scores(tx, trial, self.scores, fresh=False)
