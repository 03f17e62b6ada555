"""What a journey needs of targets, scorers and programs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tui_eval.engine.journey.lazy_open import LazyOpen
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.journey.trial_scoring import ScoringOutcome
from tui_eval.engine.limits.call_permit import CallPermit
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Score
from tui_eval.providers.patience import Patience
from tui_eval.scoring.check import Check
from tui_eval.targets.attempt.attempt_context import AttemptContext

ContextMaker: TypeAlias = Callable[[TrialInFlight, int, float, CallPermit], AttemptContext]
"""Gives a trial's attempt, by its id, what its target is told: with the seconds it has, and the
permit of its call."""


class JourneyTarget(Protocol):
    """What the journey needs of a target."""

    def identity(self) -> JsonObject:
        """Return what decides about its answers beside the request."""

    def reads_files(self, request: JsonObject) -> bool:
        """Return whether a request holds what files were as it was rendered."""

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Render the request of a case."""

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Make one attempt."""


class TrialScorer(Protocol):
    """What the journey needs of the scorers."""

    def problem(self, column: Column, case: Case) -> Failure | None:
        """Say what is wrong with a case's scorers before anything is asked of a target."""

    def outcome(
        self, column: Column, case: Case, output: Output, kept: Sequence[Score]
    ) -> ScoringOutcome | Failure:
        """Return the scores that are still missing, and what judges are to say."""


class ProgramDecisions(Protocol):
    """What the journey needs of programs that decide."""

    async def scores(
        self, column: Column, case: Case, output: Output, checks: Sequence[Check]
    ) -> tuple[Score, ...]:
        """Return the score of each check."""


@dataclass(frozen=True, slots=True)
class OutputScoring:
    """What scores outputs."""

    scorer: TrialScorer
    """The suite's scorers: rules, and who else is to decide."""
    programs: ProgramDecisions | None = None
    """None: no scorer has a program decide."""


@dataclass(frozen=True, slots=True)
class JourneyColumns:
    """What a journey asks: a run's columns, and the targets behind them."""

    columns: Sequence[Column]
    """By their index."""
    targets: Mapping[str, JourneyTarget]
    """By name."""
    opened: LazyOpen
    """Opens the targets."""


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """How long, and how often, a trial is asked for its output."""

    patience: Patience
    """Decides whether and when a failed attempt is followed by another."""
    timeout_s: float
    """For one attempt, where the case names none."""
    patience_s: float
    """To wait for an endpoint that refuses everybody."""
