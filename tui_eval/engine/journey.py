"""The life of a trial: start → generate → record → score → settle.

Each step says what is to be written down; the pool that drives it puts a trial's last step and
the next trial's start into one transaction. A failure is a value all the way.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from tui_eval.engine.bugs import bug
from tui_eval.engine.hand import Hand, Phase
from tui_eval.engine.judging.news import WAITS
from tui_eval.engine.marking import Ask, Marks
from tui_eval.engine.off_loop import AT_ONCE_S, OffLoop
from tui_eval.engine.purse import Purse
from tui_eval.engine.slot import Slot
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure, Output
from tui_eval.model.score import Score, tally
from tui_eval.providers.patience import Patience
from tui_eval.store import clock, record
from tui_eval.store.tx import Tx
from tui_eval.suites import at_once
from tui_eval.suites.at_once import NotAtOnceError

T = TypeVar("T")


class Asked(Protocol):
    """What the journey needs of a target."""

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Render the request of a case."""

    async def generate(self, request: JsonObject, *, timeout_s: float) -> Output | Failure:
        """Make one attempt."""


class Marker(Protocol):
    """What the journey needs of the scorers."""

    def problem(self, column: Column, case: Case) -> Failure | None:
        """Say what is wrong with a case's scorers before anything is asked of a target."""

    def marks(
        self, column: Column, case: Case, output: Output, kept: Sequence[Score]
    ) -> Marks | Failure:
        """Give the scores that are still missing, and what judges are to say."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What judges must still say of a trial."""

    output: Output
    scores: tuple[Score, ...]
    """Its scores that stand already."""
    asks: tuple[Ask, ...]
    seating: int
    """Which judges they are for, see `Session.seating`."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a trial's step leaves behind."""

    write: Callable[[Tx], bool]
    """Writes the facts down, and returns whether the trial is still open as it was taken: if not,
    nothing of it was moved or scored, and nothing of what follows applies."""
    again_in: float | None = None
    """Seconds until the trial is tried again; None: it is out of the engine's hands."""
    unreachable: bool = False
    """Whether the endpoint has never answered anybody: others would meet the same."""
    hearing: Hearing | None = None
    """What judges must still say; None: nothing."""
    unscored: Output | None = None
    """The trial's output, where it could not be scored at once; None: it was."""

    @property
    def goes_on(self) -> bool:
        """Whether the trial has an output that judges are, or may be, asked about."""
        return self.hearing is not None or self.unscored is not None


_LEFT: Final = Step(lambda _: False)
"""Nothing is written: the trial stays where it is in the store."""


@dataclass(frozen=True, slots=True)
class _Arrival:
    """How an output came that the store does not have."""

    attempt: int
    call_s: float


