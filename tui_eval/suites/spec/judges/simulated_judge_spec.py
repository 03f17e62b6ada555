"""A simulated judge."""

from typing import ClassVar, Final, Literal, TypeAlias, get_args

from pydantic import Field, StrictInt

from tui_eval.model.answer_source import AnswerSource
from tui_eval.providers.prices import FREE, Prices
from tui_eval.suites.spec.asked.simulation import Faults, Latency
from tui_eval.suites.spec.judges.judge_spec import JudgeSpec

JudgeFault: TypeAlias = Literal[
    "missing",
    "garbage",
    "out_of_range",
    "wrong_nonce",
    "truncated",
    "rate_limit",
    "server_error",
]
JUDGE_FAULTS: Final[tuple[str, ...]] = get_args(JudgeFault)
"""The faults a simulated judge can have."""


class SimulatedJudgeSpec(JudgeSpec):
    """A simulated judge for demos, tests and load: it compares words, and says what it is."""

    SOURCE: ClassVar[AnswerSource] = AnswerSource.SIMULATED

    kind: Literal["simulated"]
    """What it is."""
    latency_s: Latency = 0.0
    """Seconds it takes to answer: a number, or [least, most]."""
    faults: Faults[JudgeFault] = Field(default_factory=dict)
    """The share of requests that go wrong, by kind: missing, garbage, out_of_range, wrong_nonce,
    truncated, rate_limit, server_error."""
    seed: StrictInt = 0
    """What latencies and faults are drawn by."""

    def in_words(self) -> str:
        """Say what its grades are."""
        return "simulated"

    def token_prices(self) -> Prices:
        """Return that it costs nothing: no API calls."""
        return FREE
