"""The workers of one endpoint: a bounded set that takes trials from a stream."""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from contextlib import suppress

from tui_eval.engine.feed import Feed
from tui_eval.engine.hand import Hand, Phase
from tui_eval.engine.journey import Hearing, Journey, Step
from tui_eval.engine.judging.judging import Judging
from tui_eval.engine.limiter import Limiter
from tui_eval.engine.purse import Purse
from tui_eval.engine.slot import taken
from tui_eval.model.output import Output
from tui_eval.store.tx import Tx
from tui_eval.store.writer import Writer

MAX_WAITING = 1000
"""Trials that back off at once at most; beyond that nothing new is begun."""
MAX_SCORED = 32
"""Outputs that are scored off the loop at once, or wait for it in memory; others in the store."""
_FLUSH_AT = 64


class Pool:
    """Keeps as many trials on their journey as the endpoint's limiter allows.

    A worker carries the facts of its last trial along until it knows the next one, so that both
    are one transaction; where there is no next one they are written at once. A trial that backs
    off gives its worker up, and so does one whose output cannot be scored at once: the output is
    in the store by then.
    """

    def __init__(
        self,
        feed: Feed,
        limiter: Limiter,
        journey: Journey,
        writer: Writer,
        hands: dict[int, Hand],
        judging: Judging,
        purse: Purse,
        on_idle: Callable[[], None],
    ) -> None:
        self.feed = feed
        self.limiter = limiter
        self._journey = journey
        self._writer = writer
        self._hands = hands
        self._judging = judging
        self._purse = purse
        self._on_idle = on_idle
        self._waiting: list[tuple[float, int, Hand]] = []
        self._order = itertools.count()
        self._busy = 0
        self._scored = 0
        """Of what is busy, the trials whose outputs are scored off the loop."""
        self._left_unscored = False
        """Whether outputs were left in the store because too many are scored."""
        self._taken = 0
        """Trials that workers ask or score."""
        self._unheard = 0
        """Trials for judges that workers have not written down yet."""
        self._workers = 0
        self._open = False
        self._ended = False
        self._refilling = False
        self._unreachable = False
        """Whether the last attempt found nobody: those that back off find out for all others."""
        self._tried_probe = False
        """Whether the call that was begun last was one that had been tried before."""
        self._news = asyncio.Event()
        self._hungry = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do, as far as the store was read."""
        return (
            not self._busy
            and all(hand.withdrawn for _, _, hand in self._waiting)
            and not len(self.feed)
            and self.feed.at_end
            and not self._refilling
        )

    @property
    def busy(self) -> int:
        """Trials that workers have, or whose outputs are scored off the loop."""
        return self._busy

    @property
    def ungraded(self) -> int:
        """Trials that may yet be handed on to judges, of those that are busy."""
        return self._taken + self._unheard + self._scored

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as self._group:
            self._group.create_task(self._keep_fed())
            self.staff()

    def staff(self) -> None:
        """Bring the number of workers to the limit; workers above it leave by themselves."""
        while self._group is not None and self._workers < self.limiter.concurrency:
            self._workers += 1
            self._group.create_task(self._work())
        self.tell()

    def set_open(self, dispatching: bool) -> None:
        """Begin new attempts, or begin none until told otherwise; those in flight go on."""
        self._open = dispatching
        self._hungry.set()
        self.tell()

    def drop_withdrawn(self) -> None:
        """Forget what a person took away before any worker had it."""
        self.feed.drop_withdrawn()
        self._tell_if_idle()

    def look_again(self) -> None:
        """Look for open trials from the beginning: a request has opened some."""
        self.feed.rewind()
        self._hungry.set()

    def end(self) -> None:
        """Let all workers leave; whoever has a trial finishes it first."""
        self._open = False
        self._ended = True
        self._hungry.set()
        self.tell()

    async def _work(self) -> None:
        unwritten: list[tuple[Hand, Step]] = []
        try:
            while not self._may_leave():
                hand = self._take()
                if hand is None:
                    await self._write(unwritten)
                    await self._pause()
                    continue
                self._busy += 1
                self._taken += 1
                try:
                    step = await self._advance(hand, unwritten)
                finally:
                    self._busy -= 1
                    self._taken -= 1
                if step is not None and step.goes_on:
                    self._unheard += 1
                else:
                    self._purse.look_again()
                if step is not None:
                    unwritten.append((hand, step))
                    if step.again_in is not None or len(unwritten) >= _FLUSH_AT:
                        await self._write(unwritten)
        finally:
            self._workers -= 1
            await self._write(unwritten)

    def _may_leave(self) -> bool:
        return self._ended or self._workers > self.limiter.concurrency

    async def _advance(self, hand: Hand, unwritten: list[tuple[Hand, Step]]) -> Step | None:
        if hand.work.output is not None:
            return self._journey.score(hand, hand.work.output)
        hand.phase = Phase.STARTING
        with (
            self._purse.call(hand.work.col),
            taken(self.limiter, self._nothing_untried) as slot,
        ):
            attempt = await self._write(unwritten, starting=hand)
            if attempt is None:  # cancelled before it was its turn, and perhaps opened again since
                self._let_go(hand, stands=False)
                return None
            if hand.withdrawn:  # cancelled while its start was written
                return self._journey.unsent(attempt)
            step = await self._journey.generate(hand, attempt, slot)
        self._unreachable = step.unreachable
        if self._workers < self.limiter.concurrency:
            self.staff()  # the limit found out that more is possible
        elif self.limiter.throttled:
            self.tell()  # others may start now
        return step

    async def _write(
        self, unwritten: list[tuple[Hand, Step]], starting: Hand | None = None
    ) -> int | None:
        """Commit the steps not written yet, and the start of a trial, as one transaction."""
        if not unwritten and starting is None:
            return None
        steps = list(unwritten)
        unwritten.clear()

        def unit(tx: Tx) -> tuple[list[bool], int | None]:
            stand = [step.write(tx) for _, step in steps]
            return stand, None if starting is None else self._journey.start(starting, tx)

        # no slot is given back while facts are still under way: counted as busy
        self._busy += 1
        try:
            stand, attempt = await self._writer.write(unit)
        finally:
            self._busy -= 1
        for (hand, step), stands in zip(steps, stand, strict=True):
            self._unheard -= step.goes_on
            if not stands or hand.withdrawn:
                self._let_go(hand, stands=False)
            elif step.again_in is not None:
                self._wait(hand, step.again_in)
            elif step.unscored is not None and self._score(hand, step.unscored):
                continue
            elif step.hearing is None or not self._hear(hand, step.hearing):
                self._let_go(hand)
        if any(step.goes_on for _, step in steps):
            self._purse.look_again()
        return attempt

    def _score(self, hand: Hand, output: Output) -> bool:
        """Have an output in the store scored off the loop; False where too many are now."""
        assert self._group is not None, "what a worker has written is dealt with while it runs"
        if self._scored >= MAX_SCORED:
            self._left_unscored = True
            return False
        self._scored += 1
        self._busy += 1
        self._group.create_task(self._score_off_loop(hand, output))
        return True

    async def _score_off_loop(self, hand: Hand, output: Output) -> None:
        try:
            step = await self._journey.scored(hand, output)
            self._unheard += step.goes_on
            await self._write([(hand, step)])
        finally:
            self._scored -= 1
            self._busy -= 1
        self._purse.look_again()
        if self._left_unscored and self._scored <= MAX_SCORED // 2:
            self._left_unscored = False
            self.look_again()
        self.tell()
        self._tell_if_idle()

    def _hear(self, hand: Hand, hearing: Hearing) -> bool:
        """Hand a trial on to the judges; False where they have no room for it now."""
        return self._judging.take(
            hand, hearing.output, hearing.scores, hearing.asks, hearing.seating
        )

    def _wait(self, hand: Hand, seconds: float) -> None:
        hand.phase = Phase.WAITING
        hand.waited_s = seconds
        due = time.monotonic() + seconds
        heapq.heappush(self._waiting, (due, next(self._order), hand))
        self.tell()

    def _let_go(self, hand: Hand, *, stands: bool = True) -> None:
        """Forget a trial; where what came of it was not written, it may be open anew."""
        if self._hands.get(hand.work.trial) is hand:
            del self._hands[hand.work.trial]
        if not stands:
            self.look_again()
        self._tell_if_idle()

    def _take(self) -> Hand | None:
        if not self._open:
            return None
        now = time.monotonic()
        while self._waiting and self._waiting[0][2].withdrawn:
            heapq.heappop(self._waiting)  # it is out of hand already
        if self._waiting and self._waiting[0][0] <= now and not self._untried_probes():
            hand = self._waiting[0][2]
            if self.limiter.may_start(now) and self._purse.may_begin(hand.work.col):
                heapq.heappop(self._waiting)
                self._tried_probe = True
                return hand
        if self._crowded():
            return None
        hand_or_none = self.feed.take(to_call=False, to_score=self._takes_outputs)
        if hand_or_none is None:
            hand_or_none = self._take_call(now)
        if self.feed.wants(self.limiter.concurrency):
            self._hungry.set()
        return hand_or_none

    @property
    def _takes_outputs(self) -> bool:
        """Whether outputs in the store are to be scored now, wherever that is done."""
        return self._scored < MAX_SCORED and not self._judging.full

    def _take_call(self, now: float) -> Hand | None:
        """Take the next trial that was not asked yet, where a call may leave now."""
        ready = self.feed.next_call()
        if ready is None or not self.limiter.may_start(now):
            return None
        if not self._purse.may_begin(ready.work.col):
            return None
        self._tried_probe = False
        return self.feed.take(to_score=False)

    async def _pause(self) -> None:
        """Sleep until there may be something to take."""
        now = time.monotonic()
        may_start, ready = self.limiter.may_start(now), self.feed.next_call()
        to_call = may_start and ready is not None and self._purse.fits(ready.work.col)
        to_score = self._takes_outputs
        if self._may_leave() or (
            self._open and self.feed.has(to_call=to_call, to_score=to_score) and not self._crowded()
        ):
            return
        self._tell_if_idle()
        if not may_start or not self._waiting:
            due = self.limiter.again_at(now)
        elif self._waiting[0][0] > now or self._purse.fits(self._waiting[0][2].work.col):
            due = self._waiting[0][0]
        else:
            due = None  # the purse holds it back: that changes as a call ends, not by time
        timeout = None if due is None or not self._open else max(0.0, due - now)
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._news.wait()

    def _untried_probes(self) -> bool:
        """Whether a paused endpoint is probed with a trial it has not refused before.

        Every other probe is: what was refused may be refused for ever, and others not at all.
        """
        return (
            self.limiter.paused_since is not None
            and self._tried_probe
            and not self._crowded()
            and self.feed.has(to_call=True, to_score=False)
        )

    def _nothing_untried(self) -> bool:
        return self.feed.at_end and not len(self.feed)

    def _crowded(self) -> bool:
        return len(self._waiting) >= MAX_WAITING or (self._unreachable and bool(self._waiting))

    async def _keep_fed(self) -> None:
        while not self._ended:
            await self._hungry.wait()
            self._hungry.clear()
            while not self._ended and self._open and self.feed.wants(self.limiter.concurrency):
                self._refilling = True
                try:
                    await self.feed.refill(self._portion())
                finally:
                    self._refilling = False
                self.tell()
            self._tell_if_idle()

    def _portion(self) -> int:
        return max(64, 2 * self.limiter.concurrency)

    def tell(self) -> None:
        """Have workers that wait look whether there is something to take now."""
        self._news.set()
        self._news = asyncio.Event()

    def _tell_if_idle(self) -> None:
        if self.idle:
            self._on_idle()

    def give_up(self) -> list[Hand]:
        """Let go of what backs off or was read ahead; give the former: it runs in the store."""
        waiting = [hand for _, _, hand in self._waiting if not hand.withdrawn]
        self._waiting.clear()
        for hand in waiting:
            self._hands.pop(hand.work.trial, None)
        while (ready := self.feed.take()) is not None:
            self._hands.pop(ready.work.trial, None)
        return waiting