class Journey:
    """Takes trials of any column from one state to the next."""

    def __init__(
        self,
        columns: Sequence[Column],
        targets: Mapping[str, Asked],
        marker: Marker,
        patience: Patience,
        timeout_s: float,
        patience_s: float,
        ready: Callable[[str], Awaitable[Failure | None]],
        off_loop: OffLoop,
        purse: Purse,
        on_fatal: Callable[[Failure], None],
    ) -> None:
        """Put a journey together.

        Args:
            columns: The run's columns by their index.
            targets: The targets by name.
            marker: The suite's scorers.
            patience: Decides whether and when a failed attempt is followed by another.
            timeout_s: Seconds for one attempt, where the case names none.
            patience_s: Seconds to wait for an endpoint that refuses everybody.
            ready: Opens a target where it is not open yet; gives why it cannot be.
            off_loop: Renders and scores what takes longer than the loop can wait.
            purse: Adds up what the run takes.
            on_fatal: Told of a failure that every trial of the endpoint would meet.
        """
        self._columns = columns
        self._targets = targets
        self.marker = marker
        self._patience = patience
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._ready = ready
        self._off_loop = off_loop
        self._purse = purse
        self._on_fatal = on_fatal
        self._began = clock.PROCESS.now()
        self._rng = random.Random()  # noqa: S311 - jitter, not a secret

    def start(self, hand: Hand, tx: Tx) -> int | None:
        """Write down that a request is about to leave; None where the trial is open no more."""
        ready = max(hand.work.since, self._began)  # before that nobody could have taken it
        queued = max(0.0, tx.now - ready) if hand.waited_s is None else None
        if not hand.stands(tx):
            return None
        return record.start_attempt(tx, hand.work.trial, queue_s=queued, wait_s=hand.waited_s)

    async def generate(self, hand: Hand, attempt: int, slot: Slot) -> Step:
        """Make one attempt and say what came of it, as far as that can be said at once."""
        reply = await self._reply(hand)
        call_s = 0.0 if hand.sent_at is None else time.monotonic() - hand.sent_at
        if reply is None:
            if hand.sent_at is not None:
                self._purse.unanswered(hand.work.col)
            return self._given_up(hand, attempt, call_s)
        self._purse.paid(hand.work.col, reply)
        everybodys = slot.heard(
            reply, hand.tries, self._patience_s, None if hand.sent_at is None else call_s
        )
        if isinstance(reply, Failure):
            return self._failed(hand, attempt, reply, call_s, slot if everybodys else None)
        return self._scored_at_once(hand, reply, _Arrival(attempt, call_s))

    def unsent(self, attempt: int) -> Step:
        """Say that an attempt was written down and withdrawn before it left."""

        def write(tx: Tx) -> bool:
            record.drop_attempt(tx, attempt, "cancelled", None)
            return False

        return Step(write)

    def score(self, hand: Hand, output: Output) -> Step:
        """Score an output that is in the store already, as far as that can be done at once."""
        hand.phase = Phase.CLOSING
        return self._scored_at_once(hand, output, None)

    async def scored(self, hand: Hand, output: Output) -> Step:
        """Score an output that is in the store, for as long as it takes.

        Where that is ended from outside it stays to be scored.
        """
        if hand.withdrawn:  # before it was its turn
            return _LEFT
        hand.phase = Phase.SCORING
        marks = await _until_ended(hand, self._off_loop.unbounded(self._marks, hand, output))
        return _LEFT if marks is None else _scored(hand, output, marks, None)

    def _scored_at_once(self, hand: Hand, output: Output, arrival: _Arrival | None) -> Step:
        # no turn of the loop is given away for what nearly all outputs are
        try:
            with at_once.within(AT_ONCE_S):
                return _scored(hand, output, self._marks(hand, output), arrival)
        except NotAtOnceError:
            return Step(partial(_arrived, hand, output, arrival), unscored=output)
        except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
            return _scored(hand, output, bug(), arrival)

    def _marks(self, hand: Hand, output: Output) -> Marks | Failure:
        work = hand.work
        return self.marker.marks(self._columns[work.col], work.case, output, work.kept or ())

    async def _reply(self, hand: Hand) -> Output | Failure | None:
        """Make one attempt; None where it was ended from outside."""
        hand.sent_at = None
        hand.phase = Phase.CALLING
        return await _until_ended(hand, self._ask(hand))

    async def _ask(self, hand: Hand) -> Output | Failure:
        """Open the target where nobody has yet, and ask it."""
        work = hand.work
        column = self._columns[work.col]
        if (unready := await self._ready(column.target)) is not None:
            return unready
        target = self._targets[column.target]
        request = await self._off_loop.bounded(target.request, column, work.case, work.epoch)
        if isinstance(request, Failure):
            return request
        problem = await self._off_loop.bounded(self.marker.problem, column, work.case)
        if problem is not None:
            return problem  # an answer could not be scored: nobody is asked for it
        timeout_s = self._timeout_s if work.case.timeout is None else work.case.timeout
        hand.sent_at = time.monotonic()
        return await target.generate(request, timeout_s=timeout_s)

    def _given_up(self, hand: Hand, attempt: int, call_s: float) -> Step:
        def write(tx: Tx) -> bool:
            record.drop_attempt(tx, attempt, "cancelled", call_s)
            return hand.stands(tx) and record.give_back(tx, hand.work.trial)

        return Step(write)

    def _failed(
        self, hand: Hand, attempt: int, failure: Failure, call_s: float, slot: Slot | None
    ) -> Step:
        """Decide whether a failed attempt is followed by another, and when.

        Args:
            hand: The trial.
            attempt: The attempt.
            failure: What it ended with.
            call_s: Seconds it took.
            slot: What it was made with, where the endpoint is left alone and the failure is
                everybody's; None: it is the trial's own.
        """
        trial, tries = hand.work.trial, hand.tries
        if slot is not None:
            if slot.waited_out(failure, self._patience_s):
                failure = replace(failure, retryable=False, fatal=True)
            how = f"the endpoint has refused everything for {slot.paused_s or 0:.0f} s"
        elif tries.spared:
            how = f"refused {tries.failures + tries.spared} times, others got through"
        else:
            how = f"try {tries.failures + 1}/{self._patience.retries + 1}"
        pause = self._patience.pause_before_next(failure, tries.failures, self._rng, tries.spared)
        if pause is None:
            if failure.fatal:
                self._on_fatal(failure)
            self._purse.errored()

            def close(tx: Tx) -> bool:
                record.fail_attempt(tx, attempt, failure, call_s)
                return hand.stands(tx) and record.fail_trial(tx, trial, failure)

            return Step(close)
        why = f"{failure.status or failure.kind}, {how}"

        def wait(tx: Tx) -> bool:
            record.fail_attempt(tx, attempt, failure, call_s)
            return hand.stands(tx) and record.wait(tx, trial, why, tx.now + pause)

        return Step(wait, again_in=pause, unreachable=failure.fatal)


