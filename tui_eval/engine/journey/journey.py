"""The life of a trial: start → generate → record → score → settle.

Each step says what is to be written down; the pool that drives it puts a trial's last step and
the next trial's start into one transaction. A failure is a value all the way.
"""

import asyncio
import logging
import random
import time
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, Final, TypeVar

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.departure import halted
from tui_eval.engine.internal_error import bug
from tui_eval.engine.journey.journey_parts import (
    AttemptLimits,
    ContextMaker,
    JourneyColumns,
    JourneyTarget,
    OutputScoring,
)
from tui_eval.engine.journey.off_loop import AT_ONCE_S, OffLoop
from tui_eval.engine.journey.steps import (
    LEFT,
    Arrival,
    Step,
    scored_step,
    unscored_step,
)
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.journey.trial_scoring import ScoringOutcome
from tui_eval.engine.launch.generation_keys import is_key_of, request_key
from tui_eval.engine.limits.call_permit import CallPermit
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.json import JsonObject, canonical
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.store import clock
from tui_eval.store.read.trials.open_trials import OpenTrial
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, trial_moves
from tui_eval.store.write.output_writes import NO_KEY
from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError
from tui_eval.targets.conversation.call_log import HeldError

T = TypeVar("T")
log = logging.getLogger(__name__)


_MOST_LOST: Final = 2
"""Attempts of a trial that are lost in a row: what made them may have been ended by the trial."""
_CHANGED_FILES: Final = Failure(
    "attachment", "a file that its messages name has changed since the run began: run it again"
)


