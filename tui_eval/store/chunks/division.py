"""The chunks of a run, and which of them have changed."""

import json
import sqlite3
from dataclasses import dataclass
from typing import Final, TypeAlias

from tui_eval.store.rows import RunRow

TRIALS: Final = 8192
"""Trials of a chunk, about: a chunk is counted in some hundredths of a second."""


@dataclass(frozen=True, slots=True)
class Division:
    """How the cases of a run are divided."""

    trials: int
    """Of the run."""
    cases: int
    size: int
    """Cases of a chunk; the last one may have fewer."""

    @property
    def chunks(self) -> int:
        """How many chunks there are."""
        return -(-self.cases // self.size)

    def cases_of(self, chunk: int) -> range:
        """Return the numbers of a chunk's cases."""
        return range(chunk * self.size, min((chunk + 1) * self.size, self.cases))


def division(db: sqlite3.Connection, run: RunRow, trials_of_chunk: int = TRIALS) -> Division:
    """Divide a run; all its trials must be there.

    Args:
        db: The connection.
        run: The run.
        trials_of_chunk: About how many trials a chunk shall have.
    """
    last = db.execute(
        "SELECT seq FROM trials WHERE run = ? ORDER BY place DESC LIMIT 1", (run.id,)
    ).fetchone()
    cases = 0 if last is None else last[0] + 1
    size = max(trials_of_chunk * cases // max(run.total, 1), 1)
    return Division(run.total, cases, size)


def changed_since(
    db: sqlite3.Connection, run_id: int, divided: Division, change: int
) -> frozenset[int]:
    """Return the chunks with a trial that changed after a change number.

    Those with a trial that is being scored are always among them: what is known of its output grows
    before the trial itself changes.
    """
    rows = db.execute(
        "SELECT DISTINCT seq / ?2 FROM trials INDEXED BY trials_change "
        "WHERE run = ?1 AND change > ?3 "
        "UNION SELECT seq / ?2 FROM trials INDEXED BY trials_open "
        "WHERE run = ?1 AND state = 'scoring' AND state IN ('queued', 'scoring')",
        (run_id, divided.size, change),
    )
    return frozenset(row[0] for row in rows)


def any_scored(db: sqlite3.Connection, run_id: int) -> bool:
    """Return whether any trial is being scored: what is known of it may grow without a change."""
    row = db.execute(
        "SELECT 1 FROM trials INDEXED BY trials_open WHERE run = ? AND state = 'scoring' "
        "AND state IN ('queued', 'scoring') LIMIT 1",
        (run_id,),
    ).fetchone()
    return row is not None


def last_change(db: sqlite3.Connection, run_id: int) -> int:
    """Return the number of the newest change of a run's trials; 0: there are none."""
    row = db.execute("SELECT ifnull(max(change), 0) FROM trials WHERE run = ?", (run_id,))
    return int(row.fetchone()[0])


_SETTLED: Final = "state IN ('done', 'error', 'cancelled')"
_TOUCHED: Final = (
    f"iif({_SETTLED}, max(ifnull(since, 0), ifnull((SELECT max(max(s.at, ifnull(s.withdrawn_at, "
    "0))) FROM scores s WHERE s.trial = trials.id), 0)), since)"
)
"""When a trial was last touched: its state began or, once it is settled, it got a score."""


def newest(db: sqlite3.Connection, run_id: int, change: int) -> tuple[int, float | None] | None:
    """Return the trial that changed last up to a change number, and when it was last touched.

    A store that was put back from a copy, and went on from there, has another one.
    """
    row = db.execute(
        f"SELECT id, {_TOUCHED} FROM trials INDEXED BY trials_change "
        "WHERE run = ? AND change <= ? "
        "ORDER BY change DESC, id DESC LIMIT 1",
        (run_id, change),
    ).fetchone()
    return None if row is None else (int(row[0]), row[1])


_MARKED: Final = 1000
HistoryMark: TypeAlias = tuple[tuple[int, float | None], ...]
"""The trials that changed last up to a change, back to the first one that is settled: each with
when it was last touched."""


def history_mark(db: sqlite3.Connection, run_id: int, change: int) -> HistoryMark:
    """Return by what the history of a run's trials up to a change number is known again."""
    marked = []
    rows = db.execute(
        f"SELECT id, {_TOUCHED}, {_SETTLED} FROM trials "
        "INDEXED BY trials_change WHERE run = ? AND change <= ? "
        "ORDER BY change DESC, id DESC LIMIT ?",
        (run_id, change, _MARKED),
    )
    for trial, touched, settled in rows:
        marked.append((int(trial), touched))
        if settled:
            break
    return tuple(marked)


def has_gone_on(db: sqlite3.Connection, run_id: int, change: int, mark: HistoryMark) -> bool:
    """Return whether a store goes on from where a mark was taken, and was not put back from a copy.

    Either the trial that was newest is as it was, or all that were under way beyond the last
    settled one are as they were, or have changed since.

    Args:
        db: The connection.
        run_id: The run.
        change: The store's newest change when the mark was taken.
        mark: The mark.
    """
    now = history_mark(db, run_id, change)
    if now[:1] == mark[:1]:
        return True
    if not set(now) <= set(mark):
        return False
    moved = json.dumps([trial for trial, _ in set(mark) - set(now)])
    row = db.execute(
        "SELECT count(*) FROM json_each(?) j JOIN trials t ON t.id = j.value WHERE t.change > ?",
        (moved, change),
    ).fetchone()
    return int(row[0]) == len(mark) - len(now)
