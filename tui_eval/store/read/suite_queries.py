"""What a run's frozen suite says, without reading more of it than is asked for."""

import json
import sqlite3

from tui_eval.model.json import JsonObject
from tui_eval.store.errors import UnknownRunError


def spec(db: sqlite3.Connection, run_id: int) -> str:
    """Return a run's frozen suite, JSON; raises `UnknownRunError`."""
    row = db.execute("SELECT spec FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None:
        raise UnknownRunError(f"run {run_id} is not in this store")
    return str(row[0])


def spec_change(db: sqlite3.Connection, run_id: int) -> int:
    """Return the change that brought a run its present scorers; 0: it was launched with them."""
    row = db.execute("SELECT spec_change FROM runs WHERE id = ?", (run_id,)).fetchone()
    return 0 if row is None else int(row[0])


def data_files(db: sqlite3.Connection, run_id: int) -> list[JsonObject] | None:
    """Return what a run's data files were like at launch; None: nobody wrote it down."""
    row = db.execute("SELECT data_files FROM runs WHERE id = ?", (run_id,)).fetchone()
    if row is None or row[0] is None:
        return None
    kept: list[JsonObject] = json.loads(row[0])
    return kept


def run_table(db: sqlite3.Connection, run_id: int) -> JsonObject:
    """Return the `[run]` table of a run's frozen suite, and read no more of it.

    Raises:
        UnknownRunError: there is no such run.
    """
    return _table(db, run_id, "run")


def gate(db: sqlite3.Connection, run_id: int) -> JsonObject:
    """Return the `[gate]` of a run's frozen suite, and read no more of it; empty: there is none.

    Raises:
        UnknownRunError: there is no such run.
    """
    return _table(db, run_id, "gate")


def cluster_column(db: sqlite3.Connection, run_id: int) -> str | None:
    """Return the column of a run's dataset that says which cases belong together; None: none does.

    Raises:
        UnknownRunError: there is no such run.
    """
    column = _table(db, run_id, "dataset").get("cluster")
    return None if column is None else str(column)


def frozen_scorers(db: sqlite3.Connection, run_id: int) -> str | None:
    """Return the scorers of a run's frozen suite as they stand there (JSON); None: it has none."""
    row = db.execute("SELECT json_extract(spec, '$.scorers') FROM runs WHERE id = ?", (run_id,))
    found: str | None = row.fetchone()[0]
    return found


def sole_scorer(db: sqlite3.Connection, run_id: int) -> str | None:
    """Return the name of a run's one scorer that decides; None: several do, or none."""
    names = db.execute(
        "SELECT json_extract(scorer.value, '$.name') "
        "FROM runs, json_each(runs.spec, '$.scorers') AS scorer WHERE runs.id = ? "
        "AND coalesce(json_extract(scorer.value, '$.required'), 1) = 1 LIMIT 2",
        (run_id,),
    ).fetchall()
    return names[0][0] if len(names) == 1 else None


def _table(db: sqlite3.Connection, run_id: int, name: str) -> JsonObject:
    found = db.execute(
        "SELECT json_extract(spec, '$.' || ?) FROM runs WHERE id = ?", (name, run_id)
    ).fetchone()
    if found is None:
        raise UnknownRunError(f"run {run_id} is not in this store")
    kept: JsonObject = json.loads(found[0]) if found[0] else {}
    return kept
