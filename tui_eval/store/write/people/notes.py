"""Notes that people write on trials: the newest counts, earlier ones stay in the history."""

import json
import sqlite3
from collections.abc import Mapping, Sequence

from tui_eval.store.text import pack, unpack_text
from tui_eval.store.tx import Tx

LONGEST = 2000
"""Characters of a note."""


def write(tx: Tx, notes: Mapping[int, str]) -> None:
    """Write notes on trials; a note that is there already counts no more.

    Args:
        tx: The transaction.
        notes: The text by the trial's id; an empty one takes the note away.

    Raises:
        ValueError: a text is longer than `LONGEST`.
    """
    if any(len(text) > LONGEST for text in notes.values()):
        raise ValueError(f"a note has at most {LONGEST} characters")
    tx.db.executemany(
        "UPDATE notes SET current = 0 WHERE trial = ? AND current = 1",
        [(trial,) for trial in notes],
    )
    tx.db.executemany(
        "INSERT INTO notes (trial, text, current, at) VALUES (?, ?, ?, ?)",
        [(trial, pack(text), 1 if text else 0, tx.now) for trial, text in notes.items()],
    )
    tx.db.executemany(
        "UPDATE trials SET change = ? WHERE id = ?", [(tx.change, trial) for trial in notes]
    )


def count(db: sqlite3.Connection, run: int) -> int:
    """Count the trials of a run that have a note."""
    row = db.execute(
        # note by note: they are few, and SQLite would rather go through all trials
        "SELECT count(*) FROM notes n INDEXED BY notes_current CROSS JOIN trials t "
        "ON t.id = n.trial WHERE n.current = 1 AND t.run = ?",
        (run,),
    ).fetchone()
    return int(row[0])


def of(db: sqlite3.Connection, trials: Sequence[int]) -> dict[int, str]:
    """Return the notes that count by the trial's id; trials without one are not in it."""
    rows = db.execute(
        "SELECT n.trial, n.text FROM json_each(?) j "
        "JOIN notes n ON n.trial = j.value AND n.current = 1",
        (json.dumps(list(trials)),),
    )
    return {trial: unpack_text(text) for trial, text in rows}
