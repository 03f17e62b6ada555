"""Workers that make calls to one endpoint: how many there are, when they begin, how they wait."""

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from tui_eval.engine.limits.admission import NO_LIMITS
from tui_eval.engine.limits.call_permit import CallPermit, call_permit
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.spend_cap import Payer
from tui_eval.engine.limits.spend_caps import SpendCaps


class WorkerPool(ABC):
    """Keeps as many workers as the limiter allows calls; what they do is a subclass's.

    A worker takes something to do, or sleeps until something changes or a moment has come. While
    the pool is closed none takes anything; those that have something finish it.
    """

    def __init__(self, limiter: Limiter, spend_caps: SpendCaps) -> None:
        """Make a pool that is closed and has no workers yet.

        Args:
            limiter: Bounds its workers and their calls.
            spend_caps: Bound what its calls take.
        """
        self.limiter = limiter
        self._spend_caps = spend_caps
        self._workers = 0
        self._busy = 0
        """What is being done; as long as anything is, the engine does not leave."""
        self._open = False
        self._ended = False
        self._changed = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    @property
    def busy(self) -> int:
        """What workers have, or what is being done without one."""
        return self._busy

    @property
    @abstractmethod
    def idle(self) -> bool:
        """Whether nothing is left to do, as far as is known."""

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as self._group:
            self.staff()

    def staff(self) -> None:
        """Bring the number of workers to the limit; workers above it leave by themselves."""
        while self._group is not None and self._workers < self._places:
            self._workers += 1
            self._group.create_task(self._work())
        self.tell()

    def look_for_room(self) -> None:
        """Have calls leave that this machine has room for by now, which the end of none tells."""
        if not self._open or not self.limiter.follows_machine:
            return
        case_limits = self._next_limits()
        if case_limits is not None:
            self.limiter.wanted(time.monotonic(), case_limits)
            self.staff()

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise; those in flight go on."""
        self._open = dispatching
        self.tell()

    def tell(self) -> None:
        """Have workers that wait look whether there is something to do now."""
        self._changed.set()
        self._changed = asyncio.Event()

    def end(self) -> None:
        """Let all workers leave; whoever has something to do finishes it first."""
        self._ended = True
        self.set_open(False)

    @abstractmethod
    async def _work(self) -> None:
        """Be one worker, inside `_employed`, until it `_may_leave`."""

    def _next_limits(self) -> Mapping[str, int] | None:
        """Return the limits that the case of the next call names, be it ready or tried before.

        None: there is no call.
        """
        return None

    @abstractmethod
    def _nothing_untried(self) -> bool:
        """Return whether all that is left to ask was asked before."""

    @contextmanager
    def _employed(self) -> Iterator[None]:
        """Count a worker, from `staff` until the block ends."""
        try:
            yield
        finally:
            self._workers -= 1
            self.tell()  # one that sleeps may have to do what this one would have done

    @property
    def _places(self) -> int:
        """How many workers there are to be."""
        return self.limiter.concurrency

    def _may_leave(self) -> bool:
        return self._ended or self._workers > self._places

    def _may_call(
        self, payer: Payer, now: float, case_limits: Mapping[str, int] = NO_LIMITS
    ) -> bool:
        """Return whether a payer's call, which is ready, may leave now.

        Args:
            payer: Who pays for it.
            now: In monotonic seconds.
            case_limits: The limits that its case names.
        """
        self.limiter.wanted(now, case_limits)
        if self._workers < self._places:
            self.staff()  # the limit found out that more is possible
        return self._has_slot(now) and self._spend_caps.may_begin(payer)

    def _has_slot(self, now: float) -> bool:
        """Return whether the limit lets a call be started now."""
        return self.limiter.may_start(now)

    def _again_at(self, now: float) -> float | None:
        """Return when a call may leave by time alone; None: it waits for others to end."""
        return None if self.limiter.may_start(now) else self.limiter.again_at(now)

    @contextmanager
    def _call(self, payer: Payer) -> Iterator[CallPermit]:
        """Hold the room of a payer's call, in the limit and in the caps, while it is in flight."""
        with (
            self._spend_caps.call(payer),
            call_permit(self.limiter, self._nothing_untried) as permit,
        ):
            yield permit

    def _called(self) -> None:
        """Let more calls leave where the one that has ended makes room for more than its own."""
        if self._workers < self._places:
            self.staff()  # the limit found out that more is possible
        elif self.limiter.throttled:
            self.tell()

    async def _wait_for_change(self, until: float | None) -> None:
        """Sleep until `tell`, or until a moment (monotonic seconds); None: until `tell`."""
        timeout = None if until is None else max(0.0, until - time.monotonic())
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._changed.wait()
