"""Which run a suite's runs are compared with, and what each run is."""

import json
import sqlite3
import zlib
from collections.abc import Collection
from dataclasses import dataclass

from tui_eval.model.states import RunState
from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow
from tui_eval.store.text import unpack_text


@dataclass(frozen=True, slots=True)
class RunBaseRow:
    """What a run was launched to be compared with."""

    name: str
    """The other run's name, or the baseline file as it was given."""
    run: int | None
    """The other run, which may have been deleted; None: it is a file."""
    file: bytes | None
    """The file's SHA-256; None: it is a run."""


def refusal(run: RunRow) -> str | None:
    """Say why a run can be no baseline, on every screen and in every command; None: it can."""
    if run.stopped_by == "deletion":
        return f"{run.name} is half deleted"
    if run.partial:
        return f"{run.name} leaves cases or targets of its suite out: a baseline is a whole run"
    if run.state is not RunState.DONE:
        how = "" if run.live else f" (`tui-eval resume {run.name}`)"
        return f"{run.name} is {run.state}: a baseline is a run that has finished{how}"
    return None


def pinned(db: sqlite3.Connection) -> frozenset[int]:
    """Return the ids of all runs that are their suite's baseline."""
    return frozenset(row[0] for row in db.execute("SELECT run FROM baselines"))


def run_base(db: sqlite3.Connection, run_id: int) -> RunBaseRow | None:
    """Return what a run was launched to be compared with; None: nothing."""
    row = db.execute("SELECT name, base, file FROM run_bases WHERE run = ?", (run_id,)).fetchone()
    return None if row is None else RunBaseRow(unpack_text(row[0]), *row[1:])


def baseline_file(db: sqlite3.Connection, digest: bytes) -> bytes:
    """Return a baseline file as it was when a run was launched."""
    row = db.execute("SELECT packed FROM baseline_files WHERE digest = ?", (digest,)).fetchone()
    return zlib.decompress(row[0])


def suites_of(db: sqlite3.Connection, run_ids: Collection[int]) -> tuple[str, ...]:
    """Return the suites whose baseline is one of these runs."""
    rows = db.execute(
        "SELECT suite FROM baselines WHERE run IN (SELECT value FROM json_each(?)) ORDER BY suite",
        (json.dumps([*run_ids]),),
    )
    return tuple(row[0] for row in rows)


def compared_with(db: sqlite3.Connection, run_ids: Collection[int]) -> int:
    """Count the runs that were launched to be compared with any of these, themselves aside."""
    row = db.execute(
        "SELECT count(*) FROM run_bases WHERE base IN (SELECT value FROM json_each(?1)) "
        "AND run NOT IN (SELECT value FROM json_each(?1))",
        (json.dumps([*run_ids]),),
    ).fetchone()
    return int(row[0])


def baseline(db: sqlite3.Connection, suite: str) -> RunRow | None:
    """Return the run that is pinned for a suite; None: none is."""
    row = db.execute("SELECT run FROM baselines WHERE suite = ?", (suite,)).fetchone()
    return None if row is None else run_queries.run(db, row[0])


def suites(db: sqlite3.Connection) -> list[str]:
    """Return the names of the suites that have runs, the latest first."""
    rows = db.execute("SELECT suite FROM runs GROUP BY suite ORDER BY max(id) DESC")
    return [row[0] for row in rows]
