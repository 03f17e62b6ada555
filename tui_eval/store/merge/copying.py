"""Copying rows from one store to another, with other ids: `main` takes, `src` gives."""

import sqlite3
from collections.abc import Mapping
from typing import Final

OF_TRIALS: Final = "map_trials m CROSS JOIN src.{} s ON s.trial = m.src"
"""Rows of trials of the portion; the order of the join is ours: few trials, many rows there."""


def columns(db: sqlite3.Connection, table: str) -> tuple[str, ...]:
    """Return the columns of a table, which are the same in both stores."""
    return tuple(row[1] for row in db.execute(f"PRAGMA main.table_info({table})"))


def copy(
    db: sqlite3.Connection,
    table: str,
    rows: str,
    values: Mapping[str, str],
    *,
    how: str = "INSERT",
    parameters: tuple[object, ...] = (),
) -> int:
    """Copy rows of a table, all columns as they are but for some.

    Args:
        db: The connection.
        table: The table.
        rows: What follows FROM; the row that is copied is `s` there.
        values: Expressions for columns that are others here: ids.
        how: `INSERT`, or `INSERT OR IGNORE` where a row may be there already.
        parameters: Values of `?1`, `?2` … in the expressions.

    Returns:
        How many rows came.
    """
    names = columns(db, table)
    taken = ", ".join(values.get(name, f"s.{name}") for name in names)
    statement = f"{how} INTO main.{table} ({', '.join(names)}) SELECT {taken} FROM {rows}"
    return db.execute(statement, parameters).rowcount


def make_maps(db: sqlite3.Connection) -> None:
    """Make the tables that say which row here is which one there.

    `fresh` marks rows that are new here. Those of trials and attempts are of a portion.
    """
    for name in ("map_outputs", "map_findings", "map_calls", "map_trials", "map_attempts"):
        db.execute(f"DROP TABLE IF EXISTS temp.{name}")
        db.execute(
            f"CREATE TEMP TABLE {name} "
            "(src INTEGER PRIMARY KEY, dst INTEGER NOT NULL, fresh INTEGER NOT NULL)"
        )
        db.execute(f"CREATE INDEX temp.{name}_dst ON {name} (dst)")
    for name, columns_of in _TABLES.items():
        db.execute(f"DROP TABLE IF EXISTS temp.{name}")
        db.execute(f"CREATE TEMP TABLE {name} ({columns_of})")
    db.execute("CREATE INDEX temp.awaited_origins_src ON awaited_origins (src)")


def match(db: sqlite3.Connection, table: str, wanted: str, found: str) -> None:
    """Fill a map: rows that are here already with their ids, the others with new ones.

    Args:
        db: The connection.
        table: The table; its map is `map_` and its name (judge calls: `map_calls`).
        wanted: A select of the ids there that are wanted; some may be in the map already.
        found: An expression for the id here of the row `s` there; NULL: it is not here.
    """
    name = _MAPS.get(table, f"map_{table}")
    db.execute(
        f"INSERT INTO temp.{name} SELECT s.id, ifnull({found}, 0), 0 FROM src.{table} s "
        f"WHERE s.id IN ({wanted}) AND s.id NOT IN (SELECT src FROM temp.{name})"
    )
    db.execute(
        f"UPDATE temp.{name} SET fresh = 1, dst = n.dst FROM (SELECT src AS id, "
        f"(SELECT ifnull(max(id), 0) FROM main.{table}) + row_number() OVER (ORDER BY src) AS dst "
        f"FROM temp.{name} WHERE dst = 0) n WHERE temp.{name}.src = n.id"
    )


def change(db: sqlite3.Connection, statement: str, rows: str) -> None:
    """Change rows one by one by what a select says, in the order of joins that it has.

    `UPDATE … FROM` may go through the whole table instead: nobody has counted what is in it.

    Args:
        db: The connection.
        statement: An `UPDATE` of one row, with `?` for what the select gives.
        rows: The select: few rows, those of a portion.
    """
    db.executemany(statement, db.execute(rows).fetchall())


_MAPS: Final = {"judge_calls": "map_calls"}
_TABLES: Final = {
    # trials that are still to be taken
    "todo": "src INTEGER PRIMARY KEY",
    # trials of the portion that were here: whether the other counts, whether both have one output
    "verdicts": "dst INTEGER PRIMARY KEY, wins INTEGER NOT NULL, same INTEGER NOT NULL",
    # what findings were copied from, where that is not of this merge; NULL: it is not here
    "origins_here": "src INTEGER PRIMARY KEY, dst INTEGER",
    # findings here that came before what they were copied from
    "awaited_origins": "dst INTEGER PRIMARY KEY, src INTEGER NOT NULL",
}
