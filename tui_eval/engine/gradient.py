"""Whether calls take longer because there are more of them: what `auto` grows and is cut by.

The gradient of latency against a base, as TCP Vegas does it (Brakmo and Peterson, 1995) and
Netflix's concurrency-limits for servers (Gradient2): a server that queues instead of refusing shows
by the time its calls take. Here a round of calls that began under one limit is compared with the
fastest round at a low one, by means whose longest quarter is cut to the length of the others
(winsorized), so that neither a call that hangs nor the order in which long and short answers end
decides. A cut that makes nothing faster was not to blame the limit for: the base is taken anew.
"""

import math
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

TOLERANCE: Final = 1.5
"""How many times the base's latency a round may have (the same as Gradient2's)."""
KNOWN_TOLERANCE: Final = 2.0
"""The same once a cut has helped: near the limit that was found half as many would be too few."""
FLAT: Final = 1.25
"""Up to how many times the base's latency more calls are worth a try."""
HELPED: Final = 0.75
"""The share of its latency that half as many calls leave at most where they were in the way."""
WORTH_S: Final = 0.05
"""Seconds of queueing below which nothing is done: an engine's own work takes as long."""
_KNOWN: Final = 0.75
"""The share of a round that must have ended before it is judged."""
_PRECISE: Final = 0.15
"""The relative error of a base that is good enough."""
_CUTS: Final = 2
"""Cuts after which it is believed that they help nothing."""
_LEAST: Final = 8
"""Calls of a round at least: a few may all be short ones."""
_MORE: Final = 64
"""Calls that a round has at most beyond a few times the limit."""


class Trend(Enum):
    """What a round says of the limit."""

    LEVEL = auto()
    """Calls take as long as fewer did: more may be tried."""
    STEADY = auto()
    """They take somewhat longer: as many as these, and no more."""
    RISES = auto()
    """They take much longer: fewer get as much done."""
    UNRELATED = auto()
    """They take as long as twice as many did: something else has made them slow."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call stands: in which round, and the how-manieth of it."""

    round: int
    number: int


@dataclass(frozen=True, slots=True)
class _Measured:
    mean: float
    error: float
    """The standard error of the mean."""
    longest: float
    """To what the longest were cut."""