class Journey:
    """Takes trials of any column from one state to the next."""

    def __init__(
        self,
        asked: JourneyColumns,
        scoring: OutputScoring,
        limits: AttemptLimits,
        off_loop: OffLoop,
        spend_caps: SpendCaps,
        coordination: Coordination,
        contexts: ContextMaker,
    ) -> None:
        """Take trials of these columns.

        Args:
            asked: What is asked.
            scoring: What scores outputs.
            limits: How long and how often it is asked.
            off_loop: Renders and scores what takes longer than the loop can wait.
            spend_caps: Adds up what the run takes.
            coordination: Told of a failure that every trial of the endpoint would meet.
            contexts: Gives an attempt what its target is told of it.
        """
        self._contexts = contexts
        self._columns = asked.columns
        self._targets = asked.targets
        self._opened = asked.opened
        self._scoring = scoring
        self._limits = limits
        self._off_loop = off_loop
        self._spend_caps = spend_caps
        self._coordination = coordination
        self._began = clock.PROCESS.now()
        self._rng = random.Random()  # noqa: S311 - jitter, not a secret

    def start(self, flight: TrialInFlight, tx: Tx) -> int | None:
        """Write down that a request is about to leave; None where the trial is open no more."""
        ready = max(flight.work.since, self._began)  # before that nobody could have taken it
        queued = max(0.0, tx.now - ready) if flight.waited_s is None else None
        work = flight.work
        return attempt_writes.start_attempt(
            tx, work.trial, queue_s=queued, wait_s=flight.waited_s, opening=work.opening
        )

    async def generate(self, flight: TrialInFlight, attempt: int, permit: CallPermit) -> Step:
        """Make one attempt and say what came of it, as far as that can be said at once."""
        reply = await self._reply(flight, attempt, permit)
        call_s = 0.0 if flight.sent_at is None else time.monotonic() - flight.sent_at
        calls = None if flight.context is None else flight.context.calls
        if reply is None:
            if calls is not None and calls.held is not None:
                return self._held(flight, attempt, calls.held)
            if flight.sent_at is not None:
                self._spend_caps.unanswered(flight.work.col)
            return self._given_up(flight, attempt, call_s)
        if isinstance(reply, Failure) and reply.lost:
            return self._lost(flight, attempt, reply, call_s)
        flight.tries.lost = 0
        if calls is not None and calls.counted and isinstance(reply, Output):
            self._spend_caps.has_output()
            counted = replace(reply, counted=True)
            return self._scored_at_once(flight, counted, Arrival(attempt, calls.call_s))
        everybodys = permit.heard(
            reply, flight.tries, self._limits.patience_s, None if flight.sent_at is None else call_s
        )
        return self.brought(flight, attempt, reply, call_s, permit if everybodys else None)

    def brought(
        self,
        flight: TrialInFlight,
        attempt: int,
        reply: Output | Failure,
        call_s: float | None,
        permit: CallPermit | None = None,
    ) -> Step:
        """Say what comes of what was brought for an attempt, whoever brought it.

        Args:
            flight: The trial; its `tries` have this attempt already.
            attempt: The attempt.
            reply: What was brought.
            call_s: Seconds the call took; None: nobody knows.
            permit: What it was made with, where the endpoint is left alone and a failure is
                everybody's; None: it is the trial's own.
        """
        self._spend_caps.paid(flight.work.col, reply)
        if isinstance(reply, Failure):
            return self._failed(flight, attempt, reply, call_s, permit)
        return self._scored_at_once(flight, reply, Arrival(attempt, call_s))

    def unsent(self, flight: TrialInFlight, attempt: int) -> Step:
        """Put a trial back into the queue whose attempt was written down and is not to leave."""

        def write(tx: Tx) -> bool:
            attempt_writes.take_back_start(tx, attempt)
            return flight.stands(tx) and trial_moves.give_back(tx, flight.work.trial)

        return Step(write, requeued=True)

    def score(self, flight: TrialInFlight, output: Output) -> Step:
        """Score an output that is in the store already, as far as that can be done at once."""
        flight.phase = Phase.CLOSING
        return self._scored_at_once(flight, output, None)

    async def scored(self, flight: TrialInFlight, output: Output) -> Step:
        """Score an output that is in the store, for as long as it takes.

        Where that is ended from outside it stays to be scored.
        """
        if flight.withdrawn:  # before it was its turn
            return LEFT
        flight.phase = Phase.SCORING
        outcome = await _until_ended(flight, self._outcome_with_programs(flight, output))
        return LEFT if outcome is None else scored_step(flight, output, outcome, None)

    def _scored_at_once(
        self, flight: TrialInFlight, output: Output, arrival: Arrival | None
    ) -> Step:
        # no turn of the loop is given away for what nearly all outputs are
        try:
            with loop_bounds.within(AT_ONCE_S):
                outcome = self._outcome(flight, output)
        except NotAtOnceError:
            return unscored_step(flight, output, arrival, programs=False)
        except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
            outcome = bug()
        if isinstance(outcome, ScoringOutcome) and outcome.programs:
            # what programs see of it is in the store first
            return unscored_step(flight, output, arrival, programs=True)
        return scored_step(flight, output, outcome, arrival)

    def _outcome(self, flight: TrialInFlight, output: Output) -> ScoringOutcome | Failure:
        work, scorer = flight.work, self._scoring.scorer
        return scorer.outcome(self._columns[work.col], work.case, output, work.kept or ())

    async def _outcome_with_programs(
        self, flight: TrialInFlight, output: Output
    ) -> ScoringOutcome | Failure:
        outcome = await self._off_loop.unbounded(self._outcome, flight, output)
        if isinstance(outcome, Failure) or not outcome.programs:
            return outcome
        assert self._scoring.programs is not None, "a suite with programs has what runs them"
        work = flight.work
        scores = await self._scoring.programs.scores(
            self._columns[work.col], work.case, output, outcome.programs
        )
        return outcome.with_scores(scores)

    async def _reply(
        self, flight: TrialInFlight, attempt: int, permit: CallPermit
    ) -> Output | Failure | None:
        """Make one attempt; None where it was ended from outside."""
        flight.sent_at = flight.context = None
        flight.phase = Phase.CALLING
        return await _until_ended(flight, self._ask(flight, attempt, permit))

    async def _ask(
        self, flight: TrialInFlight, attempt: int, permit: CallPermit
    ) -> Output | Failure:
        """Open the target where nobody has yet, and ask it."""
        request = await self.prepared(flight)
        if isinstance(request, Failure):
            return request
        work = flight.work
        target = self._targets[self._columns[work.col].target]
        timeout_s = self._limits.timeout_s if work.case.timeout is None else work.case.timeout
        flight.sent_at = time.monotonic()
        flight.context = self._contexts(flight, attempt, timeout_s, permit)
        flight.context.tell(permit.seen)
        flight.context.limits = work.case.limits
        return flight.context.recorded(await target.generate(request, flight.context))

    async def prepared(self, flight: TrialInFlight) -> JsonObject | Failure:
        """Return the request of a trial, once all is seen to that could keep it from being asked.

        Its target is open then, its request is what it was staged with, and its answer can be
        scored.
        """
        work = flight.work
        column = self._columns[work.col]
        if (unready := await self._opened.ready(column.target)) is not None:
            return unready
        target = self._targets[column.target]
        request = await self._off_loop.bounded(target.request, column, work.case, work.epoch)
        if isinstance(request, Failure):
            return request
        if target.reads_files(request) and not await asyncio.to_thread(
            _as_staged, target, request, work
        ):
            return _CHANGED_FILES
        problem = await self._off_loop.bounded(self._scoring.scorer.problem, column, work.case)
        if problem is not None:
            return problem  # an answer could not be scored: nobody is asked for it
        return request

    def _held(self, flight: TrialInFlight, attempt: int, why: str) -> Step:
        """Leave a conversation between two calls; it goes on after the last as soon as it may."""

        def write(tx: Tx) -> bool:
            attempt_writes.drop_attempt(tx, attempt, "cancelled", None)
            return flight.stands(tx) and trial_moves.wait(tx, flight.work.trial, why, None)

        return Step(write, again_in=0.0)

    def _given_up(self, flight: TrialInFlight, attempt: int, call_s: float) -> Step:
        context = flight.context
        text = None if context is None else context.partial
        messages = () if context is None else context.messages

        def write(tx: Tx) -> bool:
            attempt_writes.drop_attempt(tx, attempt, "cancelled", call_s, text, messages)
            return flight.stands(tx) and trial_moves.give_back(tx, flight.work.trial)

        return Step(write)

    def _lost(self, flight: TrialInFlight, attempt: int, failure: Failure, call_s: float) -> Step:
        """Put a trial back into the queue whose attempt was lost; that uses up no retry.

        One whose attempts are lost in a row is closed: perhaps it ends whoever makes them.
        """
        trial, tries = flight.work.trial, flight.tries
        state, took = ("cancelled", None) if failure.unsent else ("lost", call_s)
        if not failure.unsent:
            self._spend_caps.unanswered(flight.work.col)
        if failure.fatal:
            self._coordination.leave(halted(failure))
        else:
            tries.lost += 1
        if tries.lost < _MOST_LOST:

            def again(tx: Tx) -> bool:
                attempt_writes.drop_attempt(tx, attempt, state, took, why=failure)
                return flight.stands(tx) and trial_moves.give_back(tx, trial)

            return Step(again, again_in=None if failure.fatal else 0.0)
        self._spend_caps.errored()
        closing = replace(failure, message=f"{failure.message}; the attempt before likewise")

        def close(tx: Tx) -> bool:
            attempt_writes.drop_attempt(tx, attempt, state, took, why=failure)
            return flight.stands(tx) and trial_moves.fail_trial(tx, trial, closing)

        return Step(close)

    def _failed(
        self,
        flight: TrialInFlight,
        attempt: int,
        failure: Failure,
        call_s: float | None,
        permit: CallPermit | None,
    ) -> Step:
        """Decide whether a failed attempt is followed by another, and when.

        Args:
            flight: The trial.
            attempt: The attempt.
            failure: What it ended with.
            call_s: Seconds it took; None: nobody knows.
            permit: What it was made with, where the endpoint is left alone and the failure is
                everybody's; None: it is the trial's own.
        """
        trial, tries = flight.work.trial, flight.tries
        if permit is not None:
            if permit.waited_out(failure, self._limits.patience_s):
                failure = replace(failure, retryable=False, fatal=True)
            how = f"the endpoint has refused everything for {permit.paused_s or 0:.0f} s"
        elif tries.spared:
            how = f"refused {tries.failures + tries.spared} times, others got through"
        else:
            how = f"try {tries.failures + 1}/{self._limits.patience.retries + 1}"
        pause = self._limits.patience.pause_before_next(
            failure, tries.failures, self._rng, tries.spared
        )
        log.debug(
            "trial %d, attempt %d: %s: %s",
            trial,
            attempt,
            failure.status or failure.kind,
            "no further attempt" if pause is None else f"{how}, again in {pause:.3f} s",
        )
        if pause is None:
            if failure.fatal:
                self._coordination.leave(halted(failure))
            self._spend_caps.errored()

            def close(tx: Tx) -> bool:
                attempt_writes.fail_attempt(tx, attempt, failure, call_s)
                return flight.stands(tx) and trial_moves.fail_trial(tx, trial, failure)

            return Step(close)
        if flight.consigned:

            def queue(tx: Tx) -> bool:
                attempt_writes.fail_attempt(tx, attempt, failure, call_s)
                return flight.stands(tx) and trial_moves.give_back(tx, trial)

            return Step(queue)
        why = f"{failure.status or failure.kind}, {how}"

        def wait(tx: Tx) -> bool:
            attempt_writes.fail_attempt(tx, attempt, failure, call_s)
            return flight.stands(tx) and trial_moves.wait(tx, trial, why, tx.now + pause)

        return Step(wait, again_in=pause, unreachable=failure.fatal)


def _as_staged(target: JourneyTarget, request: JsonObject, work: OpenTrial) -> bool:
    """Return whether a request is what the trial was staged with: its output gets that key.

    Where an output satisfies no key it may be of any request.
    """
    if work.key == NO_KEY:
        return True
    base = request_key(canonical(target.identity()), request)
    return is_key_of(work.key, base, work.epoch)


async def _until_ended(flight: TrialInFlight, work: Coroutine[Any, Any, T]) -> T | Failure | None:
    """Wait for work on a trial, in the task that calls this.

    Returns:
        What it returns; a failure where it has a bug; None where it was ended from outside.
    """
    task = asyncio.current_task()
    assert task is not None, "work on a trial is waited for by a task"
    # no task of its own: its start and its end would each wait for a turn of the loop
    flight.task, flight.ended = task, False
    try:
        return await work
    except asyncio.CancelledError:
        if task.cancelling() > flight.ended:
            raise  # the task itself is being ended
        return None
    except (AbandonedError, HeldError):
        return None
    except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
        return bug()
    finally:
        if flight.ended:
            task.uncancel()  # whatever the work made of it: what comes next is another's
        flight.task = None
        flight.phase = Phase.CLOSING
