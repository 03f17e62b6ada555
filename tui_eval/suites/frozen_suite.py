"""The suite that a run keeps: read by everybody here."""

import sqlite3

from pydantic import ValidationError

from tui_eval.store.errors import StoreError
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.suites.spec import Suite


class UnreadableSuiteError(StoreError, ValueError):
    """This version cannot read the suite that a run was made with; the message says why."""


def frozen_suite(db: sqlite3.Connection, run: int) -> Suite:
    """Return the suite that a run was made with, with the scorers it has now.

    Raises:
        UnknownRunError: there is no such run.
        UnreadableSuiteError: a version that knew more has made the run, or something else did.
    """
    spec = suite_queries.spec(db, run)
    try:
        return Suite.model_validate_json(spec)
    except ValidationError as error:
        name = run_queries.run(db, run).name
        first, *others = error.errors(include_url=False, include_context=False, include_input=False)
        place = ".".join(map(str, first["loc"]))
        more = f" (and {len(others)} more)" if others else ""
        raise UnreadableSuiteError(
            f"run {name}: the suite kept with it cannot be read by this version: "
            f"{place or 'suite'}: {first['msg']}{more}; what it recorded stays as it is, "
            "and its suite's file can be run anew"
        ) from error


def readable_suite(db: sqlite3.Connection, run: int) -> Suite | None:
    """Return a run's suite; None: this version cannot read it, see `frozen_suite`.

    Raises:
        UnknownRunError: there is no such run.
    """
    try:
        return frozen_suite(db, run)
    except UnreadableSuiteError:
        return None
