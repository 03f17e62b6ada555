"""Workers of any kind: how many there are, when they take something, when a call may leave."""

import asyncio
import time
from collections import deque

import pytest

from tests.engine.alone import Alone
from tui_eval.engine.dispatch.worker_pool import WorkerPool
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.spend_caps import Caps, SpendCaps
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.store.read.run_counts import Counts

REFUSED = Failure("rate_limit", "slow down", retryable=True, status=429)


class Jobs(WorkerPool):
    """Does jobs, each of which lasts until it is let go on."""

    def __init__(self, concurrency: int, spend_caps: SpendCaps | None = None) -> None:
        super().__init__(
            Limiter("jobs", concurrency, lambda _: None), spend_caps or SpendCaps(Alone())
        )
        self.left: deque[asyncio.Event] = deque()
        self.begun: list[asyncio.Event] = []
        self.most = 0

    @property
    def idle(self) -> bool:
        return not self._busy and not self.left

    def add(self, n: int) -> None:
        self.left.extend(asyncio.Event() for _ in range(n))
        self.tell()

    async def _work(self) -> None:
        with self._employed():
            while not self._may_leave():
                now = time.monotonic()
                if not (self._open and self.left and self._may_call(0, now)):
                    await self._wait_for_change(self._again_at(now))
                    continue
                job = self.left.popleft()
                self._busy += 1
                try:
                    with self._call(0):
                        self.most = max(self.most, self.limiter.in_flight)
                        self.begun.append(job)
                        await job.wait()
                finally:
                    self._busy -= 1
                self._called()

    def _nothing_untried(self) -> bool:
        return not self.left

    @property
    def workers(self) -> int:
        return self._workers


async def settled() -> None:
    """Let whoever can go on do so."""
    for _ in range(20):
        await asyncio.sleep(0)


async def finish(pool: Jobs, running: "asyncio.Task[None]") -> None:
    """Let all jobs go on to the last."""
    async with asyncio.timeout(30):
        while not pool.idle:
            for job in pool.begun:
                job.set()
            await asyncio.sleep(0)
        pool.end()
        await running


async def test_as_many_jobs_are_done_at_once_as_the_limit_allows_as_it_moves() -> None:
    pool = Jobs(2)
    running = asyncio.create_task(pool.run())
    pool.add(20)
    pool.set_open(True)
    await settled()
    assert (pool.busy, pool.workers) == (2, 2)
    pool.limiter.set(5)
    pool.staff()
    await settled()
    assert (pool.busy, pool.workers) == (5, 5)
    pool.limiter.set(1)
    pool.staff()
    await settled()
    assert pool.busy == 5, "what is in flight goes on"
    for job in pool.begun[:4]:
        job.set()
    await settled()
    assert (pool.busy, pool.workers) == (1, 1)
    await finish(pool, running)
    assert (len(pool.begun), pool.most, pool.workers) == (20, 5, 0)


async def test_a_closed_pool_begins_nothing_and_finishes_what_it_has() -> None:
    pool = Jobs(2)
    running = asyncio.create_task(pool.run())
    pool.add(3)
    await settled()
    assert pool.begun == []
    pool.set_open(True)
    await settled()
    pool.set_open(False)
    for job in pool.begun:
        job.set()
    await settled()
    assert (len(pool.begun), pool.busy, pool.idle) == (2, 0, False)
    pool.set_open(True)
    await settled()
    pool.end()
    await settled()
    assert (pool.busy, running.done()) == (1, False), "whoever has something finishes it first"
    await finish(pool, running)


async def test_a_call_leaves_only_where_the_limit_and_the_caps_have_room() -> None:
    caps = SpendCaps(Alone())
    caps.open(Caps(tokens=100), Counts(), 0.0)
    pool = Jobs(4, caps)
    running = asyncio.create_task(pool.run())
    pool.add(3)
    pool.set_open(True)
    await settled()
    assert pool.busy == 1, "nobody knows yet what a call takes: one finds out"
    await finish(pool, running)
    assert pool.most == 1


@pytest.mark.parametrize("refused", [False, True])
async def test_whoever_may_begin_as_far_as_the_limit_goes_waits_for_no_moment(
    refused: bool,
) -> None:
    pool = Jobs(2)
    now = time.monotonic()
    if refused:
        for _ in range(2):
            begun = pool.limiter.begin(now)
            pool.limiter.heard(REFUSED, now, begun=begun)
            pool.limiter.end(begun)
    else:
        pool.limiter.heard(Output("yes"), now)
    assert (pool.limiter.paused_since is not None) is refused
    later = now + 3600  # when the probe of a paused endpoint is due long since
    assert pool.limiter.may_start(later)
    assert pool._again_at(later) is None, "the caps may hold it, and it would wake at once for ever"
