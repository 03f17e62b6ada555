"""Runs, their columns, counts and limits: plain functions of a connection.

They run as they are in a script, or in a connection's thread through `Connection.call`.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.runs.endpoint_event import EXECUTOR, EndpointEvent, EndpointEventKind
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.lease import Lease
from tui_eval.store.rows import (
    ColumnRow,
    LimitRow,
    RunRow,
    TallyRow,
)
from tui_eval.store.text import pack, unpack

_RUN = (
    "SELECT id, name, suite, path, label, settings, partial, state, reason, stopped_by, staged, "
    "total, created_at, started_at, ended_at, wall_s, active_since, active_s, change, lease_host, "
    "lease_pid, lease_birth, lease_beat FROM runs "
)


def data_version(db: sqlite3.Connection) -> int:
    """Return a number that differs whenever another connection has committed since."""
    return int(db.execute("PRAGMA data_version").fetchone()[0])


def change(db: sqlite3.Connection) -> int:
    """Return the number of the newest change."""
    return int(db.execute("SELECT value FROM meta WHERE name = 'change'").fetchone()[0])


def runs(db: sqlite3.Connection, *, limit: int = -1) -> list[RunRow]:
    """Return runs, newest first; `limit` -1: all."""
    return [_run(row) for row in db.execute(f"{_RUN}ORDER BY id DESC LIMIT ?", (limit,))]


def full_runs(db: sqlite3.Connection, suite: str, limit: int) -> list[RunRow]:
    """Return the last runs of a suite that came to their end and leave nothing out, newest first.

    One that goes on, or was interrupted, has what ended early, which is no fair sample of all.
    """
    rows = db.execute(
        f"{_RUN}WHERE suite = ? AND staged = 1 AND partial = 0 AND state = 'done' "
        "ORDER BY id DESC LIMIT ?",
        (suite, limit),
    )
    return [_run(row) for row in rows]


def full_run_before(db: sqlite3.Connection, run: RunRow) -> RunRow | None:
    """Return the last run of a run's suite before it that leaves nothing out; None: none is."""
    row = db.execute(
        f"{_RUN}WHERE suite = ? AND id < ? AND staged = 1 AND partial = 0 "
        "AND stopped_by IS NOT 'deletion' ORDER BY id DESC LIMIT 1",
        (run.suite, run.id),
    ).fetchone()
    return None if row is None else _run(row)


def run(db: sqlite3.Connection, run_id: int) -> RunRow:
    """Return one run by its id; raises `UnknownRunError`."""
    row = db.execute(f"{_RUN}WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UnknownRunError(f"run {run_id} is not in this store")
    return _run(row)


def run_named(db: sqlite3.Connection, name: str, *, evaluated: bool = False) -> RunRow:
    """Find a run by its name, its label, an unambiguous prefix of its name, or `last`.

    A label, what `--name` said, counts where one run alone has it.

    Args:
        db: The connection.
        name: What is asked for.
        evaluated: Whether `last` is the last one that evaluates anything, which sweeps do not;
            else the one created last.

    Raises:
        UnknownRunError: none or several answer to it; the message names what there is.
    """
    packed = pack(name)
    if name == "last":
        which = "WHERE json_extract(settings, '$.sweep') IS NULL " if evaluated else ""
        rows = db.execute(f"{_RUN}{which}ORDER BY id DESC LIMIT 1").fetchall()
    else:
        rows = (
            db.execute(f"{_RUN}WHERE name = ?", (packed,)).fetchall()
            or db.execute(
                f"{_RUN}WHERE label = ? AND label <> '' ORDER BY id DESC LIMIT 6", (packed,)
            ).fetchall()
            or db.execute(
                f"{_RUN}WHERE ?1 <> '' AND substr(name, 1, length(?1)) = ?1 "
                "ORDER BY id DESC LIMIT 6",
                (packed,),
            ).fetchall()
        )
    if len(rows) == 1:
        return _run(rows[0])
    if rows:
        raise UnknownRunError(
            f"{name!r} may be any of {', '.join(row[1] for row in rows)}: give more letters of one"
        )
    known = [row[0] for row in db.execute("SELECT name FROM runs ORDER BY id DESC LIMIT 5")]
    there = f"the newest are {', '.join(known)}" if known else "there are no runs in this store yet"
    raise UnknownRunError(f"no run is called {name!r}; {there}")


def last_change(db: sqlite3.Connection, run_id: int) -> int:
    """Return the number of the last change of a run or of any of its trials; 0: there is none."""
    row = db.execute(
        "SELECT max(ifnull((SELECT change FROM runs WHERE id = ?1), 0), "
        "ifnull((SELECT max(change) FROM trials WHERE run = ?1), 0))",
        (run_id,),
    ).fetchone()
    return int(row[0])


def columns(db: sqlite3.Connection, run_id: int) -> list[ColumnRow]:
    """Return a run's columns in order."""
    return [
        ColumnRow(*(*row[:7], AnswerSource(row[7]), row[8]))
        for row in db.execute(
            "SELECT idx, name, target, prompt, kind, model, endpoint, source, version "
            "FROM columns WHERE run = ? ORDER BY idx",
            (run_id,),
        )
    ]


def tallies(db: sqlite3.Connection, run_id: int) -> list[TallyRow]:
    """Return how many trials stand where; cheap at any size."""
    return [
        TallyRow(col, TrialState(state), Verdict(verdict) if verdict else None, *rest)
        for col, state, verdict, *rest in db.execute(
            "SELECT col, state, verdict, n, score, input_tokens, output_tokens, cost_usd, "
            "unpriced, attempts, retries, cached, about_usd, unestimated "
            "FROM tallies WHERE run = ? AND n > 0",
            (run_id,),
        )
    ]


def limits(db: sqlite3.Connection, run_id: int) -> dict[str, LimitRow]:
    """Return the limit now in force for each endpoint of a run."""
    rows = db.execute(f"SELECT {LIMIT} FROM limits WHERE run = ? ORDER BY id", (run_id,))
    return {row[0]: limit_of(row) for row in rows}


def worker_events(db: sqlite3.Connection, run_id: int) -> list[LimitRow]:
    """Return what became of a run's workers, oldest first."""
    rows = db.execute(
        f"SELECT {LIMIT} FROM limits WHERE run = ? AND endpoint = ? ORDER BY id",
        (run_id, EXECUTOR),
    )
    return [limit_of(row) for row in rows]


LIMIT = "endpoint, concurrency, kind, seconds, before_s, what, at"
"""The columns `limit_of` makes a limit of."""


def limit_of(row: Sequence[Any]) -> LimitRow:
    """Make a limit of its row."""
    kind, seconds, before_s, what = row[2:6]
    event = EndpointEvent(EndpointEventKind(kind), seconds, before_s, unpack(what))
    return LimitRow(row[0], row[1], event, row[6])


def _run(row: Sequence[Any]) -> RunRow:
    values = [*row[:19], Lease(*row[19:])]
    values[3:5] = [unpack(value) for value in row[3:5]]
    values[5] = json.loads(row[5])
    values[6] = bool(row[6])
    values[7] = RunState(row[7])
    values[8] = unpack(row[8])
    values[10] = bool(row[10])
    return RunRow(*values)
