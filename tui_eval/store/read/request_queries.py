"""What was asked of a run, and what came of it."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from tui_eval.store.rows import (
    RequestRow,
    RunRow,
)
from tui_eval.store.text import unpack


def requests(db: sqlite3.Connection, run_id: int, *, pending: bool = True) -> list[RequestRow]:
    """Return what was asked of a run, oldest first; only what is not answered yet, or all."""
    where = "AND outcome IS NULL" if pending else ""
    return [
        _request(row)
        for row in db.execute(
            "SELECT id, verb, args, asked_by, asked_at, outcome, detail, answered_at "
            f"FROM requests WHERE run = ? {where} ORDER BY id",
            (run_id,),
        )
    ]


def request(db: sqlite3.Connection, request_id: int) -> RequestRow | None:
    """Return one request by its id."""
    row = db.execute(
        "SELECT id, verb, args, asked_by, asked_at, outcome, detail, answered_at FROM requests "
        "WHERE id = ?",
        (request_id,),
    ).fetchone()
    return None if row is None else _request(row)


def is_pending(db: sqlite3.Connection, request_id: int) -> bool:
    """Return whether a request is there and not answered yet; what it asks for is not read."""
    row = db.execute("SELECT outcome IS NULL FROM requests WHERE id = ?", (request_id,)).fetchone()
    return row is not None and bool(row[0])


def stopping(db: sqlite3.Connection, run: RunRow) -> bool:
    """Return whether the engine that works on a run is about to leave it, as it was asked to."""
    if not run.live:
        return False
    (found,) = db.execute(
        "SELECT EXISTS (SELECT 1 FROM requests WHERE run = ? AND verb = 'stop' "
        "AND outcome = 'accepted' AND answered_at >= ?)",
        (run.id, run.active_since or 0.0),
    ).fetchone()
    return bool(found)


def _request(row: Sequence[Any]) -> RequestRow:
    values = list(row)
    values[2] = json.loads(row[2])
    values[6] = unpack(row[6])
    return RequestRow(*values)
