"""Calls whose start is in the store before there is a slot for them.

A call may leave only once its start is on the disk. Were that written after a slot is free, the
slot would be empty for as long as a commit takes: a quarter of the time where calls take 20 ms. So
starts are written ahead: as many as are being written at any time (by Little's law the calls that
end in a second times the seconds of a commit). Where calls take seconds that is none, and every
call has its slot first.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.limits.call_permit import CallPermit
from tui_eval.engine.limits.limiter import Limiter

_PART: Final = 2
"""One call for so many slots is prepared at most."""
_BUNCHES: Final = 2
"""Starts are written in bunches, and calls end in bunches: so many times the average are ready."""
_WINDOW_S: Final = 0.25
"""Seconds in which starts tell how many are being written at once."""


@dataclass(slots=True, eq=False)
class PreparedCall:
    """A call that is being started: it has its slot, or will get one."""

    flight: TrialInFlight
    permit: CallPermit | None = None
    """What it leaves with; None: it has no slot yet."""
    since: float = field(default_factory=time.monotonic)
    """When its start began to be written (monotonic seconds)."""
    slot: "asyncio.Future[None] | None" = field(default=None, repr=False)
    """Done when it may leave, or is not to leave any more; None: nobody waits for it."""


class PreparedCalls:
    """Gives slots to calls, in the order in which they were started.

    Must be used in the loop of the pool that makes the calls.
    """

    def __init__(self, limiter: Limiter, nothing_untried: Callable[[], bool]) -> None:
        """Begin with none.

        Args:
            limiter: Has the slots.
            nothing_untried: What a `CallPermit` asks.
        """
        self._limiter = limiter
        self._nothing_untried = nothing_untried
        self._open = False
        self._without_slot = 0
        self._line: deque[PreparedCall] = deque()
        self._writing = 0.0
        """How many starts are being written at once, on average."""
        self._took_s = 0.0
        """Seconds that it took to write the starts of the present window, all together."""
        self._window_since = time.monotonic()
        self._again: asyncio.TimerHandle | None = None

    @property
    def first(self) -> TrialInFlight | None:
        """The trial whose call is the next one to get a slot; None: none waits for one."""
        return self._line[0].flight if self._line else None

    @property
    def untried(self) -> bool:
        """Whether a call waits for a slot that is the first one of its trial."""
        return any(call.flight.waited_s is None for call in self._line)

    @property
    def most(self) -> int:
        """How many starts are written ahead at most."""
        return self._limiter.concurrency // _PART

    def may_prepare(self, more: int = 1) -> bool:
        """Whether more starts are to be written although no slot is free."""
        ahead = min(self.most, int(_BUNCHES * self._writing))
        return self._without_slot + more <= ahead and self._limiter.bound_by_slots

    @contextmanager
    def call(self, flight: TrialInFlight) -> Iterator[PreparedCall]:
        """Hold a call's slot until the block ends, or its place in the line until it has one."""
        call = PreparedCall(flight)
        if not self._line and self._limiter.may_start(time.monotonic()):
            self._give_slot(call)
        self._without_slot += call.permit is None
        try:
            yield call
        finally:
            if call.permit is None:
                self._without_slot -= 1
            else:
                call.permit.end()
                self.give_slots()

    async def departure(self, call: PreparedCall) -> CallPermit | None:
        """Wait until a call whose start is written may leave; None: it is not to leave."""
        self._learn(time.monotonic(), call)
        if call.permit is None and not self._is_held(call):
            call.slot = asyncio.get_running_loop().create_future()
            self._line.append(call)
            self.give_slots()
            try:
                await call.slot
            finally:
                if call in self._line:
                    self._line.remove(call)
        return None if self._is_held(call) else call.permit

    def give_slots(self) -> None:
        """Let those leave that may by now."""
        now = time.monotonic()
        while self._line and self._may_leave(self._line[0].flight.work.case.limits, now):
            call = self._line.popleft()
            self._without_slot -= 1
            self._give_slot(call)
            _wake(call)
        if self._line and (due := self._limiter.again_at(now)) is not None:
            self._look_again_at(due)

    def set_open(self, dispatching: bool) -> None:
        """Let calls leave, or none from now on: those that wait for a slot go back."""
        self._open = dispatching
        self._withdraw()

    def drop_withdrawn(self) -> None:
        """Have those go back whose trials a person took away."""
        self._withdraw()

    def _withdraw(self) -> None:
        """Wake those in the line that are not to leave: they have no slot, and go back."""
        for call in list(self._line):
            if self._is_held(call):
                self._line.remove(call)
                _wake(call)

    def _is_held(self, call: PreparedCall) -> bool:
        """Return whether a call is not to leave any more, be there a slot for it or not."""
        return not self._open or call.flight.withdrawn

    def _learn(self, now: float, call: PreparedCall) -> None:
        """Learn how long a start took to be written."""
        self._took_s += now - call.since
        if now - self._window_since >= _WINDOW_S:
            self._writing = self._took_s / (now - self._window_since)
            self._took_s, self._window_since = 0.0, now

    def _may_leave(self, case_limits: Mapping[str, int], now: float) -> bool:
        self._limiter.wanted(now, case_limits)
        return self._limiter.may_start(now)

    def _give_slot(self, call: PreparedCall) -> None:
        call.permit = CallPermit.begin(self._limiter, self._nothing_untried)

    def _look_again_at(self, due: float) -> None:
        if self._again is not None:
            self._again.cancel()
        wait_s = max(0.0, due - time.monotonic())
        self._again = asyncio.get_running_loop().call_later(wait_s, self.give_slots)


def _wake(call: PreparedCall) -> None:
    assert call.slot is not None, "who is in the line waits"
    if not call.slot.done():
        call.slot.set_result(None)
