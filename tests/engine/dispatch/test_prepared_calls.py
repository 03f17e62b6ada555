"""Starts that are written before there is a slot for the call."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel, Reply, always
from tests.waiting import until
from tui_eval.engine.dispatch import prepared_calls
from tui_eval.engine.dispatch.prepared_calls import PreparedCall, PreparedCalls
from tui_eval.engine.engine import Engine
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.limits.call_permit import CallPermit
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.store.requests import Verb

SLOTS = 4


def a_flight() -> TrialInFlight:
    return TrialInFlight(cast("Any", SimpleNamespace(case=SimpleNamespace(limits={}))))


class Line:
    """Calls that were started one after the other, and what became of them."""

    def __init__(self) -> None:
        self.limiter = Limiter("e", SLOTS, lambda _: None)
        self.prepared = PreparedCalls(self.limiter, lambda: False)
        self.prepared.set_open(True)
        self.stack = ExitStack()
        self.calls: list[PreparedCall] = []

    def start(self, n: int) -> None:
        for _ in range(n):
            self.calls.append(self.stack.enter_context(self.prepared.call(a_flight())))

    async def depart(self) -> "list[asyncio.Task[CallPermit | None]]":
        tasks = [asyncio.create_task(self.prepared.departure(call)) for call in self.calls]
        await asyncio.sleep(0)
        return tasks

    def end_call(self, at: int) -> None:
        permit = self.calls[at].permit
        assert permit is not None
        permit.end()
        permit.begun = None  # it is over: the block ends it no second time
        self.prepared.give_slots()


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    line = Line()
    yield line
    line.prepared.set_open(False)
    line.stack.close()
    assert line.limiter.in_flight == 0, "every slot is given back"


async def test_slots_go_to_calls_in_the_order_in_which_they_were_started(line: Line) -> None:
    line.start(SLOTS + 2)
    tasks = await line.depart()
    assert [task.done() for task in tasks] == [True] * SLOTS + [False] * 2
    assert line.limiter.in_flight == SLOTS
    line.end_call(1)
    await asyncio.sleep(0)
    assert [task.done() for task in tasks] == [True] * (SLOTS + 1) + [False]
    assert line.limiter.in_flight == SLOTS
    line.end_call(0)
    permit = await tasks[-1]
    assert permit is not None
    assert permit is line.calls[-1].permit


async def test_no_call_that_is_not_to_leave_takes_a_slot(line: Line) -> None:
    line.start(SLOTS + 2)
    tasks = await line.depart()
    line.calls[-1].flight.withdrawn = True
    line.prepared.drop_withdrawn()
    assert await tasks[-1] is None
    assert not tasks[-2].done()
    line.prepared.set_open(False)
    assert await tasks[-2] is None
    assert line.limiter.in_flight == SLOTS


@pytest.mark.parametrize("slots", [SLOTS, SLOTS + 1], ids=["with a slot", "without"])
@pytest.mark.parametrize("how", ["closed", "withdrawn"])
async def test_no_call_leaves_that_is_held_while_its_start_is_written(
    line: Line, slots: int, how: str
) -> None:
    line.start(slots)
    last = line.calls[-1]
    if how == "closed":
        line.prepared.set_open(False)
    else:
        last.flight.withdrawn = True
        line.prepared.drop_withdrawn()
    assert await asyncio.wait_for(line.prepared.departure(last), 10) is None


async def test_a_slot_that_a_call_gives_back_unused_goes_to_the_next(line: Line) -> None:
    line.start(SLOTS - 1)
    with line.prepared.call(a_flight()):
        line.start(1)
        last = asyncio.create_task(line.prepared.departure(line.calls[-1]))
        await asyncio.sleep(0)
        assert not last.done()
    assert await asyncio.wait_for(last, 10) is line.calls[-1].permit


async def test_nobody_overtakes_who_waits_for_a_slot(line: Line) -> None:
    line.start(SLOTS + 1)
    tasks = await line.depart()
    assert line.prepared.first is line.calls[-1].flight
    line.limiter.concurrency += 1  # and nobody was told
    line.limiter._ramp += 1
    with line.prepared.call(a_flight()) as later:
        assert later.permit is None
        line.prepared.give_slots()
        assert await tasks[-1] is line.calls[-1].permit
        assert later.permit is None


async def test_what_waits_for_a_slot_may_be_untried(line: Line) -> None:
    line.start(SLOTS + 2)
    line.calls[-1].flight.waited_s = 1.0
    await line.depart()
    assert line.prepared.untried
    line.end_call(0)
    assert not line.prepared.untried, "only one that was tried before is left"


async def test_who_waits_for_an_endpoint_that_is_left_alone_is_its_probe(line: Line) -> None:
    line.start(SLOTS + 1)
    tasks = await line.depart()
    now = time.monotonic()
    line.limiter.paused_since, line.limiter._probe_at = now, now + 0.05
    for at in range(SLOTS):
        line.end_call(at)
    assert not tasks[-1].done()
    assert await asyncio.wait_for(tasks[-1], 10) is line.calls[-1].permit
    assert time.monotonic() >= now + 0.05


async def test_as_many_are_prepared_as_are_being_written(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(f"{prepared_calls.__name__}.time.monotonic", lambda: now[0])
    line.prepared._window_since = now[0]

    async def write(*, times: int, took_s: float, every_s: float) -> None:
        for _ in range(times):
            with line.prepared.call(a_flight()) as call:
                call.since = now[0] - took_s
                await line.prepared.departure(call)
            now[0] += every_s

    assert not line.prepared.may_prepare(), "nothing is known yet"
    await write(times=20, took_s=0.004, every_s=1.0)
    assert not line.prepared.may_prepare(), "calls of seconds: no slot is empty for long"
    await write(times=1000, took_s=0.004, every_s=0.004)
    assert line.prepared.may_prepare()
    line.start(SLOTS + line.prepared.most)
    assert not line.prepared.may_prepare(), "half as many as there are slots at most"


async def test_a_budget_is_no_reason_to_prepare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PreparedCalls, "_writing", 9.0, raising=False)
    for limiter, may in (
        (Limiter("e", SLOTS, lambda _: None), True),
        (Limiter("e", SLOTS, lambda _: None, rpm=600), False),
        (Limiter("e", SLOTS, lambda _: None, tpm=600), False),
    ):
        prepared = PreparedCalls(limiter, lambda: False)
        prepared._writing = 9.0
        assert prepared.may_prepare() is may


@pytest.fixture
def all_prepared(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have as many prepared as may be, however long a commit takes."""
    init = PreparedCalls.__init__

    def begin(self: PreparedCalls, *args: Any) -> None:
        init(self, *args)
        self._writing = 1000.0

    monkeypatch.setattr(PreparedCalls, "__init__", begin)
    monkeypatch.setattr(PreparedCalls, "_learn", lambda *_: None)
    yield


