"""Staging: the frozen suite's cases and trials go into the store before anything starts."""

import logging
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, TypeVar

from tui_eval.engine.internal_error import bug
from tui_eval.engine.journey.journey_parts import TrialScorer
from tui_eval.engine.journey.trial_scoring import ScoringOutcome
from tui_eval.engine.launch.plan import PlannedTrial, problems
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.store import lease
from tui_eval.store.connection import unhurried
from tui_eval.store.read.trials import reusable_outputs
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.store.writer import transact_patiently
from tui_eval.suites.data.data_files import DataFile, check_unchanged
from tui_eval.suites.spec import Suite

T = TypeVar("T")

_SCORING_S = 1.0
"""Seconds that scoring the outputs of a portion may take; the workers score what is left."""

log = logging.getLogger(__name__)


class StagingStoppedError(Exception):
    """Somebody stopped the run before all its trials were there."""


def as_launched(
    portions: Iterable[list[PlannedTrial]], suite: Suite, files: Sequence[DataFile]
) -> Iterator[list[PlannedTrial]]:
    """Yield portions on as they come, if their data files are what they were at launch.

    Looked at before the first and after the last, so that all cases are of that moment.

    Raises:
        DataChangedError: one of them is not.
    """
    check_unchanged(suite, files)
    yield from portions
    check_unchanged(suite, files)


@dataclass(frozen=True, slots=True)
class StagingWriter:
    """Writes a run that has no other writer yet, however long the disk is full or locked."""

    db: sqlite3.Connection
    """A writable connection, used in its thread."""
    run: int
    number: int
    """The lease's, for the fence."""
    told: Callable[[str | None], None]
    """Told why nothing can be written just now (a full disk, a lock), and None once it can."""
    stopped: Callable[[], bool]
    """Asked whether somebody stops the run, between portions and while nothing can be written."""

    def write(self, unit: Callable[[Tx], T]) -> T:
        """Commit a unit; return what it gives.

        Raises:
            LeaseLostError: another engine works on the run.
            sqlite3.Error: the store can be written no more, or the wait for it was stopped.
        """
        return transact_patiently(
            self.db, unit, self.run, self.number, told=self.told, stopped=self.stopped
        )


def stage(
    writer: StagingWriter,
    portions: Iterable[list[PlannedTrial]],
    scorer: TrialScorer,
    *,
    reuse: bool,
    whole: Callable[[], bool],
    staged_as: Callable[[], bytes | None] = lambda: None,
    last: Callable[[Tx], None] = lambda _: None,
) -> int:
    """Write all trials of a run, with the outputs the store has for them already, and scored.

    Args:
        writer: The run; anything staged of it before is taken back first.
        portions: What the run wants, in dataset order.
        scorer: The suite's scorers.
        reuse: Whether outputs of earlier runs may be used.
        whole: Tells, once all portions were read, whether they leave nothing of the suite out: then
            the run is not partial, whatever its launch asked for.
        staged_as: Gives, once all portions were read, what all of it follows from; see
            `staged_copy.staging_digest`. None: from more than that.
        last: What is written with it that all trials are there.

    Returns:
        How many trials there are.

    Raises:
        StagingStoppedError: somebody stopped the run; it stays unstaged.
        sqlite3.Error: the store can be written no more.
        SuiteError: out of `portions`, for mistakes in the data.
        DataChangedError: likewise, see `as_launched`.
    """
    db, run = writer.db, writer.run
    place = 0
    last_case = -1
    with unhurried(db):  # until the run is staged, all of it is taken back after a crash
        writer.write(lambda tx: run_writes.unstage(tx, run))
        for portion in portions:
            if writer.stopped():
                raise StagingStoppedError
            cases = {want.case.seq: want.case for want in portion if want.case.seq > last_case}
            last_case = portion[-1].case.seq
            known = _known(db, portion, scorer) if reuse else {}
            new = [*_changed(place, portion, known, scorer)]
            writer.write(partial(_write, run=run, cases=[*cases.values()], new=new))
            place += len(portion)
            log.debug(
                "staged %d trials, of the last %d %d had an output", place, len(new), len(known)
            )

    def all_there(tx: Tx) -> None:
        run_writes.staged(tx, run, whole=whole(), staged_as=staged_as())
        last(tx)

    writer.write(all_there)
    return place


def _write(tx: Tx, run: int, cases: Sequence[Case], new: Sequence[NewTrial]) -> None:
    used = [trial.output for trial in new if trial.output is not None]
    gone = reusable_outputs.usable_no_more(
        tx.db, used
    )  # another process may delete a run, or retry
    if gone:
        new = [
            trial._replace(output=None, latency_s=None, failure=None, scores=None)
            if trial.output in gone
            else trial
            for trial in new
        ]
    run_writes.add_cases(tx, run, cases)
    run_writes.add_trials(tx, run, new)
    lease.beat(tx, run)


class _Known(NamedTuple):
    """An output that the store has for a trial already."""

    id: int
    latency_s: float | None
    outcome: ScoringOutcome | Failure | None
    """What came of scoring it; None: it is still to be scored."""


def _known(
    db: sqlite3.Connection, portion: Sequence[PlannedTrial], scorer: TrialScorer
) -> dict[bytes | None, _Known]:
    """Find the outputs there are, by their keys, and score them.

    Those that it takes too long to come to are left for the workers to score.
    """
    wants = {want.key: want for want in portion if want.key is not None}
    known: dict[bytes | None, _Known] = {}
    until = time.monotonic() + _SCORING_S
    late = False
    for key, output_id, output in reusable_outputs.usable_outputs(db, [*wants]):
        outcome = None if late else _outcome(scorer, wants[key], output)
        known[key] = _Known(output_id, output.latency_s, outcome)
        late = time.monotonic() > until
    return known


def _changed(
    place: int,
    portion: Sequence[PlannedTrial],
    known: Mapping[bytes | None, _Known],
    scorer: TrialScorer,
) -> Iterator[NewTrial]:
    """Yield the trials of a portion, each as far as it comes without anybody being asked."""
    to_ask = (want for want in portion if want.key is not None and want.key not in known)
    wrong = problems(to_ask, scorer.problem)
    for at, want in enumerate(portion, place):
        failure = want.failure or wrong.get(want.where)
        found = known.get(want.key)
        if found is None:
            yield NewTrial(at, *want.where, want.epoch, want.key, failure=failure)
            continue
        outcome, scores = found.outcome, None
        if isinstance(outcome, Failure):
            failure = outcome
        elif outcome is not None and outcome.decided:
            scores = outcome.scores
        yield NewTrial(
            at, *want.where, want.epoch, want.key, found.id, failure, scores, found.latency_s
        )


def _outcome(scorer: TrialScorer, want: PlannedTrial, output: Output) -> ScoringOutcome | Failure:
    try:
        return scorer.outcome(want.column, want.case, output, ())
    except Exception:  # noqa: BLE001 - the edge of a trial: a bug ends it, not the run
        return bug()
