"""The workers of one endpoint that take trials from a stream."""

import asyncio
import heapq
import itertools
import time
from collections.abc import Mapping

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.dispatch.prepared_calls import PreparedCalls
from tui_eval.engine.dispatch.work_queue import WorkQueue
from tui_eval.engine.dispatch.worker_pool import WorkerPool
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.steps import JudgingHandover, Step
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.judging.judging import Judging
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.model.outputs.output import Output
from tui_eval.store.tx import Tx
from tui_eval.store.writer import Writer

MAX_WAITING = 1000
"""Trials that back off at once at most; beyond that nothing new is begun."""
MAX_SCORED = 32
"""Outputs that are scored off the loop at once, or wait for it in memory; others in the store."""
_FLUSH_AT = 64


class TrialPool(WorkerPool):
    """Keeps as many trials on their journey as the endpoint's limiter allows.

    A worker carries the facts of its last trial along until it knows the next one, so that both
    are one transaction; where there is no next one they are written at once. A trial that backs
    off gives its worker up, and so does one whose output cannot be scored at once: the output is
    in the store by then.
    """

    def __init__(
        self,
        queue: WorkQueue,
        limiter: Limiter,
        journey: Journey,
        writer: Writer,
        judging: Judging,
        spend_caps: SpendCaps,
        coordination: Coordination,
    ) -> None:
        """Make a pool that is closed.

        Args:
            queue: The endpoint's open trials.
            limiter: Bounds calls to the endpoint.
            journey: Takes a trial from one state to the next.
            writer: Where facts go.
            judging: Takes trials over whose outputs judges are asked about.
            spend_caps: Bound what calls take.
            coordination: Told when nothing is left to do.
        """
        super().__init__(limiter, spend_caps)
        self.queue = queue
        self._journey = journey
        self._writer = writer
        self._flights = queue.flights
        self._judging = judging
        self._coordination = coordination
        self._waiting: list[tuple[float, int, TrialInFlight]] = []
        self._order = itertools.count()
        self._scored = 0
        """Of what is busy, the trials whose outputs are scored off the loop."""
        self._left_unscored = False
        """Whether outputs were left in the store because too many are scored."""
        self._taken = 0
        """Trials that workers ask or score."""
        self._unwritten_handovers = 0
        """Trials for judges that workers have not written down yet."""
        self._refilling = False
        self._settling = False
        """Whether outputs in the store are taken though no call is to begin: grades came."""
        self._unreachable = False
        """Whether the last attempt found nobody: those that back off find out for all others."""
        self._tried_probe = False
        """Whether the call that was begun last was one that had been tried before."""
        self._hungry = asyncio.Event()
        self._prepared = PreparedCalls(limiter, self._nothing_untried)

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do, as far as the store was read."""
        return (
            not self._busy
            and all(flight.withdrawn for _, _, flight in self._waiting)
            and not len(self.queue)
            and self.queue.at_end
            and not self._refilling
        )

    @property
    def ungraded(self) -> int:
        """Trials that may yet be handed on to judges, of those that are busy."""
        return self._taken + self._unwritten_handovers + self._scored

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._keep_fed())
            await super().run()

    def set_open(self, dispatching: bool) -> None:
        """Begin new attempts, or begin none until told otherwise; those in flight go on."""
        self._prepared.set_open(dispatching)
        super().set_open(dispatching)
        self._hungry.set()

    def tell(self) -> None:
        """Have workers that wait look whether there is something to do now."""
        super().tell()
        self._prepared.give_slots()

    def drop_withdrawn(self) -> None:
        """Forget what a person took away before any worker had it, or before its call left."""
        self.queue.drop_withdrawn()
        self._prepared.drop_withdrawn()
        self._tell_if_idle()

    def look_again(self, *, calls: bool = True) -> None:
        """Look for open trials from the beginning: a request has opened some.

        Args:
            calls: Whether some may need a call; else outputs wait to be scored, and no more.
        """
        self.queue.rewind(calls=calls)
        self._hungry.set()

    def settle(self) -> None:
        """Look for outputs in the store, also where no call is to begin: grades for them came."""
        self._settling = True
        self.look_again(calls=False)

    @property
    def _takes(self) -> bool:
        """Whether anything is taken now: calls, or outputs whose grades came."""
        return self._open or (self._settling and not self._coordination.leaving)

    @property
    def _reads(self) -> bool:
        """Whether there is more to read of what is taken now."""
        return self._takes and self.queue.wants(self.limiter.concurrency, calls=self._open)

    async def _work(self) -> None:
        unwritten: list[tuple[TrialInFlight, Step]] = []
        try:
            with self._employed():
                while not self._may_leave():
                    await self._work_once(unwritten)
        finally:
            await self._write(unwritten)

    async def _work_once(self, unwritten: list[tuple[TrialInFlight, Step]]) -> None:
        """Take a trial as far as it goes, or wait until there may be one to take."""
        flight = self._take()
        if flight is None:
            await self._write(unwritten)
            await self._pause()
            return
        self._busy += 1
        self._taken += 1
        try:
            step = await self._advance(flight, unwritten)
        finally:
            self._busy -= 1
            self._taken -= 1
        if step is not None and step.goes_on:
            self._unwritten_handovers += 1
        else:
            self._spend_caps.look_again()
        if step is not None:
            unwritten.append((flight, step))
            if step.again_in is not None or len(unwritten) >= _FLUSH_AT:
                await self._write(unwritten)

    async def _advance(
        self, flight: TrialInFlight, unwritten: list[tuple[TrialInFlight, Step]]
    ) -> Step | None:
        if flight.work.output is not None:
            return self._journey.score(flight, flight.work.output)
        flight.phase = Phase.STARTING
        with self._spend_caps.call(flight.work.col), self._prepared.call(flight) as call:
            attempt = await self._write(unwritten, starting=flight)
            if attempt is None:  # cancelled before it was its turn, and perhaps opened again since
                self._let_go(flight, stands=False)
                return None
            permit = await self._prepared.departure(call)
            if permit is None:
                return self._journey.unsent(flight, attempt)
            step = await self._journey.generate(flight, attempt, permit)
        if self._prepared.may_prepare(more=2) and self.queue.next_call() is not None:
            self.tell()  # for one there is this worker
        self._unreachable = step.unreachable
        self._called()
        return step

    async def _write(
        self, unwritten: list[tuple[TrialInFlight, Step]], starting: TrialInFlight | None = None
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
        for (flight, step), stands in zip(steps, stand, strict=True):
            if flight.context is not None:
                flight.context.written()
            self._unwritten_handovers -= step.goes_on
            if not stands or flight.withdrawn or step.requeued:
                self._let_go(flight, stands=False)
            elif step.again_in is not None:
                self._wait(flight, step.again_in)
            elif step.unscored is not None and self._score(flight, step.unscored):
                continue
            elif step.handover is None or not self._hand_over(flight, step.handover):
                self._let_go(flight)
        if any(step.goes_on for _, step in steps):
            self._spend_caps.look_again()
        return attempt

    def _score(self, flight: TrialInFlight, output: Output) -> bool:
        """Have an output in the store scored off the loop; False where too many are now."""
        assert self._group is not None, "what a worker has written is dealt with while it runs"
        if self._scored >= MAX_SCORED:
            self._left_unscored = True
            return False
        self._scored += 1
        self._busy += 1
        self._group.create_task(self._score_off_loop(flight, output))
        return True

    async def _score_off_loop(self, flight: TrialInFlight, output: Output) -> None:
        try:
            step = await self._journey.scored(flight, output)
            self._unwritten_handovers += step.goes_on
            await self._write([(flight, step)])
        finally:
            self._scored -= 1
            self._busy -= 1
        self._spend_caps.look_again()
        if self._left_unscored and self._scored <= MAX_SCORED // 2:
            self._left_unscored = False
            self.look_again()
        self.tell()
        self._tell_if_idle()

    def _hand_over(self, flight: TrialInFlight, handover: JudgingHandover) -> bool:
        """Hand a trial over to the judges; False where they have no room for it now."""
        return self._judging.take(
            flight, handover.output, handover.scores, handover.asks, handover.scoring_version
        )

    def _wait(self, flight: TrialInFlight, seconds: float) -> None:
        flight.phase = Phase.WAITING
        flight.waited_s = seconds
        due = time.monotonic() + seconds
        heapq.heappush(self._waiting, (due, next(self._order), flight))
        self.tell()

    def _let_go(self, flight: TrialInFlight, *, stands: bool = True) -> None:
        """Forget a trial; where what came of it was not written, or nothing did, it may be open."""
        if self._flights.get(flight.work.trial) is flight:
            del self._flights[flight.work.trial]
        flight.context = None  # it knows the trial: in a circle both would wait for a collection
        if not stands:
            self.look_again()
        self._tell_if_idle()

    @property
    def _places(self) -> int:
        return self.limiter.concurrency + self._prepared.most

    def _has_slot(self, now: float) -> bool:
        return super()._has_slot(now) or self._prepared.may_prepare()

    def _take(self) -> TrialInFlight | None:
        if not self._open:
            return self._take_graded()
        now = time.monotonic()
        while self._waiting and self._waiting[0][2].withdrawn:
            heapq.heappop(self._waiting)  # nobody waits for it
        if self._waiting and self._waiting[0][0] <= now and not self._untried_probes():
            flight = self._waiting[0][2]
            if self._may_call(flight.work.col, now, flight.work.case.limits):
                heapq.heappop(self._waiting)
                self._tried_probe = True
                return flight
        if self._crowded():
            return None
        flight_or_none = self.queue.take(to_call=False, to_score=self._takes_outputs)
        if flight_or_none is None:
            flight_or_none = self._take_call(now)
        if self.queue.wants(self.limiter.concurrency):
            self._hungry.set()
        return flight_or_none

    def _take_graded(self) -> TrialInFlight | None:
        """Take an output whose grades may be there; once there is none, the pool rests."""
        if not self._takes:
            return None
        if self.queue.outputs_at_end and not self._refilling:
            self._settling = False
        flight = self.queue.take(to_call=False, to_score=self._takes_outputs)
        if self._reads:
            self._hungry.set()
        return flight

    @property
    def _takes_outputs(self) -> bool:
        """Whether outputs in the store are to be scored now, wherever that is done."""
        return self._scored < MAX_SCORED and not self._judging.full

    def _take_call(self, now: float) -> TrialInFlight | None:
        """Take the next trial that was not asked yet, where a call may leave now."""
        ready = self.queue.next_call()
        if ready is None:
            return None
        if not self._may_call(ready.work.col, now, ready.work.case.limits):
            return None
        self._tried_probe = False
        return self.queue.take(to_score=False)

    async def _pause(self) -> None:
        """Sleep until there may be something to take."""
        now = time.monotonic()
        may_start, ready = self._open and self._has_slot(now), self.queue.next_call()
        # said anew: caps may have looked since, and forgotten that they hold it back
        to_call = may_start and ready is not None and self._spend_caps.may_begin(ready.work.col)
        to_score = self._takes_outputs
        if self._may_leave() or (
            self._takes
            and self.queue.has(to_call=to_call, to_score=to_score)
            and not self._crowded()
        ):
            return
        self._tell_if_idle()
        if not may_start or not self._waiting:
            due = self._again_at(now)
        elif self._waiting[0][0] > now or self._spend_caps.may_begin(self._waiting[0][2].work.col):
            due = self._waiting[0][0]
        else:
            due = None  # the caps hold it back: that changes as a call ends, not by time
        await self._wait_for_change(due if self._open else None)

    def _untried_probes(self) -> bool:
        """Whether a paused endpoint is probed with a trial it has not refused before.

        Every other probe is: what was refused may be refused for ever, and others not at all.
        """
        return (
            self.limiter.paused_since is not None
            and self._tried_probe
            and not self._crowded()
            and self.queue.has(to_call=True, to_score=False)
        )

    def _next_limits(self) -> Mapping[str, int] | None:
        flight = self._prepared.first or self.queue.next_call()
        if flight is None and self._waiting:
            flight = self._waiting[0][2]
        return None if flight is None else flight.work.case.limits

    def _nothing_untried(self) -> bool:
        return self.queue.at_end and not len(self.queue) and not self._prepared.untried

    def _crowded(self) -> bool:
        return len(self._waiting) >= MAX_WAITING or (self._unreachable and bool(self._waiting))

    async def _keep_fed(self) -> None:
        while not self._ended:
            await self._hungry.wait()
            self._hungry.clear()
            while not self._ended and self._reads:
                self._refilling = True
                try:
                    await self.queue.refill(self._portion())
                finally:
                    self._refilling = False
                self.tell()
            self._tell_if_idle()

    def _portion(self) -> int:
        return max(64, 2 * self.limiter.concurrency)

    def _tell_if_idle(self) -> None:
        if self.idle:
            self._coordination.pool_idle()

    def give_up(self) -> list[TrialInFlight]:
        """Forget waiting and prefetched trials; return the waiting ones, `running` in the store."""
        waiting = [flight for _, _, flight in self._waiting if not flight.withdrawn]
        self._waiting.clear()
        for flight in waiting:
            self._flights.pop(flight.work.trial, None)
        while (ready := self.queue.take()) is not None:
            self._flights.pop(ready.work.trial, None)
        return waiting
