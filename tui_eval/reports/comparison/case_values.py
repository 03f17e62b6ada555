"""What cases come to, told to SQL: lists that compare cases do it as comparisons do."""

import json
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from tui_eval.model.reduction import Reduce, reducers
from tui_eval.reports.comparison.case_rows import teach_rows
from tui_eval.reports.rates.case_results import case_verdict
from tui_eval.store.search import views
from tui_eval.store.search.views import Condition, Places, View


def teach(db: sqlite3.Connection) -> None:
    """Make the functions known to a connection that `store.search.case_conditions` asks for."""
    db.create_function("case_value", 4, _value, deterministic=True)
    teach_rows(db)


def places(db: sqlite3.Connection, run: int, view: View) -> Places:
    """Return the places of a view's trials, see `views.places`; its parts may compare cases."""
    teach(db)
    return views.places(db, run, view)


def count(
    db: sqlite3.Connection, run: int, parts: Sequence[Condition], *, by_case: bool = False
) -> int:
    """Count what parts let through, see `views.count`; they may compare cases."""
    teach(db)
    return views.count(db, run, parts, by_case=by_case)


@lru_cache(maxsize=4096)
def _value(passed: int, failed: int, errors: int, rules: str) -> float | None:
    """Return what epochs come to; None: too few of them are graded, or nobody knows the rule."""
    found = _rules(rules)
    if found is None:
        return None
    fates = ("passed",) * passed + ("failed",) * failed + ("error",) * errors
    return case_verdict(fates, *found).value


@lru_cache(maxsize=64)
def _rules(rules: str) -> tuple[Literal["leave_out", "fail"], Reduce] | None:
    errors, reduce = json.loads(rules)
    try:
        reduction = reducers("mean" if reduce is None else reduce)[0]
    except ValueError:  # of a version that knew more
        return None
    return ("fail" if errors == "fail" else "leave_out"), reduction
