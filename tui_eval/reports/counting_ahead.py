"""Counting what a large run came to before anybody asks, so that it is there at once."""

import sqlite3

from tui_eval.reports.rates import trial_figures
from tui_eval.reports.results import results
from tui_eval.store.chunks.kept_figures import is_kept
from tui_eval.store.read import run_queries


def count_ahead(db: sqlite3.Connection, run_id: int) -> None:
    """Count the figures of a run that app and commands show, where they are kept.

    Raises:
        UnknownRunError: there is no such run (any more).
        ValueError: a version that knew more has made it.
    """
    if not is_kept(db, run_queries.run(db, run_id)):
        return
    results(db, run_id, compared=False)
    trial_figures.failing(db, run_id)
    trial_figures.tags(db, run_id, 1)
    trial_figures.backing_off(db, run_id)
    trial_figures.settled_over_time(db, run_id, 1)