@asynccontextmanager
async def full(harness: Harness) -> AsyncIterator[tuple[FakeModel, int, Engine]]:
    """Give a server that answers nobody, with all slots taken and the next two calls prepared."""
    async with (
        FakeModel(script=always(Reply("hang"))) as server,
        harness.working(suite(server.base_url, 30, run={"concurrency": SLOTS})) as (run, engine),
    ):
        await until(lambda: server.requests == SLOTS)
        await until(lambda: started(harness) == SLOTS + 2)
        try:
            yield server, run, engine
        finally:
            engine.abort()


def started(harness: Harness) -> int:
    [(number,)] = harness.sql("SELECT count(*) FROM attempts WHERE state = 'sent'")
    assert isinstance(number, int)
    return number


@pytest.mark.usefixtures("all_prepared")
async def test_no_more_calls_leave_than_there_are_slots(harness: Harness) -> None:
    async with full(harness) as (server, run, _):
        await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c0").id])
        await until(lambda: server.requests == SLOTS + 1)
        await until(lambda: started(harness) == SLOTS + 2)
        assert server.in_flight_max == SLOTS
    assert harness.counts(run).running == 0


@pytest.mark.usefixtures("all_prepared")
async def test_what_is_prepared_goes_back_when_the_run_pauses_and_on_with_it(
    harness: Harness,
) -> None:
    async with full(harness) as (server, run, _):
        await harness.asked(run, Verb.PAUSE)
        await until(lambda: harness.counts(run).running == SLOTS)
        assert harness.counts(run).attempts == SLOTS, "the others never left"
        assert harness.counts(run).queued == 30 - SLOTS
        await harness.asked(run, Verb.CONTINUE)
        await until(lambda: started(harness) == SLOTS + 2)
        assert server.requests == SLOTS


@pytest.mark.usefixtures("all_prepared")
async def test_one_that_is_cancelled_while_it_is_prepared_never_leaves(harness: Harness) -> None:
    async with full(harness) as (server, run, _):
        for case in ("c4", "c0"):
            await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, case).id])
        await until(lambda: server.requests == SLOTS + 1)
        asked = {call.prompt for call in server.calls}
        assert "q5" in asked
        assert "q4" not in asked
    assert harness.counts(run).cancelled == 2


@pytest.mark.usefixtures("all_prepared")
async def test_all_is_asked_once_where_calls_are_prepared(harness: Harness) -> None:
    async with FakeModel(latency=0.01) as server:
        run = await harness.run(suite(server.base_url, 200, run={"concurrency": SLOTS}))
    assert (harness.counts(run).passed, harness.counts(run).attempts) == (200, 200)
    assert server.requests == 200
    assert server.in_flight_max <= SLOTS


async def test_a_limit_that_falls_by_itself_leaves_nobody_asleep_who_is_needed(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers that had calls leave, for there are too many: one that had none goes on."""
    made: list[Limiter] = []
    init = Limiter.__init__

    def begin(self: Limiter, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **kwargs)
        made.append(self)

    monkeypatch.setattr(Limiter, "__init__", begin)
    async with FakeModel() as server:
        server.hold()
        described = suite(server.base_url, 12, run={"concurrency": SLOTS})
        async with harness.working(described) as (run, _):
            await until(lambda: server.in_flight == SLOTS)
            [limiter] = made
            limiter.concurrency = limiter._ramp = 1  # as after time-outs
            server.let_go()
    assert harness.counts(run).passed == 12
