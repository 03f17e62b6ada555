"""The run before: whose verdicts stand beside those of a run."""

import sqlite3
from collections.abc import Collection

from tui_eval.reports.comparison.baseline import base
from tui_eval.reports.comparison.case_values import teach
from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow
from tui_eval.store.search import case_conditions
from tui_eval.store.search.case_conditions import EarlierResults, EarlierRun


def earlier_run(db: sqlite3.Connection, run: RunRow) -> EarlierRun | None:
    """Return the run with whose verdicts a run's are compared; None: there is none.

    That is what the run is compared with, where that is a run of the store; else the suite's last
    full run before it.
    """
    found = base.run_base(db, run).run
    if found is not None:
        return EarlierRun(found.id, found.name, is_base=True)
    before = run_queries.full_run_before(db, run)
    return None if before is None else EarlierRun(before.id, before.name, is_base=False)


def earlier_results(
    db: sqlite3.Connection, run_id: int, earlier: EarlierRun | None, cases: Collection[int]
) -> EarlierResults:
    """Return what cases came to in the earlier run where that was something else.

    Args:
        db: The connection.
        run_id: The run.
        earlier: The other run; None: there is none.
        cases: The cases by their numbers in the run.
    """
    if earlier is None or not cases:
        return {}
    teach(db)
    return case_conditions.earlier_results(db, run_id, earlier.id, cases)
