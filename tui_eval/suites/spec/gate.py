"""The thresholds that decide a run's exit code."""

from typing import Literal

from pydantic import Field

from tui_eval.suites.spec.table import Amount, Share, Spec, Texts


class ScorerThresholds(Spec):
    """What one scorer's results have to reach."""

    pass_rate: Share | None = None
    """The least share of graded trials that pass."""
    mean_score: Share | None = None
    """The least mean value."""
    max_ungraded_rate: Share | None = None
    """The largest share of trials that may be ungraded."""


class Thresholds(ScorerThresholds):
    """What a target's results, or those of one tag, have to reach."""

    max_error_rate: Share | None = None
    """The largest share of trials that may be errors."""
    max_p95_latency_s: Amount | None = None
    """The most seconds 95% of the calls may stay within."""
    max_cost_usd: Amount | None = None
    """The most US dollars it may cost."""


class BaselineGate(Spec):
    """How far each target may fall below the run's baseline."""

    max_drop: Share | None = None
    """The most a pass rate may fall below the baseline's: 0.03 is three points."""
    never_break: Texts = ()
    """Tags: no case with one of them that passes in the baseline may fail."""
    unclear: Literal["pass", "fail"] = "pass"
    """What it comes to where nobody can tell, or there is no baseline."""


class Gate(Thresholds):
    """Thresholds that hold for each target, and further ones for some."""

    targets: dict[str, Thresholds] = Field(default_factory=dict)
    """Further thresholds for a target, by its name or `target/prompt`; they win over the others."""
    scorers: dict[str, ScorerThresholds] = Field(default_factory=dict)
    """Thresholds for the results of one scorer, by its name."""
    tags: dict[str, Thresholds] = Field(default_factory=dict)
    """Thresholds for the cases with one tag."""
    baseline: BaselineGate | None = None
    """How far each target may fall below the run's baseline."""
