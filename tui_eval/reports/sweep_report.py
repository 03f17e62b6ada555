"""What a sweep has come to: a row a level, the knee, and the line for the suite."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.engine.settings import Settings
from tui_eval.format import number, per_second
from tui_eval.model.json import JsonObject
from tui_eval.model.runs.sweep_plan import SweepPlan
from tui_eval.reports.json_output import bounds, rounded
from tui_eval.statistics.load import KNEE, LevelLoad, knee, level_load
from tui_eval.store.read import sweep_queries
from tui_eval.store.rows import RunRow

_FAR: Final = 2
"""How many times the level below it the knee is where levels between are worth a look."""
_PARTS: Final = 4


@dataclass(frozen=True, slots=True)
class LevelUnderWay:
    """A level that is being measured, or was broken off."""

    level: int
    ended: int
    """Of its calls, those that have ended; the warm-up's among them."""
    calls: int
    errors: int


@dataclass(frozen=True, slots=True)
class SweepReport:
    """A sweep as far as it has come."""

    plan: SweepPlan
    levels: Sequence[LevelLoad]
    """Those that were measured to their end, in their order."""
    under_way: LevelUnderWay | None
    """None: every level that was begun has ended."""

    @property
    def knee(self) -> int | None:
        """The lowest concurrency that gives nearly the best throughput; None: none is known."""
        return knee(self.levels, self.plan.stop_at)

    @property
    def best_calls_s(self) -> float | None:
        """The best throughput of a level without too many errors; None: there is none."""
        fine = (one.calls_s for one in self.levels if not one.too_much(self.plan.stop_at))
        return max((rate for rate in fine if rate is not None), default=None)

    @property
    def line(self) -> str | None:
        """What the suite should say; None: nobody knows."""
        return None if self.knee is None else f"concurrency = {self.knee}"

    @property
    def too_much(self) -> LevelLoad | None:
        """The first level with too many errors; None: there is none."""
        return next((one for one in self.levels if one.too_much(self.plan.stop_at)), None)

    @property
    def still_grows(self) -> bool:
        """Whether the highest level that was planned is the best: more may be better still."""
        return self.knee is not None and self.knee == self.plan.levels[-1]

    @property
    def levels_between(self) -> list[int]:
        """Levels by which the knee is found more closely; empty: there is hardly any between."""
        if self.knee is None:
            return []
        below = [one.level for one in self.levels if one.level < self.knee]
        if not below or self.knee < _FAR * below[-1] or self.knee - below[-1] < _PARTS:
            return []
        step = (self.knee - below[-1]) / _PARTS
        return [below[-1] + round(step * part) for part in range(_PARTS + 1)]

    def speedup(self, of: LevelLoad) -> float | None:
        """Return how many times the throughput of the first level a level has; None: unknown."""
        first = self.levels[0].calls_s
        return of.calls_s / first if first and of.calls_s is not None else None

    def as_json(self) -> JsonObject:
        """Return the document that `sweep --json` prints."""
        return {
            "levels": [self._row(one) for one in self.levels],
            "knee": self.knee,
            "line": self.line,
            "stop_at": self.plan.stop_at,
        }

    def _row(self, of: LevelLoad) -> JsonObject:
        return {
            "level": of.level,
            "calls": of.calls,
            "errors": of.errors,
            "error_ci95": bounds(of.error_ci95),
            "refused": of.refused,
            "calls_s": rounded(of.calls_s),
            "speedup": rounded(self.speedup(of)),
            "latency_s": {"p50": rounded(of.p50_s), "p95": rounded(of.p95_s)},
            "tokens_s": rounded(of.tokens_s),
            "in_flight": rounded(of.in_flight),
        }


def sweep_report(db: sqlite3.Connection, run: RunRow) -> SweepReport | None:
    """Return what a sweep has come to; None: the run is none."""
    plan = Settings.from_json(run.settings).sweep
    if plan is None:
        return None
    known = sweep_queries.sweep_levels(db, run.id)
    levels = [
        level_load(one.level, sweep_queries.sweep_calls(db, run.id, one))
        for one in known
        if one.ended
    ]
    if not known or known[-1].ended:
        return SweepReport(plan, levels, None)
    last = known[-1]
    calls = sweep_queries.sweep_calls(db, run.id, last)
    errors = sum(not call.answered for call in calls)
    under_way = LevelUnderWay(last.level, len(calls), last.warm_up + last.calls, errors)
    return SweepReport(plan, levels, under_way)


def knee_words(of: SweepReport) -> str | None:
    """Say which level is the knee, and of what; None: there is none."""
    if of.knee is None or of.best_calls_s is None:
        return None
    (knee,) = (one for one in of.levels if one.level == of.knee)
    so_far = "" if of.under_way is None else " so far"
    share = round(100 * (1 - KNEE))
    return (
        f"knee{so_far}: {number(of.knee)} ({per_second(knee.calls_s)}), the lowest level within "
        f"{share}% of the best throughput ({per_second(of.best_calls_s)})"
    )
