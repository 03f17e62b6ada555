"""Whether an endpoint turns calls away because there are too many of them, without saying 429.

A server that is full says 503, or 529, and so does one that is broken in some other way. What tells
them apart is what half as many calls do: a full one turns none of them away, the other as many as
before. Once that is known a call that is turned away counts as one that was refused (429).

What is known is unlearnt: a full server turns nobody away well below the limit at which it did so
last. Where some are all the same, now and then, the server is no longer full but broken in some
other way, and nothing is known. Where many are, it bears less than it did, and the limit is cut
until none are; where even an eighth of it changes nothing, the limit is not to blame.
"""

from enum import Enum, auto
from typing import Final

STATUSES: Final = frozenset({503, 529})
"""What servers say that are overloaded."""
RARE: Final = 0.1
"""The share of calls that may be turned away without anything being done."""
_NEARLY_NONE: Final = RARE / 2
"""The share below which it is believed that none are: by chance it may be below the other one."""
_LEAST: Final = 16
"""Calls by which a share is known."""
_WELL_BELOW: Final = 0.8
"""The share of the limit it was full at under which a full server turns nobody away."""
_CHANCES: Final = 3
"""Times that it does so all the same until it is believed not to be full any more."""
_FEWEST: Final = 8
"""The how-manieth part of a limit has to help where there are too many calls."""


class OverloadVerdict(Enum):
    """What follows for the limit."""

    TRY_HALF = auto()
    """So many are turned away that half as many are worth a try."""
    REFUSED = auto()
    """There were too many: as after a refusal."""
    UNRELATED = auto()
    """Of fewer, calls are turned away too: the limit that there was before does no harm."""


class _Known(Enum):
    NOTHING = auto()
    TRYING = auto()
    FULL = auto()
    BROKEN = auto()


class Overload:
    """Follows how many calls are turned away under one limit and the next."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.before = 0
        """The limit before the cuts that followed one another last."""
        self._known = _Known.NOTHING
        self._cuts = False
        """Whether the limit was cut since calls were last turned away seldom."""
        self._knee = 0
        """The limit at which a full server turned calls away last; 0: not since it is known so."""
        self._often_there = False
        """Whether many were turned away under the last limits, and none is known that is borne."""
        self._unexplained = 0
        """Times that some were turned away well below the knee."""
        self._to_skip = 0
        """Calls that were in flight when the limit was cut: they tell nothing of the new one."""
        self._heard = self._turned_away = 0

    @property
    def trying(self) -> bool:
        """Whether it is to be seen what fewer calls do: the limit does not grow until then."""
        return self._known is _Known.TRYING or self._often_there

    def heard(self, turned_away: bool, limit: int) -> OverloadVerdict | None:
        """Learn that a call was answered, or turned away, under a limit.

        Returns:
            What follows; None: nothing.
        """
        if turned_away and self._known is _Known.FULL and limit > self._knee * _WELL_BELOW:
            self._knee = limit
            return self._refused(limit)
        if self._to_skip:
            self._to_skip -= 1
            return None
        self._heard += 1
        self._turned_away += turned_away
        if self._heard < max(_LEAST, limit):
            return None
        share, some = self._turned_away / self._heard, self._turned_away > 0
        self._heard = self._turned_away = 0
        if share >= (_NEARLY_NONE if self._known in (_Known.TRYING, _Known.BROKEN) else RARE):
            return self._often(limit)
        return self._seldom(some)

    def _seldom(self, some: bool) -> OverloadVerdict | None:
        self._cuts = self._often_there = False
        if self._known is _Known.TRYING:
            self._known, self._knee, self._unexplained = _Known.FULL, 0, 0
        elif self._known is _Known.BROKEN:
            self._known = _Known.NOTHING
        elif self._known is _Known.FULL and some:
            self._unexplained += 1
            if self._unexplained >= _CHANCES:
                self._known = _Known.NOTHING
                return OverloadVerdict.UNRELATED
        return None

    def _often(self, limit: int) -> OverloadVerdict | None:
        if self._known is _Known.BROKEN:
            return None
        if self._known is _Known.FULL and limit > max(1, self.before // _FEWEST):
            self._knee, self._often_there = limit, True
            self._unexplained += 1
            return self._refused(limit)
        if self._known is _Known.NOTHING:
            if limit == 1:
                return None
            self._known = _Known.TRYING
            self._cut_from(limit)
            return OverloadVerdict.TRY_HALF
        self._known, self._often_there = _Known.BROKEN, False
        return OverloadVerdict.UNRELATED if self._cuts else None

    def _refused(self, limit: int) -> OverloadVerdict:
        self._heard = self._turned_away = 0
        self._cut_from(limit)
        return OverloadVerdict.REFUSED

    def _cut_from(self, limit: int) -> None:
        self._to_skip = limit - 1
        if not self._cuts:
            self._cuts, self.before = True, limit
