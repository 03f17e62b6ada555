"""Orders in any order to a run whose calls are prepared: its calls keep to them."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.dispatch.prepared_calls import PreparedCalls
from tui_eval.engine.engine import Engine
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.steps import Step
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.limits.call_permit import CallPermit
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.started_call import StartedCall
from tui_eval.store.requests import Verb

N = 60
REPLIES = (
    *(None,) * 12,
    refuse(429, "rate_limit_exceeded", retry_after="0"),
    refuse(503),
    Reply("reset"),
    Reply("invalid_json"),
    Reply(latency=0.1),
)


class Watched:
    """All pools' lines, and what their calls did that they may not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.lines: list[PreparedCalls] = []
        self.wrong: set[str] = set()
        init, generate, begin = PreparedCalls.__init__, Journey.generate, Limiter.begin

        def made(line: PreparedCalls, *args: Any) -> None:
            init(line, *args)
            line._writing = 1000.0  # as many as may be, however long a commit takes
            self.lines.append(line)

        async def left(
            journey: Journey, flight: TrialInFlight, attempt: int, permit: CallPermit
        ) -> Step:
            if not self.lines[-1]._open:
                self.wrong.add("a call left while none was to leave")
            return await generate(journey, flight, attempt, permit)

        def begun(limiter: Limiter, now: float) -> StartedCall:
            if limiter.in_flight >= limiter.concurrency:
                self.wrong.add("a slot more than there are was given")
            return begin(limiter, now)

        monkeypatch.setattr(PreparedCalls, "__init__", made)
        monkeypatch.setattr(PreparedCalls, "_learn", lambda *_: None)
        monkeypatch.setattr(Journey, "generate", left)
        monkeypatch.setattr(Limiter, "begin", begun)

    def see_that_nothing_is_held(self) -> None:
        for line in self.lines:
            assert not line._limiter.in_flight
            assert not line._without_slot
            assert line.first is None


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    watched = Watched(monkeypatch)
    yield watched
    assert not watched.wrong


async def _ordered(harness: Harness, run: int, draw: random.Random) -> None:
    """Have an engine work on a run, and give it orders until it leaves or there are none."""
    engine = Engine(harness.path, run)
    task = asyncio.create_task(engine.run())
    await until(lambda: harness.row(run).staged or task.done())
    trials = [trial.id for trial in harness.trials(run)]
    (endpoint,) = harness.sql("SELECT endpoint FROM columns")[0]

    def say(verb: Verb, **args: Any) -> None:
        ask(harness.path, run, verb, args)

    for _ in range(draw.randrange(8)):
        await asyncio.sleep(draw.random() * 0.04)
        what = draw.choice(("pause", "limit", "limit", "cancel", "retry", "stop", "abort"))
        if task.done():
            break
        if what == "pause":
            say(Verb.PAUSE)
            await asyncio.sleep(draw.choice((0.0, 0.1)))
            say(Verb.CONTINUE)
        elif what == "limit":
            say(Verb.SET_LIMIT, endpoint=endpoint, concurrency=draw.choice((1, 2, 7, 40)))
        elif what == "stop":
            engine.stop()
        elif what == "abort":
            engine.abort()
        else:
            say(Verb(what), trials=draw.sample(trials, 3))
    await asyncio.wait_for(task, 60)


async def test_calls_keep_to_orders_and_the_ledger_tells_each(
    harness: Harness, seed: int, watched: Watched
) -> None:
    draw = random.Random(seed)
    moods = random.Random(seed + 1)

    def script(_: Call) -> Reply | None:
        return moods.choice(REPLIES)

    limits = {"concurrency": draw.choice((1, 2, 8, 25)), "retries": draw.choice((0, 3))}
    async with FakeModel(script=script, latency=draw.choice((0.0, 0.01))) as server:
        run = harness.create(suite(server.base_url, N, run=limits))
        await _ordered(harness, run, draw)
        while harness.row(run).state != "done":
            ask(harness.path, run, Verb.RESUME, {})
            await _ordered(harness, run, draw)
    watched.see_that_nothing_is_held()
    left = dict(
        harness.sql(
            "SELECT 'q' || t.seq, count(*) FROM attempts a JOIN trials t ON t.id = a.trial "
            "WHERE a.call_s > 0 AND NOT a.unsent GROUP BY 1"
        )
    )
    ended = harness.sql("SELECT count(*) FROM attempts WHERE state = 'cancelled' AND call_s > 0")
    assert not [prompt for prompt, n in server.counts.items() if n > left.get(prompt, 0)]
    assert sum(left.values()) - server.requests <= ended[0][0], "told of calls that never left"
    assert harness.counts(run).queued == harness.counts(run).running == 0
