"""What a trial's step leaves to be written, and how an output and its scores are written."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.journey.trial_scoring import JudgedCheck, ScoringOutcome
from tui_eval.engine.judging.settlement import WAITS
from tui_eval.model.output import Failure, Output
from tui_eval.model.score import Score, tally
from tui_eval.store.tx import Tx
from tui_eval.store.write import trial_writes

_PROGRAMS: Final = "waits for the program that decides"


@dataclass(frozen=True, slots=True)
class JudgingHandover:
    """What judges must still say of a trial."""

    output: Output
    scores: tuple[Score, ...]
    """Its scores that stand already."""
    asks: tuple[JudgedCheck, ...]
    scoring_version: int
    """Which judges they are for, see `Session.scoring_version`."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a trial's step leaves behind."""

    write: Callable[[Tx], bool]
    """Writes the facts down, and returns whether the trial is still open as it was taken: if not,
    nothing of it was moved or scored, and nothing of what follows applies."""
    again_in: float | None = None
    """Seconds until the trial is tried again; None: the engine lets go of it."""
    unreachable: bool = False
    """Whether the endpoint has never answered anybody: others would meet the same."""
    handover: JudgingHandover | None = None
    """What judges must still say; None: nothing."""
    unscored: Output | None = None
    """The trial's output, where it could not be scored at once; None: it was."""
    requeued: bool = False
    """Whether the trial is back in the queue: its call did not leave."""

    @property
    def goes_on(self) -> bool:
        """Whether the trial has an output that judges are, or may be, asked about."""
        return self.handover is not None or self.unscored is not None


LEFT: Final = Step(lambda _: False)
"""Nothing is written: the trial stays where it is in the store."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """How an output came that the store does not have."""

    attempt: int
    call_s: float | None


def arrived(flight: TrialInFlight, output: Output, arrival: Arrival | None, tx: Tx) -> bool:
    """Write down an output that the store does not have; it was paid for, so in any case.

    Returns:
        Whether the trial has it, and is still open as it was taken.
    """
    stands = flight.stands(tx)
    if arrival is None:
        return stands
    trial, key = flight.work.trial, flight.work.key
    return trial_writes.answer(
        tx, arrival.attempt, trial, key, output, arrival.call_s, stale=not stands
    )


def awaits_programs(flight: TrialInFlight, output: Output, arrival: Arrival | None, tx: Tx) -> bool:
    """Write down an output that programs decide about, and that its trial waits for them."""
    stands = arrived(flight, output, arrival, tx)
    return stands and trial_writes.await_judge(tx, flight.work.trial, _PROGRAMS)


def scored_step(
    flight: TrialInFlight,
    output: Output,
    outcome: ScoringOutcome | Failure,
    arrival: Arrival | None,
) -> Step:
    """Say what is to be written of an output: itself, where the call brought it, and its scores.

    Args:
        flight: Its trial.
        output: The output.
        outcome: What came of scoring it.
        arrival: How it came; None: the store has it.
    """

    def write(tx: Tx) -> bool:
        return arrived(flight, output, arrival, tx) and _close(tx, flight, outcome)

    return Step(write, handover=_handover(flight, output, outcome))


def _handover(
    flight: TrialInFlight, output: Output, outcome: ScoringOutcome | Failure
) -> JudgingHandover | None:
    if not isinstance(outcome, ScoringOutcome) or not outcome.asks:
        return None
    return JudgingHandover(
        output, (*(flight.work.kept or ()), *outcome.scores), outcome.asks, outcome.scoring_version
    )


def _close(tx: Tx, flight: TrialInFlight, outcome: ScoringOutcome | Failure) -> bool:
    """Write down what scoring came to; a trial that judges must be asked about stays open.

    Returns:
        False where it is scored no more, or its scorers are not what they were. Nothing is
        written then: where it still waits to be scored, it is to be taken anew.
    """
    trial, kept = flight.work.trial, flight.work.kept
    if isinstance(outcome, Failure):
        return trial_writes.fail_trial(tx, trial, outcome)
    if not trial_writes.scored_by(tx, trial, outcome.scoring_version):
        return False
    if outcome.asks:
        stands = trial_writes.await_judge(tx, trial, WAITS)
    else:
        stands = trial_writes.settle(tx, trial, tally([*(kept or ()), *outcome.scores]))
    if stands:
        trial_writes.add_scores(tx, trial, outcome.scores, fresh=kept is None)
    return stands
