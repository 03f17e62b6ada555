"""What is read of attempts beside their outputs."""

import sqlite3

from tests.support import Staged, do, key, output, staged
from tui_eval.model.outputs.attempt_record import (
    AttemptProgress,
    AttemptRecord,
    PhaseStart,
    ProgramExit,
    UsageSample,
)
from tui_eval.store.read.trials import attempt_queries
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes


def started(tx: Tx, trial: int) -> int:
    attempt = attempt_writes.start_attempt(tx, trial, queue_s=0.0, wait_s=None)
    assert attempt is not None
    return attempt


def test_phases_and_samples_come_back_as_they_were(db: sqlite3.Connection) -> None:
    record = AttemptRecord(
        exit=ProgramExit(0),
        isolation="none",
        phases=(PhaseStart("preparing", 0.0), PhaseStart("running", 0.25)),
        samples=(UsageSample(0.5, 0.1, 1_000), UsageSample(1.0, None, None)),
        turns=(0.25, 0.25, 0.75),
    )
    made = staged(db, 2)

    def unit(tx: Tx) -> None:
        told, other = made.trials
        attempt_writes.answer(tx, started(tx, told), told, key(1), output(record=record), 0.5)
        attempt_writes.answer(tx, started(tx, other), other, key(2), output(), 0.5)

    do(db, unit)
    (found,) = attempt_queries.with_history(db, made.trials[0]).values()
    assert found.record == record
    assert attempt_queries.with_history(db, made.trials[1]) == {}
    assert attempt_queries.of_trial(db, made.trials[0]).record.samples == ()


def test_how_far_the_trials_of_a_run_are_and_of_no_other(db: sqlite3.Connection) -> None:
    told = AttemptProgress("running", 3, "bash \udcff", 1.5, 2_000, 4, 10, 20)

    def begun() -> Staged:
        made = staged(db, 2)

        def unit(tx: Tx) -> None:
            attempt_writes.tell_progress(tx, started(tx, made.trials[0]), told)

        do(db, unit)
        return made

    one, other = begun(), begun()
    assert attempt_queries.progress_of_run(db, one.run) == {one.trials[0]: told}
    assert attempt_queries.progress_of_run(db, other.run) == {other.trials[0]: told}
