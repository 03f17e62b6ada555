"""Whether a run's results reach what its suite asks: the thresholds that decide an exit code."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from tui_eval.format import money
from tui_eval.model.json import JsonObject
from tui_eval.suites.spec.gate import Gate, ScorerThresholds, Thresholds

_SLACK = 1e-9
"""What rounding may take from a rate that is exactly at its threshold."""


@dataclass(frozen=True, slots=True)
class GateMeasures:
    """What thresholds are about: of a target, of a scorer or a tag within one. None: unknown."""

    trials: int
    """Trials it is over, cancelled ones aside."""
    pass_rate: float | None
    mean_score: float | None
    errors: int = 0
    ungraded: int = 0
    p95_latency_s: float | None = None
    cost_usd: float | None = None

    @property
    def error_rate(self) -> float | None:
        """Errored over all trials that nobody cancelled."""
        return self.errors / self.trials if self.trials else None

    @property
    def ungraded_rate(self) -> float | None:
        """Ungraded over all trials that nobody cancelled."""
        return self.ungraded / self.trials if self.trials else None


@dataclass(frozen=True, slots=True)
class TargetMeasures:
    """One column with its groups."""

    column: str
    target: str
    whole: GateMeasures
    scorers: Mapping[str, GateMeasures]
    tags: Mapping[str, GateMeasures]


class Missed(Protocol):
    """Something that a gate asks and a run does not hold; as text, a sentence about it."""

    @property
    def column(self) -> str:
        """Whose it is."""

    @property
    def threshold(self) -> str:
        """The field of the gate."""

    @property
    def group(self) -> str | None:
        """`scorer NAME`, `tag NAME` or `baseline`; None: the target as a whole."""

    @property
    def got(self) -> float | None:
        """None: there is nothing to measure."""

    def in_short(self) -> str:
        """Return it in a few words, without its column; may hold foreign names."""

    def as_json(self) -> JsonObject:
        """Return the form the document uses."""


@dataclass(frozen=True, slots=True)
class MissedThreshold:
    """One threshold that does not hold."""

    column: str
    group: str | None
    """`scorer NAME` or `tag NAME`; None: the target as a whole."""
    threshold: str
    """The field of the gate."""
    limit: float
    got: float | None
    """None: there is nothing to measure."""

    def __str__(self) -> str:
        place = self.column if self.group is None else f"{self.column}, {self.group}"
        side = "at most" if self.threshold.startswith("max_") else "at least"
        got, limit = self.figures
        unknown = ": there is nothing to measure" if self.got is None else ""
        return f"{place}: {self.threshold} wants {side} {limit}, it is {got}{unknown}"

    @property
    def figures(self) -> tuple[str, str]:
        """What was got, in as few digits as show that it does not hold, and the limit."""
        limit = _figure(self.threshold, self.limit, 6)
        if self.got is None:
            return "unknown", limit
        enough = (
            digits
            for digits in (3, 4, 6, 9)
            if not _holds(self.threshold, self.limit, float(f"{self.got:.{digits}g}"))
        )
        return _figure(self.threshold, self.got, next(enough, 12)), limit

    def in_short(self) -> str:
        """Return it in a few words, without its column; may hold foreign names."""
        most = self.threshold.startswith("max_")
        measure = self.threshold.removeprefix("max_").removesuffix("_s").replace("_", " ")
        got, limit = self.figures
        group = "" if self.group is None else f"{self.group} "
        return f"{group}{measure} {got} {'>' if most else '<'} {limit}"

    def as_json(self) -> JsonObject:
        """Return the form the document uses."""
        return {
            "target": self.column,
            "group": self.group,
            "threshold": self.threshold,
            "limit": self.limit,
            "got": self.got,
            "message": str(self),
        }


def _figure(threshold: str, value: float, digits: int) -> str:
    """Return a figure as it is shown everywhere; money in cents unless that is too coarse."""
    if threshold.endswith("_rate"):
        return f"{value * 100:.{digits}g}%"
    if threshold.endswith("_usd"):
        in_cents = float(f"{value:.{digits}g}") == round(value, 2)
        return money(value) if in_cents else f"${value:.{digits}g}"
    return f"{value:.{digits}g}{'s' if threshold.endswith('_s') else ''}"


Measure: TypeAlias = Callable[[GateMeasures], float | None]

_THRESHOLDS: dict[str, Measure] = {
    "pass_rate": lambda of: of.pass_rate,
    "mean_score": lambda of: of.mean_score,
    "max_error_rate": lambda of: of.error_rate,
    "max_ungraded_rate": lambda of: of.ungraded_rate,
    "max_p95_latency_s": lambda of: of.p95_latency_s,
    "max_cost_usd": lambda of: of.cost_usd,
}


def judge(gate: Gate, targets: Sequence[TargetMeasures], *, partial: bool) -> list[MissedThreshold]:
    """Return every threshold that does not hold, target by target; empty: the gate holds.

    A threshold with nothing to measure does not hold. In a partial run, those about a scorer or a
    tag of which the run has no trial at all are passed over.
    """
    return [missed for target in targets for missed in _judge_target(gate, target, partial)]


def speaks_of(gate: Gate | None, threshold: str, column: str, target: str) -> bool:
    """Say whether a gate has a threshold (`max_error_rate`, …) for a target as a whole."""
    return gate is not None and threshold in _limits_of_target(gate, column, target)


def _judge_target(gate: Gate, target: TargetMeasures, partial: bool) -> Iterator[MissedThreshold]:
    limits = _limits_of_target(gate, target.column, target.target)
    yield from _judge(limits, target.whole, target.column, None)
    nothing = GateMeasures(0, None, None)
    groups: list[tuple[str, ScorerThresholds, GateMeasures]] = [
        *((f"scorer {name}", wanted, target.scorers.get(name, nothing))
          for name, wanted in gate.scorers.items()),
        *((f"tag {name}", wanted, target.tags.get(name, nothing))
          for name, wanted in gate.tags.items()),
    ]  # fmt: skip
    for group, wanted, measures in groups:
        if measures.trials or not partial:
            yield from _judge(_limits(wanted), measures, target.column, group)


def _judge(
    limits: Mapping[str, float], measures: GateMeasures, column: str, group: str | None
) -> Iterator[MissedThreshold]:
    for threshold, limit in limits.items():
        got = _THRESHOLDS[threshold](measures)
        if not _holds(threshold, limit, got):
            yield MissedThreshold(column, group, threshold, limit, got)


def _holds(threshold: str, limit: float, got: float | None) -> bool:
    if got is None:
        return False
    if threshold.startswith("max_"):
        return got <= limit + _SLACK
    return got >= limit - _SLACK


def _limits_of_target(gate: Gate, column: str, target: str) -> dict[str, float]:
    limits = _limits(gate)
    for name in dict.fromkeys((target, column)):  # the nearer one is laid on last
        limits.update(_limits(gate.targets.get(name, Thresholds())))
    return limits


def _limits(thresholds: ScorerThresholds) -> dict[str, float]:
    found = {name: getattr(thresholds, name, None) for name in _THRESHOLDS}
    return {name: limit for name, limit in found.items() if limit is not None}
