"""Whether an endpoint turns calls away because there are too many of them, without saying 429.

A server that is full says 503, or 529, and so does one that is broken in some other way. What tells
them apart is what half as many calls do: a full one turns none of them away, the other as many as
before. Once that is known a call that is turned away counts as one that was refused (429).
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
        self._to_skip = 0
        """Calls that were in flight when the limit was halved: they tell nothing of the new one."""
        self._heard = self._turned_away = 0

    @property
    def trying(self) -> bool:
        """Whether it is to be seen what half as many calls do: the limit stays until then."""
        return self._known is _Known.TRYING

    def heard(self, turned_away: bool, limit: int) -> OverloadVerdict | None:
        """Learn that a call was answered, or turned away, under a limit.

        Returns:
            What follows; None: nothing.
        """
        if self._to_skip:
            self._to_skip -= 1
            return None
        self._heard += 1
        self._turned_away += turned_away
        if turned_away and self._known is _Known.FULL and limit > 1:
            self._cut_from(limit)
            return OverloadVerdict.REFUSED
        if self._heard < max(_LEAST, limit):
            return None
        share = self._turned_away / self._heard
        self._heard = self._turned_away = 0
        if share >= (_NEARLY_NONE if self._known in (_Known.TRYING, _Known.BROKEN) else RARE):
            return self._often(limit)
        self._seldom()
        return None

    def _seldom(self) -> None:
        self._cuts = False
        if self._known is _Known.TRYING:
            self._known = _Known.FULL
        elif self._known is _Known.BROKEN:
            self._known = _Known.NOTHING

    def _often(self, limit: int) -> OverloadVerdict | None:
        if self._known is _Known.BROKEN or (self._known is _Known.FULL and limit > 1):
            return None
        if self._known is _Known.NOTHING:
            if limit == 1:
                return None
            self._known = _Known.TRYING
            self._cut_from(limit)
            self._to_skip = limit
            return OverloadVerdict.TRY_HALF
        self._known = _Known.BROKEN
        return OverloadVerdict.UNRELATED if self._cuts else None

    def _cut_from(self, limit: int) -> None:
        if not self._cuts:
            self._cuts, self.before = True, limit
