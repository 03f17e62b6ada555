"""Which run a suite's runs are compared with."""

import sqlite3

from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow


def baseline(db: sqlite3.Connection, suite: str) -> RunRow | None:
    """Return the run that is pinned for a suite; None: none is."""
    row = db.execute("SELECT run FROM baselines WHERE suite = ?", (suite,)).fetchone()
    return None if row is None else run_queries.run(db, row[0])


def suites(db: sqlite3.Connection) -> list[str]:
    """Return the names of the suites that have runs, the latest first."""
    rows = db.execute("SELECT suite FROM runs GROUP BY suite ORDER BY max(id) DESC")
    return [row[0] for row in rows]
