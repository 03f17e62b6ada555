"""Baselines: the run of each suite that others are compared with."""

from tui_eval.store.tx import Tx


def pin(tx: Tx, suite: str, run: int) -> None:
    """Make a run its suite's baseline, in place of the one before."""
    tx.db.execute(
        "INSERT INTO baselines (suite, run, at) VALUES (?, ?, ?) "
        "ON CONFLICT DO UPDATE SET run = excluded.run, at = excluded.at",
        (suite, run, tx.now),
    )


def unpin(tx: Tx, suite: str) -> bool:
    """Take a suite's baseline away; return whether there was one."""
    return tx.db.execute("DELETE FROM baselines WHERE suite = ?", (suite,)).rowcount > 0
