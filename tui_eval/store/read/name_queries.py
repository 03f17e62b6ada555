"""Names that a person may want to type: of runs, suites, columns, scorers, tags and cases.

Loads nothing but sqlite3, since a shell waits for it, and reads an older store as it is.
"""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

MOST: Final = 200
"""Names that are given at once."""
_TAGGED: Final = 2000
"""Cases that are looked through for tags."""
_PATIENCE_S: Final = 0.1


def connect(store: Path) -> "closing[sqlite3.Connection]":
    """Open a store to look up names, read-only.

    Raises:
        sqlite3.Error: there is none, or it cannot be read now.
    """
    place = f"file:{quote(str(store))}?mode=ro"
    return closing(sqlite3.connect(place, uri=True, timeout=_PATIENCE_S))


def run_names(db: sqlite3.Connection, prefix: str) -> list[tuple[str, str]]:
    """Return names of runs that begin so, the newest first, each with its label and state."""
    rows = db.execute(
        "SELECT name, coalesce(nullif(label, ''), state) FROM runs "
        "WHERE substr(name, 1, length(?1)) = ?1 ORDER BY id DESC LIMIT ?2",
        (prefix, MOST),
    )
    return [(name, told) for name, told in rows if isinstance(told, str)]


def suite_names(db: sqlite3.Connection, prefix: str) -> list[str]:
    """Return names of suites with runs that begin so."""
    return _texts(
        db.execute(
            "SELECT DISTINCT suite FROM runs WHERE substr(suite, 1, length(?1)) = ?1 "
            "ORDER BY suite LIMIT ?2",
            (prefix, MOST),
        )
    )


def newest_run(
    db: sqlite3.Connection, *, name: str | None = None, file: str | None = None
) -> int | None:
    """Return the id of the newest run that is meant; None: there is none.

    Args:
        db: The store.
        name: What a person calls it: a name, a label, a beginning, `last`, or its suite's name.
        file: In place of that, the file of its suite.
    """
    if file is not None:
        where, value = "path = ?1", file
    elif name == "last":
        where, value = "?1 = 'last'", "last"
    else:
        where = "name = ?1 OR label = ?1 OR suite = ?1 OR substr(name, 1, length(?1)) = ?1"
        value = name or ""
        if not value:
            return None
    exact = "name = ?1 DESC, label = ?1 DESC, id DESC"
    row = db.execute(
        f"SELECT id FROM runs WHERE {where} ORDER BY {exact} LIMIT 1", (value,)
    ).fetchone()
    return None if row is None else int(row[0])


def case_ids(db: sqlite3.Connection, run: int, prefix: str) -> list[str]:
    """Return the first ids of a run's cases that begin so."""
    return _texts(
        db.execute(
            "SELECT id FROM cases WHERE run = ?1 AND id >= ?2 AND id < ?2 || char(1114111) "
            "ORDER BY id LIMIT ?3",
            (run, prefix, MOST),
        )
    )


def column_names(db: sqlite3.Connection, run: int) -> list[str]:
    """Return the names of a run's columns, and of their targets."""
    rows = db.execute("SELECT name, target FROM columns WHERE run = ? ORDER BY idx", (run,))
    return [*dict.fromkeys(one for row in rows for one in row if isinstance(one, str))]


def scorer_names(db: sqlite3.Connection, run: int) -> list[str]:
    """Return the names of the scorers that a run has been given."""
    (spec,) = db.execute("SELECT spec FROM runs WHERE id = ?", (run,)).fetchone()
    return [name for one in json.loads(spec)["scorers"] if isinstance(name := one["name"], str)]


def tag_names(db: sqlite3.Connection, run: int) -> list[str]:
    """Return the tags of a run's cases, those of the first cases alone where it has many."""
    return _texts(
        db.execute(
            "SELECT DISTINCT value FROM (SELECT data FROM cases WHERE run = ?1 AND "
            "typeof(data) = 'text' ORDER BY seq LIMIT ?2), json_each(data, '$.tags') "
            "ORDER BY value LIMIT ?3",
            (run, _TAGGED, MOST),
        )
    )


def _texts(rows: sqlite3.Cursor) -> list[str]:
    return [one for (one,) in rows if isinstance(one, str)]
