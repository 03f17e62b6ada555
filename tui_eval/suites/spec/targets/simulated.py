"""A simulated model as a target."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, TypeAlias, get_args

from pydantic import Field, StrictInt

from tui_eval.model.answer_source import AnswerSource
from tui_eval.providers.prices import FREE, Prices
from tui_eval.suites.spec.asked.simulation import Faults, Latency
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.table import Share, Texts
from tui_eval.suites.spec.targets.target import TargetSpec

FaultKind: TypeAlias = Literal["rate_limit", "server_error", "timeout", "empty", "truncated"]
FAULT_KINDS: Final[tuple[str, ...]] = get_args(FaultKind)
"""The faults a simulated target can have."""


class SimulatedTargetSpec(TargetSpec):
    """A simulated model for demos, tests and load; it says so wherever it is shown."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("answers",)
    SOURCE: ClassVar[AnswerSource] = AnswerSource.SIMULATED

    kind: Literal["simulated"]
    """What it is."""
    answers: Annotated[Texts, Field(min_length=1)]
    """What it answers: templates; the first is the right answer, the others are wrong ones."""
    accuracy: Share = 1.0
    """The share of trials it answers right."""
    latency_s: Latency = 0.0
    """Seconds it takes to answer: a number, or [least, most]."""
    faults: Faults[FaultKind] = Field(default_factory=dict)
    """The share of attempts that go wrong, by kind: rate_limit, server_error, timeout, empty,
    truncated."""
    seed: StrictInt = 0
    """What answers, latencies and faults are drawn by."""
    concurrency: Concurrency | None = None
    """Calls in flight, in place of [run] concurrency."""

    def late_names(self, field: str) -> frozenset[str]:
        """Return `turn`, which its answers know where the prompt has several."""
        return frozenset(("turn",))

    @classmethod
    def takes_turns(cls, table: Mapping[str, object]) -> bool:
        """Say that it answers each turn."""
        return True

    def in_words(self) -> str:
        """Say what its answers are."""
        return "simulated"

    def token_prices(self) -> Prices:
        """Return that it costs nothing: no API calls."""
        return FREE
