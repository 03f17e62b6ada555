"""From lines of results to what they mean for trials, a portion in one transaction."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, TypeAlias

from tui_eval.engine.bulk.result_lines import (
    ASKED_AGAIN,
    MISSING,
    TWO,
    LineCounts,
    by_ordinal,
    two_answers,
)
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.steps import Step
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.limits.call_permit import CallHistory
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.api import BulkLine, StrayLine
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import NEVER_DONE, ConsignedTrial, ConsignmentRow
from tui_eval.store.read.figures.call_spending import NO_LINE
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, consignment_writes, trial_moves, trial_verbs
from tui_eval.targets.bulk_access import BulkAccess

_GIVEN_UP: Final = (
    f"the provider did not do it in {ASKED_AGAIN + 1} consignments: retry asks it live"
)

Unit: TypeAlias = Callable[[Tx], bool]
"""Writes down what came of a request; returns whether an output is left to be scored."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Takes results; each request's first line counts, whichever engine reads it."""

    store: RunStore
    journey: Journey
    access: BulkAccess
    spend_caps: SpendCaps

    async def take(
        self, consignment: ConsignmentRow, lines: Iterable[BulkLine | StrayLine], seen: LineCounts
    ) -> bool:
        """Write down what came of some lines; return whether outputs are left to be scored."""
        named = by_ordinal(lines, consignment.token, seen)
        asked = await self.store.reading.call(
            consignment_queries.consigned, consignment.id, [*named]
        )
        seen.unknown += sum(len(same) for n, same in named.items() if n not in asked)
        units: list[Unit] = []
        for ordinal, trial in asked.items():
            unit = await self._of_one(consignment, trial, named[ordinal], seen)
            if unit is not None:
                units.append(unit)
        if not units:
            return False

        def write(tx: Tx) -> bool:
            left = [unit(tx) for unit in units]
            return any(left)

        return await self.store.writer.write(write)

    async def _of_one(
        self,
        consignment: ConsignmentRow,
        trial: ConsignedTrial,
        lines: list[BulkLine],
        seen: LineCounts,
    ) -> Unit | None:
        """Return what is to be written of the lines of one request; None: nothing."""
        first = trial.line or lines[0].digest
        seen.came += trial.line is None
        if trial.line == TWO:
            return None  # an earlier reading has said so
        if any(line.digest != first for line in lines):
            reply = self.access.priced(lines[0].reply)
            if trial.line is None:  # else it was counted when that line was taken
                self.spend_caps.paid(trial.work.col, reply)
            self.spend_caps.errored()
            return partial(_contradicted, consignment.id, trial, reply)
        if trial.line is not None:
            return None  # it was taken before, perhaps by an engine that was killed
        await asyncio.sleep(0)  # scoring holds the loop up, and others have calls in flight
        step = self._step(trial, self.access.priced(lines[0].reply))
        return partial(_arrived, consignment.id, trial.ordinal, first, step)

    async def never_came(self, portion: Mapping[int, ConsignedTrial]) -> None:
        """Write down that the results have no line for some requests."""
        steps = [self._step(trial, MISSING) for trial in portion.values()]

        def write(tx: Tx) -> None:
            for step in steps:
                step.write(tx)

        await self.store.writer.write(write)

    def _step(self, trial: ConsignedTrial, reply: Output | Failure) -> Step:
        flight = TrialInFlight(trial.work, phase=Phase.CLOSING, consigned=True)
        if isinstance(reply, Failure) and reply.kind in NEVER_DONE:
            given_up = trial.waits and trial.never_done >= ASKED_AGAIN
            if reply.kind == NO_LINE:
                self.spend_caps.unanswered(trial.work.col)  # it may have been done
            if given_up:
                self.spend_caps.errored()
            return Step(partial(_not_done, flight, trial.attempt, reply, given_up))
        if isinstance(reply, Failure) and not trial.waits:
            self.spend_caps.paid(trial.work.col, reply)  # it was cancelled, or is asked otherwise
            return Step(partial(_too_late, trial.attempt, reply))
        flight.tries = CallHistory(failures=trial.failures + isinstance(reply, Failure))
        return self.journey.brought(flight, trial.attempt, reply, None)


def _arrived(consignment: int, ordinal: int, line: bytes, step: Step, tx: Tx) -> bool:
    if not consignment_writes.arrived(tx, consignment, ordinal, line):
        return False
    return step.write(tx) and step.goes_on


def _not_done(
    flight: TrialInFlight, attempt: int, failure: Failure, given_up: bool, tx: Tx
) -> bool:
    """Have what the provider never did asked again, or give it up."""
    attempt_writes.fail_attempt(tx, attempt, replace(failure, unsent=True), None)
    if not flight.stands(tx):
        return False
    if given_up:
        return trial_moves.fail_trial(tx, flight.work.trial, Failure("expired", _GIVEN_UP))
    return trial_moves.give_back(tx, flight.work.trial)


def _too_late(attempt: int, failure: Failure, tx: Tx) -> bool:
    attempt_writes.fail_attempt(tx, attempt, failure, None)
    return False


def _contradicted(consignment: int, trial: ConsignedTrial, reply: Output | Failure, tx: Tx) -> bool:
    """Let a trial be an error whose request has two answers: nobody knows which one it is."""
    failure = two_answers(reply)
    if consignment_writes.arrived(tx, consignment, trial.ordinal, TWO):
        attempt_writes.fail_attempt(tx, trial.attempt, failure, None)
    else:
        attempt_writes.supersede_output_of(tx, trial.attempt)
        consignment_writes.contradicted(tx, consignment, trial.ordinal, TWO)
    if trial_moves.stands(tx, trial.work.trial, trial.work.opening):
        trial_verbs.reject(tx, trial.work.trial, failure)
    return False
