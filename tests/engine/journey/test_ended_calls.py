"""A call in flight can be ended from outside; the worker that waits for it lives on."""

import asyncio
import contextlib
from collections.abc import Callable, Sequence

import pytest

from tests.engine.alone import Alone
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.journey_parts import AttemptLimits, JourneyColumns, OutputScoring
from tui_eval.engine.journey.lazy_open import LazyOpen
from tui_eval.engine.journey.off_loop import OffLoop
from tui_eval.engine.journey.steps import Step
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.journey.trial_scoring import ScoringOutcome
from tui_eval.engine.limits.call_permit import call_permit
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Score
from tui_eval.providers.patience import Patience
from tui_eval.store.read.trials.open_trials import OpenTrial
from tui_eval.targets.attempt.attempt_context import AttemptContext


class Silent:
    """A target that never answers."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        return {}

    def identity(self) -> JsonObject:
        return {}

    def reads_files(self, request: JsonObject) -> bool:
        return False

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        self.asked.set()
        async with asyncio.timeout(attempt.timeout_s):
            await asyncio.Event().wait()
        raise AssertionError("nobody sets it")


class Clumsy(Silent):
    """A target whose clearing up breaks."""

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        try:
            return await super().generate(request, attempt)
        finally:
            raise ValueError("it broke")


class Unmarked:
    """Scorers that have nothing to say."""

    def problem(self, column: Column, case: Case) -> Failure | None:
        return None

    def outcome(
        self, column: Column, case: Case, output: Output, kept: Sequence[Score]
    ) -> ScoringOutcome | Failure:
        return ScoringOutcome((), ())


async def called(target: Silent | None = None) -> tuple[TrialInFlight, "asyncio.Task[Step]"]:
    """Give a trial whose call is in flight, and the worker that waits for it."""

    target = target or Silent()
    journey = Journey(
        JourneyColumns(
            [Column(0, "m", "m", None)], {"m": target}, LazyOpen({"m": contextlib.nullcontext()})
        ),
        OutputScoring(Unmarked()),
        AttemptLimits(Patience(retries=0), timeout_s=60.0, patience_s=60.0),
        OffLoop(IsolatedCalls()),
        SpendCaps(Alone()),
        Alone(),
        lambda flight, attempt, timeout_s, permit: AttemptContext(timeout_s, attempt),
    )
    flight = TrialInFlight(OpenTrial(1, 0, 0, 0, b"key", 0.0, Case(0, "c", {}), None, 0, None))
    limiter = Limiter("m", 1, lambda _: None)

    async def work() -> Step:
        with call_permit(limiter, lambda: True) as permit:
            step = await journey.generate(flight, 1, permit)
        assert isinstance(step, Step)
        await asyncio.sleep(0)  # a cancel that was left over would strike here
        return step

    worker = asyncio.create_task(work())
    await target.asked.wait()
    return flight, worker


@pytest.mark.parametrize(
    "ends",
    [[TrialInFlight.withdraw], [TrialInFlight.end], [TrialInFlight.withdraw, TrialInFlight.end]],
)
async def test_a_worker_outlives_a_call_that_is_ended(
    ends: list[Callable[[TrialInFlight], None]],
) -> None:
    flight, worker = await called()
    for end in ends:
        end(flight)
    step = await worker
    assert (step.again_in, step.handover, worker.cancelling()) == (None, None, 0)
    flight.end()  # nothing is in flight any more: nobody is struck
    assert worker.cancelling() == 0


async def test_a_worker_that_is_ended_itself_does_not_go_on_for_an_ended_call() -> None:
    flight, worker = await called()
    flight.end()
    worker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await worker


async def test_a_call_that_breaks_as_it_is_ended_leaves_nothing_to_its_worker() -> None:
    flight, worker = await called(Clumsy())
    flight.end()
    assert (await worker).handover is None
    assert worker.cancelling() == 0
