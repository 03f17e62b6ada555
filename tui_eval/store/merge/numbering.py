"""Where the cases of a run stand of which not all parts are there.

A case of a part keeps its number in the whole run. Screens and figures count the trials of a run
from 0 without gaps; so cases stand at the rank of their numbers. While something is merged they
stand at their numbers themselves, where each finds its place without the others.
"""

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Final

from tui_eval.store.tx import Tx
from tui_eval.store.writer import transact

_CASES: Final = 2000
"""Cases of one transaction."""


def spread(db: sqlite3.Connection, run: int, held: int) -> None:
    """Move the cases of a run to their numbers, the last first: no two ever stand at one place."""
    if not _width(db, run):
        return
    while moved := db.execute(
        "SELECT seq, number FROM cases WHERE run = ? AND number <> seq ORDER BY seq DESC LIMIT ?",
        (run, _CASES),
    ).fetchall():
        transact(db, partial(_move, run=run, moved=moved), run, held)


def close_up(db: sqlite3.Connection, run: int, held: int) -> None:
    """Move the cases of a run to the ranks of their numbers, the first first."""
    after, rank = -1, 0
    while some := db.execute(
        "SELECT seq FROM cases WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
        (run, after, _CASES),
    ).fetchall():
        moved = [(seq, rank + at) for at, (seq,) in enumerate(some) if seq != rank + at]
        after, rank = some[-1][0], rank + len(some)
        if moved:
            transact(db, partial(_move, run=run, moved=moved), run, held)


def _move(tx: Tx, run: int, moved: Sequence[tuple[int, int]]) -> None:
    width = _width(tx.db, run)
    tx.db.executemany(
        "UPDATE cases SET seq = ?3 WHERE run = ?1 AND seq = ?2",
        [(run, old, new) for old, new in moved],
    )
    tx.db.executemany(
        "UPDATE trials SET seq = ?3, place = ?3 * ?4 + place % ?4, change = ?5 "
        "WHERE run = ?1 AND seq = ?2",
        [(run, old, new, width, tx.change) for old, new in moved],
    )


def _width(db: sqlite3.Connection, run: int) -> int:
    """Return how many trials each case of a run has; 0: there are none."""
    row = db.execute(
        "SELECT count(*) FROM trials WHERE run = ?1 AND seq = "
        "(SELECT seq FROM trials WHERE run = ?1 LIMIT 1)",
        (run,),
    ).fetchone()
    return int(row[0])
