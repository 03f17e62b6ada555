"""Judges that refuse some of what they are asked, or all: who is graded, and for how many calls."""

import asyncio
import contextlib
import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.alone import Alone
from tests.engine.judging.making import question
from tests.servers.fake_judge import asked, reply
from tui_eval.engine.journey.lazy_open import LazyOpen
from tui_eval.engine.journey.off_loop import OffLoop
from tui_eval.engine.judging.pool.judge_interfaces import PooledJudge
from tui_eval.engine.judging.pool.judge_pool import JudgePool
from tui_eval.engine.judging.question import Question
from tui_eval.engine.limits import limiter as limiter_module
from tui_eval.engine.limits.limiter import GONE_AFTER, Limiter
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.runs.endpoint_event import EndpointEvent
from tui_eval.store.connection import Connection
from tui_eval.store.tx import Fact, Tx
from tui_eval.store.writer import Writer
from tui_eval.suites.spec import SimulatedJudgeSpec

KINDS = {
    "filter": Failure("content_filter", "flagged", status=400),
    "bad request": Failure("bad_request", "no", status=400),
    "server error": Failure("server_error", "broke", retryable=True, status=500),
    "connection": Failure("connection", "cut", retryable=True),
    "bad answer": Failure("bad_answer", "no choices", retryable=True),
    "timeout": Failure("timeout", "too slow", retryable=True),
}


class Poisoned:
    """A judge that fails, by the kind of the first, wherever it is asked about one of some."""

    model = "m"

    def __init__(self, kinds: dict[str, str]) -> None:
        self._kinds = kinds
        self.calls: list[list[str]] = []
        self.limiter: Counting | None = None
        self.probes = 0
        """Calls made while the judge was left alone: these are bounded by time, not by number."""

    @property
    def spared(self) -> int:
        """Calls that used up nothing: probes, and those by whose failures it was left alone."""
        assert self.limiter is not None
        return self.probes + self.limiter.pauses * self.limiter.concurrency

    async def ask(
        self, messages: Sequence[JsonObject], schema: JsonObject, *, timeout_s: float
    ) -> Output | Failure:
        request = asked({"messages": messages})
        assert request is not None
        outputs = [item["output"] for item in request["items"]]
        self.calls.append(outputs)
        self.probes += self.limiter is not None and self.limiter.paused_since is not None
        await asyncio.sleep(0)
        for output in outputs:
            if output in self._kinds:
                return KINDS[self._kinds[output]]
        return Output(reply(request, lambda item: {"score": 5}), finish_reason="stop")


class Nowhere:
    """A writer whose facts go nowhere."""

    def __init__(self) -> None:
        self._calls = 0

    async def write(self, unit: Callable[[Tx], Any]) -> int:
        self._calls += 1
        await asyncio.sleep(0)
        return self._calls

    def submit(self, unit: Callable[[Tx], Any]) -> None:
        """Take a fact."""


class Heard:
    """Who hears what came of the questions."""

    more_to_come = False

    def __init__(self) -> None:
        self.closed: Counter[Question] = Counter()
        self.idle = asyncio.Event()

    async def told(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        self.closed.update(closed)

    def judge_pool_idle(self) -> None:
        self.idle.set()


class Counting(Limiter):
    """Counts how often an endpoint was left alone."""

    pauses = 0

    def _pause(self, now: float, probe_at: float, why: EndpointEvent) -> None:
        self.pauses += 1
        super()._pause(now, probe_at, why)


class NoJitter:
    """Draws no pauses."""

    def random(self) -> float:
        return 0.0


async def grade(questions: list[Question], judge: Poisoned, spec: SimulatedJudgeSpec) -> Heard:
    """Have questions answered or given up."""

    heard = Heard()
    gone_after = min(GONE_AFTER, max(1, spec.retries))
    limiter = Counting("judge", int(spec.concurrency), lambda _: None, gone_after=gone_after)
    judge.limiter = limiter
    harness = JudgePool(
        PooledJudge(spec, judge, LazyOpen({spec.name: contextlib.nullcontext()}), 600.0, seed=0),
        limiter,
        RunStore(1, cast("Connection", None), cast("Writer", Nowhere())),
        SpendCaps(Alone()),
        OffLoop(IsolatedCalls()),
        heard,
    )
    harness._jitter = cast("Any", NoJitter())
    for one in questions:
        harness.put(one)
    harness.set_open(True)
    task = asyncio.create_task(harness.run())
    async with asyncio.timeout(30):
        await heard.idle.wait()
    harness.end()
    await task
    return heard


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limiter_module, "PROBE_S", 0.0)
    monkeypatch.setattr("tui_eval.engine.limits.call_permit.LAST_ONES_S", -1.0)


@given(
    n=st.integers(1, 24),
    size=st.integers(1, 7),
    concurrency=st.integers(1, 4),
    retries=st.integers(0, 3),
    data=st.data(),
)
@settings(deadline=None)
def test_whoever_is_poisonous_the_healthy_are_graded_within_the_bound(
    n: int, size: int, concurrency: int, retries: int, data: st.DataObject
) -> None:
    questions = [question() for _ in range(n)]
    named = {f"output {one.trial}": one for one in questions}
    most = min(n, GONE_AFTER - 1)
    poisonous = data.draw(st.lists(st.sampled_from([*named]), max_size=most, unique=True))
    kinds = {name: data.draw(st.sampled_from([*KINDS])) for name in poisonous}
    judge = Poisoned(kinds)
    spec = SimulatedJudgeSpec(
        kind="simulated", batch_size=size, concurrency=concurrency, retries=retries
    )
    heard = asyncio.run(grade(questions, judge, spec))
    assert heard.closed == Counter(questions)
    for name, one in named.items():
        assert (one.problem is not None) is (name in kinds), (name, one.problem)
    batches = math.ceil(n / size)
    poisoned = min(len(kinds), batches)
    bound = batches - poisoned + poisoned * (1 + retries + (2 + 2 * size if size > 1 else 0))
    assert len(judge.calls) <= bound + judge.spared, json.dumps(judge.calls)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("concurrency", [1, 4])
async def test_a_judge_that_refuses_everybody_is_not_asked_in_parts(
    kind: str, concurrency: int
) -> None:
    questions = [question() for _ in range(100)]
    judge = Poisoned({f"output {one.trial}": kind for one in questions})
    spec = SimulatedJudgeSpec(kind="simulated", batch_size=5, concurrency=concurrency, retries=1)
    heard = await grade(questions, judge, spec)
    assert heard.closed == Counter(questions)
    assert all(one.problem for one in questions)
    assert len(judge.calls) <= 20 * 2 + GONE_AFTER
