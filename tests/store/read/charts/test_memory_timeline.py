"""What the programs of a run took together."""

import sqlite3

from tests.support import do, key, output, staged
from tui_eval.model.outputs.attempt_record import AttemptRecord, UsageSample
from tui_eval.store.read.charts.memory_timeline import memory_over_time
from tui_eval.store.read.charts.working_time import WorkingTime
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes


def test_programs_that_run_at_once_are_added_up(db: sqlite3.Connection) -> None:
    made = staged(db, 3)
    samples = (UsageSample(0.0, 0.0, 100), UsageSample(2.5, 0.1, 300))

    def unit(tx: Tx) -> None:
        for trial in made.trials:
            attempt = attempt_writes.start_attempt(tx, trial, queue_s=0.0, wait_s=None)
            assert attempt is not None
            record = AttemptRecord(samples=samples if trial != made.trials[2] else ())
            attempt_writes.answer(tx, attempt, trial, key(trial), output(record=record), 3.0)
            late = 1.0 if trial == made.trials[1] else 0.0
            tx.db.execute("UPDATE attempts SET sent_at = ? WHERE id = ?", (1000.0 + late, attempt))

    do(db, unit)
    worked = WorkingTime(1000.0)
    assert memory_over_time(db, made.run, 5, worked, 1.0) == [100, 200, 400, 300, 0]
    assert memory_over_time(db, made.run + 1, 5, worked, 1.0) is None


def test_the_most_is_the_same_however_long_the_parts_are(db: sqlite3.Connection) -> None:
    made = staged(db, 4)

    def unit(tx: Tx) -> None:
        for n, trial in enumerate(made.trials):  # one after the other
            attempt = attempt_writes.start_attempt(tx, trial, queue_s=0.0, wait_s=None)
            assert attempt is not None
            record = AttemptRecord(samples=(UsageSample(0.5, 0.0, 100),))
            attempt_writes.answer(tx, attempt, trial, key(trial), output(record=record), 1.0)
            tx.db.execute("UPDATE attempts SET sent_at = ? WHERE id = ?", (1000.0 + n, attempt))

    do(db, unit)
    for parts, part_s in ((40, 0.1), (4, 1.0), (2, 2.0), (1, 4.0)):
        found = memory_over_time(db, made.run, parts, WorkingTime(1000.0), part_s)
        assert found is not None
        assert (len(found), max(found)) == (parts, 100)
