"""What is written of a sweep's levels: begun with their trials, ended, or dropped half way."""

from collections.abc import Sequence

from tui_eval.store.read.sweep_queries import SweepLevel
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.write.run_writes import NewTrial


def begin_level(tx: Tx, run: int, level: SweepLevel, trials: Sequence[NewTrial]) -> None:
    """Write a level down with its trials; none of them has left yet."""
    run_writes.add_trials(tx, run, trials)
    tx.db.execute(
        "INSERT INTO sweep_levels (run, number, level, first, warm_up, calls) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (run, level.number, level.level, level.first, level.warm_up, level.calls),
    )
    tx.db.execute(
        "UPDATE runs SET total = total + ?, change = ? WHERE id = ?", (len(trials), tx.change, run)
    )


def end_level(tx: Tx, run: int, number: int) -> None:
    """Write down that all calls of a level have ended, and that nothing held them back."""
    tx.db.execute(
        "UPDATE sweep_levels SET ended_at = ? WHERE run = ? AND number = ?", (tx.now, run, number)
    )
    tx.db.execute("UPDATE runs SET change = ? WHERE id = ?", (tx.change, run))


def drop_level(tx: Tx, run: int, of: SweepLevel) -> None:
    """Close the trials of a level that was broken off: what they would add measures nothing."""
    tx.db.execute(
        "UPDATE trials SET state = 'cancelled', since = ?, change = ?, waiting = NULL, "
        "waiting_until = NULL WHERE run = ? AND place >= ? AND place < ? AND state = 'queued'",
        (tx.now, tx.change, run, of.first, of.after),
    )
