"""The time in which a run was worked on: what passed between its engines is left out."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

_NOTICED = 0.1
"""Share of the whole time that must have passed without an engine: less hides nothing."""
_LEAST_S = 5.0
"""Seconds: shorter gaps stay, and so do those by which an engine's first call follows its start."""
_MOST = 20
"""Gaps that are left out, the longest."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A time in which nobody worked on the run."""

    at: float
    """When it begins, in seconds since the epoch."""
    length_s: float


@dataclass(frozen=True)
class WorkingTime:
    """Tells for any moment how long the run had been worked on by then."""

    start: float
    """When the first call was sent, in seconds since the epoch."""
    gaps: Sequence[Gap] = field(default=())

    @property
    def left_out_s(self) -> float:
        """Seconds without an engine."""
        return sum(gap.length_s for gap in self.gaps)

    def since_start(self, moment: float) -> float:
        """Return the seconds worked up to a moment, itself in seconds since the epoch."""
        without = (min(max(moment - gap.at, 0.0), gap.length_s) for gap in self.gaps)
        return moment - self.start - sum(without)

    def sql(self, moment: str) -> str:
        """Return the same in SQL, with `parameters`, of an expression for the moment."""
        without = (
            f" - max(min({moment} - :gap_{at}, :gap_{at}_s), 0)" for at in range(len(self.gaps))
        )
        return f"({moment} - :start{''.join(without)})"

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """What the SQL refers to."""
        found = {"start": self.start}
        for at, gap in enumerate(self.gaps):
            found |= {f"gap_{at}": gap.at, f"gap_{at}_s": gap.length_s}
        return found


def working_time(
    db: sqlite3.Connection, calls: str, run: int, span: tuple[float, float], wall_s: float
) -> WorkingTime:
    """Find out when nobody worked on a run.

    No row tells when an engine ended. Those that went leave a time without any call in flight, as
    does an endpoint that is left alone for a while; which it was, the time that engines worked
    tells.

    Args:
        db: The connection.
        calls: A query of the run's calls: `begun` and `ended`.
        run: The run, `:run` in that query.
        span: When the first call began and the last ended, in seconds since the epoch.
        wall_s: How long engines worked on it.
    """
    start, end = span
    idle = end - start - wall_s
    if idle < max((end - start) * _NOTICED, _LEAST_S):
        return WorkingTime(start)
    gaps = []
    for at, length in db.execute(
        "WITH calls AS (SELECT begun, max(ended) OVER (ORDER BY begun ROWS BETWEEN UNBOUNDED "
        f"PRECEDING AND 1 PRECEDING) AS before FROM ({calls})) "
        "SELECT before, begun - before AS gap FROM calls WHERE gap >= :least "
        "ORDER BY gap DESC LIMIT :most",
        {"run": run, "least": _LEAST_S, "most": _MOST},
    ):
        if length <= idle + _LEAST_S:
            gaps.append(Gap(at, min(length, idle)))
            idle -= gaps[-1].length_s
        if idle < _LEAST_S:
            break
    return WorkingTime(start, tuple(gaps))
