"""Parts of a run's document, by their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ColumnView:
    """What one target, with one prompt, came to."""

    name: str
    document: Mapping[str, Any]
    """Its part of the run's document."""

    @property
    def n(self) -> int:
        """Trials that the rate is over."""
        return int(self.document["n"])

    @property
    def pass_rate(self) -> float | None:
        """Of 0..1; None: nothing is graded."""
        rate: float | None = self.document["pass_rate"]
        return rate

    @property
    def ci95(self) -> tuple[float, float] | None:
        """Its 95% interval; None: there is none."""
        bounds: Sequence[float] | None = self.document["pass_rate_ci95"]
        return None if bounds is None else (bounds[0], bounds[1])

    @property
    def mean_score(self) -> float | None:
        """The mean score; None: nothing is graded."""
        mean: float | None = self.document["mean_score"]
        return mean


@dataclass(frozen=True, slots=True)
class GateView:
    """What a run's gate says."""

    document: Mapping[str, Any] | None
    """Its part of the run's document; None: there is no gate."""

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None: there is no gate, or the run has not finished."""
        holds: bool | None = None if self.document is None else self.document["holds"]
        return holds

    @property
    def failed(self) -> tuple[str, ...]:
        """What does not hold, a sentence each."""
        failed = () if self.document is None else self.document["failed"] or ()
        return tuple(one["message"] for one in failed)
