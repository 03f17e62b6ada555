"""Baselines: the run of each suite that others are compared with, and what each run is."""

import hashlib
import zlib
from dataclasses import dataclass

from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.text import pack
from tui_eval.store.tx import Tx


@dataclass(frozen=True, slots=True)
class BaseChoice:
    """What a launch chose its run to be compared with: a run, or a baseline file."""

    name: str
    """The run's name, or the file as it was given."""
    run: int | None = None
    """None: it is a file."""
    file: bytes | None = None
    """The file's content; None: it is a run."""


def set_base(tx: Tx, run: int, suite: str, chosen: BaseChoice | None) -> None:
    """Write down what a new run is compared with, for good.

    Args:
        tx: The transaction.
        run: The new run.
        suite: Its suite's name.
        chosen: What the launch chose; None: its suite's baseline of now, if there is one.
    """
    if chosen is None:
        pinned = baseline_queries.baseline(tx.db, suite)
        if pinned is None:
            return
        chosen = BaseChoice(pinned.name, pinned.id)
    digest = None
    if chosen.file is not None:
        digest = hashlib.sha256(chosen.file).digest()
        tx.db.execute(
            "INSERT OR IGNORE INTO baseline_files (digest, size, packed) VALUES (?, ?, ?)",
            (digest, len(chosen.file), zlib.compress(chosen.file, 1)),
        )
    tx.db.execute(
        "INSERT INTO run_bases (run, name, base, file) VALUES (?, ?, ?, ?)",
        (run, pack(chosen.name), chosen.run, digest),
    )


def forget(tx: Tx, run: int) -> None:
    """Forget what a run that is deleted was compared with, and that it was a baseline.

    Runs that were compared with it keep its name.
    """
    tx.db.execute("DELETE FROM baselines WHERE run = ?", (run,))
    tx.db.execute("DELETE FROM run_bases WHERE run = ?", (run,))
    tx.db.execute(
        "DELETE FROM baseline_files WHERE digest NOT IN "
        "(SELECT file FROM run_bases WHERE file IS NOT NULL)"
    )


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
