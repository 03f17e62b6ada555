"""What an endpoint gives at one number of calls in flight, and from which number on no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.model.runs.sweep_plan import SweepCall
from tui_eval.statistics.estimates import percentile
from tui_eval.statistics.intervals import Interval, wilson

KNEE: Final = 0.9
"""The share of the best throughput from which on a level counts as good as the best."""


@dataclass(frozen=True, slots=True)
class LevelLoad:
    """What was measured at one level of concurrency."""

    level: int
    """Calls that were to be in flight."""
    calls: int
    """Calls that count: those after the warm-up."""
    errors: int
    """Of these, the ones without an answer, refused ones among them."""
    refused: int
    calls_s: float | None
    """Answered calls a second; None: it was too short to say."""
    tokens_s: float | None
    """Tokens produced a second; None: likewise, or some answers do not say how many they have."""
    in_flight: float | None
    """Calls in flight, on average; None: likewise."""
    p50_s: float | None
    """Median of the seconds that answered calls took; None: none was answered."""
    p95_s: float | None

    @property
    def error_ci95(self) -> Interval | None:
        """The 95% interval of the share of errors; None: there was no call."""
        return wilson(self.errors / self.calls, self.calls) if self.calls else None

    def too_much(self, stop_at: float) -> bool:
        """Whether a larger share of its calls than this one went wrong."""
        return self.errors > stop_at * self.calls


def level_load(level: int, calls: Sequence[SweepCall]) -> LevelLoad:
    """Return what the calls of a level come to.

    Rates are over the time in which all slots are taken: from the moment that the first counted
    call leaves to the moment that the last one does. A call is in it by the share of its own time
    that lies in it, warm-up or not, so that it makes no difference whether calls end one by one or
    in waves. This is the throughput of a closed system (Denning & Buzen 1978, "The Operational
    Analysis of Queueing Network Models", ACM Computing Surveys 10), measured between its ends.
    """
    counted = [call for call in calls if call.counted]
    answered = [call for call in counted if call.answered]
    took = sorted(call.took_s for call in answered)
    begun = [call.begun for call in counted]
    rates = _rates(calls, min(begun), max(begun)) if begun else _NO_RATES
    return LevelLoad(
        level,
        len(counted),
        len(counted) - len(answered),
        sum(call.refused for call in counted),
        *rates,
        percentile(took, 0.5),
        percentile(took, 0.95),
    )


_NO_RATES: Final = (None, None, None)


def _rates(
    calls: Sequence[SweepCall], start: float, end: float
) -> tuple[float | None, float | None, float | None]:
    """Return answers and tokens a second, and calls in flight, between two moments."""
    span = end - start
    if span <= 0:
        return _NO_RATES
    answers = tokens = busy = 0.0
    known = True
    for call in calls:
        inside = min(call.begun + call.took_s, end) - max(call.begun, start)
        if inside <= 0:
            continue
        busy += inside
        if call.answered:
            share = inside / call.took_s
            answers += share
            known = known and call.output_tokens is not None
            tokens += share * (call.output_tokens or 0)
    return answers / span, tokens / span if known and answers else None, busy / span


def knee(levels: Sequence[LevelLoad], stop_at: float) -> int | None:
    """Return the lowest level that gives nearly as much as any (`KNEE`) without too many errors.

    Args:
        levels: What was measured.
        stop_at: The share of errors above which a level is too much.

    Returns:
        None where every level has too many errors, or nothing is known of any.
    """
    rates = {one.level: one.calls_s for one in levels if one.calls_s and not one.too_much(stop_at)}
    if not rates:
        return None
    best = max(rates.values())
    return min(level for level, rate in rates.items() if rate >= KNEE * best)
