"""What is compared, by its name on the command line."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.suggest import refuse_unknown
from tui_eval.reports.comparison.baseline.baseline_file import BaselineFile
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.store.read import run_queries


def pairs_of_names(rows: Sequence[str]) -> dict[str, str]:
    """Return which columns belong together, as `--row` says it.

    Raises:
        CommandError: one is no pair of names.
    """
    found = {}
    for row in rows:
        a, between, b = row.partition("=")
        if not (between and a and b):
            raise CommandError(f"--row {row}: say which targets, as in --row small=large")
        found[a] = b
    return found


def side_named(db: sqlite3.Connection | None, name: str) -> Side:
    """Return what a name on the command line stands for.

    A name that leads to a file is a baseline file; a run of that name is reached by any beginning
    of it that is no file.

    Raises:
        BaselineFileError: a file is no baseline.
        CommandError: a file cannot be read, there is no store, a run has no such target, or it is
            a sweep.
        UnknownRunError: there is no such run.
    """
    path = Path(name)
    if path.is_file():
        try:
            return BaselineFile(path)
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from None
    if db is None:
        raise CommandError(f"{name}: there is no such file, and no store with runs yet")
    run_name, _, column = name.partition(":")
    run = run_queries.run_named(db, run_name, evaluated=True)
    if run.is_sweep:
        raise CommandError(f"{run.name} is a sweep: nothing of it is scored; name another run")
    if column:
        names = [one.name for one in run_queries.columns(db, run.id)]
        refuse_unknown(f"target of run {run.name}", [column], names)
    return RunSide(db, run, column or None)
