"""Suites that have runs, as they are named on the command line."""

from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.suggest import refuse_unknown
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.suites.loading.suite_file import name_of

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.store.rows import RunRow


def suite_name(db: "sqlite3.Connection", named: str) -> str:
    """Return the name of a suite that has runs, by its name or its file.

    Raises:
        CommandError: no suite of that name has a run.
        SuiteError: a file is no suite.
    """
    known = baseline_queries.suites(db)
    path = Path(named)
    if named not in known and path.is_file():
        named = name_of(path)
    refuse_unknown("suite with a run", [named], known)
    return named


def run_of(db: "sqlite3.Connection", named: str) -> "RunRow":
    """Return a run, or the last full one of a suite.

    Raises:
        CommandError: neither a run nor a suite with a full run is called so.
        SuiteError: a file is no suite.
        UnknownRunError: likewise.
    """
    if named in baseline_queries.suites(db) or Path(named).is_file():
        full = run_queries.full_runs(db, suite_name(db, named), 1)
        if full:
            return full[0]
    run = run_queries.run_named(db, named, evaluated=True)
    if run.is_sweep:
        raise CommandError(f"{run.name} is a sweep: nothing is scored; name a run or a suite")
    return run
