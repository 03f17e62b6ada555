"""What a trial's step leaves to be written, and how an output and its scores are written."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.journey.trial_scoring import JudgedCheck, ScoringOutcome
from tui_eval.engine.judging.settlement import WAITS
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Score, tally
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, score_writes, trial_moves
from tui_eval.store.write.trial_moves import AsTaken, TrialMove

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


def unscored_step(
    flight: TrialInFlight, output: Output, arrival: Arrival | None, *, programs: bool
) -> Step:
    """Say what is to be written of an output that could not be scored at once.

    Args:
        flight: Its trial.
        output: The output.
        arrival: How it came; None: the store has it.
        programs: Whether it waits for programs that decide about it.
    """
    then = trial_moves.awaits(_PROGRAMS) if programs else trial_moves.TO_SCORING
    write = partial(_gone_on, flight, output, arrival, then, flight.as_taken)
    return Step(write, unscored=output)


def scored_step(
    flight: TrialInFlight,
    output: Output,
    outcome: ScoringOutcome | Failure,
    arrival: Arrival | None,
) -> Step:
    """Say what is to be written of an output: itself, where the call brought it, and its scores.

    Where it is scored no more, or its scorers are not what they were, no score is written; where
    it still waits to be scored, it is to be taken anew.

    Args:
        flight: Its trial.
        output: The output.
        outcome: What came of scoring it.
        arrival: How it came; None: the store has it.
    """
    if isinstance(outcome, Failure):
        end = trial_moves.failed(outcome)
        return Step(partial(_gone_on, flight, output, arrival, end, flight.as_taken))
    trial, kept = flight.work.trial, flight.work.kept
    then = (
        trial_moves.awaits(WAITS)
        if outcome.asks
        else trial_moves.settled(tally([*(kept or ()), *outcome.scores]))
    )
    as_taken = AsTaken(flight.work.opening, outcome.scoring_version)

    def write(tx: Tx) -> bool:
        stands = _gone_on(flight, output, arrival, then, as_taken, tx)
        if stands:
            score_writes.add_scores(tx, trial, outcome.scores, fresh=kept is None)
        return stands

    return Step(write, handover=_handover(flight, output, outcome))


def _gone_on(
    flight: TrialInFlight,
    output: Output,
    arrival: Arrival | None,
    then: TrialMove,
    as_taken: AsTaken,
    tx: Tx,
) -> bool:
    """Have a trial go on with its output, which is written where the store does not have it.

    Returns:
        Whether the trial went there: it is still open as it was taken.
    """
    trial, key = flight.work.trial, flight.work.key
    if arrival is None:
        return trial_moves.close(tx, trial, then, as_taken)
    attempt, call_s = arrival.attempt, arrival.call_s
    return attempt_writes.answer(
        tx, attempt, trial, key, output, call_s, then=then, as_taken=as_taken
    )


def _handover(
    flight: TrialInFlight, output: Output, outcome: ScoringOutcome | Failure
) -> JudgingHandover | None:
    if not isinstance(outcome, ScoringOutcome) or not outcome.asks:
        return None
    return JudgingHandover(
        output, (*(flight.work.kept or ()), *outcome.scores), outcome.asks, outcome.scoring_version
    )
