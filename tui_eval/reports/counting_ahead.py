"""Counting what a large run came to before anybody asks, so that it is there at once."""

import sqlite3

from tui_eval.reports.rates import trial_figures
from tui_eval.reports.results import results
from tui_eval.store.chunks.kept_answers import place_of_answer
from tui_eval.store.chunks.kept_figures import is_kept
from tui_eval.store.read import run_queries
from tui_eval.store.search import views
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.views import Condition, FilterKind, View


def count_ahead(db: sqlite3.Connection, run_id: int) -> None:
    """Count the figures of a run that app and commands show, where they are kept.

    Raises:
        UnknownRunError: there is no such run (any more).
        ValueError: a version that knew more has made it.
    """
    run = run_queries.run(db, run_id)
    if not is_kept(db, run):
        return
    results(db, run_id, compared=False)
    trial_figures.failing(db, run_id)
    trial_figures.tags(db, run_id, 1)
    trial_figures.backing_off(db, run_id)
    _list_ahead(db, run_id, run.total)


def _list_ahead(db: sqlite3.Connection, run_id: int, total: int) -> None:
    """Make the lists and groups that take longest: those that look at more than trials."""
    if place_of_answer(db, run_id, "") is None:
        return  # none of them could be kept
    views.places(db, run_id, View((Condition(FilterKind.CUT),)))
    for scorer, _ in trial_figures.failing(db, run_id):
        views.places(db, run_id, View((Condition(FilterKind.SCORER, scorer),)))
    for by in Grouping:
        groups = Groups(run_id, by, None, total)
        while groups.step(db):
            pass