class Gradient:
    """Compares rounds of calls; a round is made of the first calls that begin under a limit."""

    def __init__(self, limit: int) -> None:
        """Begin with a limit, and know nothing."""
        self.latency_s = 0.0
        """What a call of the last round took, about."""
        self.base_s = 0.0
        """What it took when there were fewer, about."""
        self._base: _Measured | None = None
        self.before = limit
        """The limit before the last cuts."""
        self._crowded: _Measured | None = None
        """What a call took before the cut whose effect this round shows; None: there was none."""
        self._tolerance = TOLERANCE
        self._cuts = 0
        """How many cuts followed one another."""
        self._varies = 0.0
        """The most that calls of one round have varied, as a share of their mean."""
        self._limit = 0
        self._round = 0
        self._begun = 0
        """Calls of this round that have left."""
        self._size = 0
        """How many of them it is made of; more, once these are too few to tell."""
        self._took: dict[int, float | None] = {}
        """How long those took that are over; None: nobody knows."""
        self._over = 0
        """How many of its calls are."""
        self._open: dict[int, float] = {}
        """When those began that are not (monotonic seconds)."""
        self.restart(limit)

    def restart(self, limit: int) -> None:
        """Begin a round: the limit has moved, or the last round has told what it could."""
        self._limit = limit
        self._size = max(limit, _LEAST)
        self._round += 1
        self._begun = self._over = 0
        self._took.clear()
        self._open.clear()

    def begin(self, now: float) -> Place:
        """Take a call that leaves into the round; return its place."""
        self._begun += 1
        if self._begun <= 2 * self._largest:
            self._open[self._begun] = now
        return Place(self._round, self._begun)

    def end(self, place: Place, call_s: float | None) -> None:
        """Take down how long a call took; None: nobody knows. Only the first word counts."""
        number = place.number
        if place.round != self._round or self._open.pop(number, None) is None:
            return
        self._took[number] = call_s
        self._over += number <= self._size

    def trend(self, now: float) -> Trend | None:
        """Judge the round; return None where it is too early for that."""
        if not self._begun:
            return Trend.LEVEL  # nobody tells how long calls take
        if self._begun < self._size or self._over < math.ceil(_KNOWN * self._size):
            return None
        over = [took for number, took in self._took.items() if number <= self._size]
        took = [one for one in over if one is not None]
        if not took:
            return Trend.LEVEL
        size = self._size - len(over) + len(took)
        if len(took) < math.ceil(_KNOWN * size):
            return None
        measured = self._measured(took, size)
        youngest = max((at for n, at in self._open.items() if n <= self._size), default=0.0)
        if len(took) < size and now - youngest < measured.longest:
            return None  # it may yet be a short one
        trend = self._judged(measured, last=self._size >= self._largest)
        if trend is None:
            self._size *= 2
            self._over = sum(number <= self._size for number in self._took)
            return None
        self.latency_s = measured.mean
        return trend

    @property
    def _largest(self) -> int:
        """Calls from which on a round is large enough for any judgement."""
        return 2 * self._limit + _MORE

    def _judged(self, now: _Measured, *, last: bool) -> Trend | None:
        """Judge a round of some size; None: a larger one is to tell."""
        if self._base is None:
            precise = now.error <= _PRECISE * now.mean
            return self._rebase(now, Trend.LEVEL) if precise or last else None
        if self._crowded is not None:
            ratio, error = _ratio(now, self._crowded)
            if abs(ratio - HELPED) < error and not last:
                return None
            if ratio > HELPED:
                return self._not_helped(now)
            self._crowded = None
        return self._compared(now, self._base, last=last)

    def _not_helped(self, now: _Measured) -> Trend:
        """Cut once more, as what had begun before the cut was perhaps in the way; then no more."""
        self._cuts += 1
        if self._cuts > _CUTS or self._limit == 1:
            self._crowded = None
            self._tolerance = TOLERANCE
            return self._rebase(now, Trend.UNRELATED)
        self._crowded = now
        return Trend.RISES

    def _compared(self, now: _Measured, base: _Measured, *, last: bool) -> Trend | None:
        ratio, error = _ratio(now, base)
        if ratio + error < 1 and now.error <= _PRECISE * now.mean:
            return self._rebase(now, Trend.LEVEL)
        if now.mean - base.mean < WORTH_S:
            return Trend.LEVEL
        if abs(ratio - self._tolerance) < error and not last:
            return None
        if ratio <= self._tolerance:
            return Trend.LEVEL if ratio <= FLAT else Trend.STEADY
        if self._limit == 1:
            return self._rebase(now, Trend.LEVEL)  # one call is in nobody's way
        self._crowded, self._cuts, self.before = now, 1, self._limit
        self._tolerance = KNOWN_TOLERANCE
        return Trend.RISES

    def _measured(self, took: list[float], size: int) -> _Measured:
        """Give the winsorized mean of a round of `size` calls, of which these are over."""
        took.sort()
        longest = took[math.ceil(_KNOWN * size) - 1]
        cut = [min(one, longest) for one in took] + [longest] * (size - len(took))
        mean = max(math.fsum(cut) / size, 1e-9)
        spread = math.sqrt(math.fsum((one - mean) ** 2 for one in cut) / max(1, size - 1))
        self._varies = max(self._varies, spread / mean)
        return _Measured(mean, self._varies * mean / math.sqrt(size), longest)

    def _rebase(self, now: _Measured, trend: Trend) -> Trend:
        self._base = now
        self.base_s = now.mean
        return trend


def _ratio(one: _Measured, other: _Measured) -> tuple[float, float]:
    """Give the ratio of two means and its standard error."""
    ratio = one.mean / other.mean
    return ratio, ratio * math.hypot(one.error / one.mean, other.error / other.mean)
