"""The rows of cases, told to SQL: what is the same in two runs, and what belongs together."""

import json
import sqlite3

from tui_eval.model.case import cluster_of
from tui_eval.model.json import digest


def teach_rows(db: sqlite3.Connection, cluster: str | None = None) -> None:
    """Make `case_row` and `case_cluster` known to a connection.

    Args:
        db: The connection.
        cluster: The dataset's column that says which cases belong together; None: none does.
    """
    db.create_function("case_row", 1, _row, deterministic=True)
    db.create_function("case_cluster", 1, lambda data: _cluster(data, cluster), deterministic=True)


def _row(data: str) -> bytes:
    """Return a digest of a case's row, whatever the order of its columns."""
    return digest(json.loads(data).get("fields"))


def _cluster(data: str, column: str | None) -> str | None:
    return None if column is None else cluster_of(json.loads(data)["fields"], column)