async def _until_ended(hand: Hand, work: Coroutine[Any, Any, T]) -> T | Failure | None:
    """Wait for work on a trial, in the task that calls this.

    Returns:
        What it returns; a failure where it has a bug; None where it was ended from outside.
    """
    task = asyncio.current_task()
    assert task is not None, "work on a trial is waited for by a task"
    # no task of its own: its start and its end would each wait for a turn of the loop
    hand.task, hand.ended = task, False
    try:
        return await work
    except asyncio.CancelledError:
        if task.cancelling() > hand.ended:
            raise  # the task itself is being ended
        return None
    except AbandonedError:
        return None
    except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
        return bug()
    finally:
        if hand.ended:
            task.uncancel()  # whatever the work made of it: what comes next is another's
        hand.task = None
        hand.phase = Phase.CLOSING


def _arrived(hand: Hand, output: Output, arrival: _Arrival | None, tx: Tx) -> bool:
    """Write down an output that the store does not have; it was paid for, so in any case.

    Returns:
        Whether the trial has it, and is still open as it was taken.
    """
    stands = hand.stands(tx)
    if arrival is None:
        return stands
    trial, key = hand.work.trial, hand.work.key
    return record.answer(tx, arrival.attempt, trial, key, output, arrival.call_s, stale=not stands)


def _scored(hand: Hand, output: Output, marks: Marks | Failure, arrival: _Arrival | None) -> Step:
    """Say what is to be written of an output: itself, where the call brought it, and its scores.

    Args:
        hand: Its trial.
        output: The output.
        marks: What came of scoring it.
        arrival: How it came; None: the store has it.
    """

    def write(tx: Tx) -> bool:
        return _arrived(hand, output, arrival, tx) and _close(tx, hand, marks)

    return Step(write, hearing=_hearing(hand, output, marks))


def _hearing(hand: Hand, output: Output, marks: Marks | Failure) -> Hearing | None:
    if not isinstance(marks, Marks) or not marks.asks:
        return None
    return Hearing(output, (*(hand.work.kept or ()), *marks.scores), marks.asks, marks.seating)


def _close(tx: Tx, hand: Hand, marks: Marks | Failure) -> bool:
    """Write down what scoring came to; a trial that judges must be asked about stays open.

    Returns:
        False where it is scored no more, or its scorers are not what they were. Nothing is
        written then: where it still waits to be scored, it is to be taken anew.
    """
    trial, kept = hand.work.trial, hand.work.kept
    if isinstance(marks, Failure):
        return record.fail_trial(tx, trial, marks)
    if not record.scored_by(tx, trial, marks.seating):
        return False
    if marks.asks:
        stands = record.await_judge(tx, trial, WAITS)
    else:
        stands = record.settle(tx, trial, tally([*(kept or ()), *marks.scores]))
    if stands:
        record.add_scores(tx, trial, marks.scores, fresh=kept is None)
    return stands
