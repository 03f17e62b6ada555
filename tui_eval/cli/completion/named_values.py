"""What there is to name: runs, suites, columns, cases, looked up as their options are completed."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from tui_eval.cli.options import store_file
from tui_eval.store.read import name_queries

Offers = Callable[[click.Context, str], list[CompletionItem]]
_FILE = CompletionItem("", type="file")
"""Has the shell offer files as it does itself."""


def offers_of(param: click.Parameter) -> Offers | None:
    """Return what offers values for a parameter; None: click itself knows all that is known."""
    metavar = (param.metavar or "").strip("[]…")
    if isinstance(param.type, click.Choice):
        return None
    if metavar.startswith("SUITE") and metavar != "SUITE|RUN":
        return suites if isinstance(param.type, click.Path) else _suite_names
    if isinstance(param, click.Argument) or metavar == "RUN|FILE":
        return _BY_METAVAR.get(metavar)
    return next((_BY_OPTION[one] for one in param.opts if one in _BY_OPTION), None)


def _runs(ctx: click.Context, prefix: str) -> list[CompletionItem]:
    with _store(ctx) as db:
        found = [] if db is None else name_queries.run_names(db, prefix)
        last = None if db is None else name_queries.newest_run(db, name="last")
    items = [CompletionItem(name, help=told) for name, told in found]
    if last is not None and "last".startswith(prefix):
        items.append(CompletionItem("last", help="the run created last"))
    return items


def _runs_or_files(ctx: click.Context, prefix: str) -> list[CompletionItem]:
    return _runs(ctx, prefix) or [_FILE]


def _suite_names_or_runs(ctx: click.Context, prefix: str) -> list[CompletionItem]:
    return _suite_names(ctx, prefix) + _runs(ctx, prefix)


def _suite_names(ctx: click.Context, prefix: str) -> list[CompletionItem]:
    with _store(ctx) as db:
        known = [] if db is None else name_queries.suite_names(db, prefix)
    return [*map(CompletionItem, known), *suites(ctx, prefix)]


def suites(_ctx: click.Context, prefix: str) -> list[CompletionItem]:
    """Offer TOML files and folders."""
    folder, _, beginning = prefix.rpartition("/")
    shown = f"{folder}/" if "/" in prefix else ""
    try:
        found = sorted(Path(shown or ".").expanduser().iterdir())
    except OSError:
        return []
    return [
        CompletionItem(f"{shown}{one.name}{'/' if one.is_dir() else ''}")
        for one in found
        if one.name.startswith(beginning)
        and (beginning or not one.name.startswith("."))
        and (one.suffix == ".toml" or one.is_dir())
    ][: name_queries.MOST]


def _of_run(look: Callable[[sqlite3.Connection, int, str], list[str]]) -> Offers:
    """Return what offers names that a run has: of the run named, or the suite's newest."""

    def offer(ctx: click.Context, prefix: str) -> list[CompletionItem]:
        with _store(ctx) as db:
            run = None if db is None else _meant(ctx, db)
            if db is None or run is None:
                return []
            return [CompletionItem(one) for one in look(db, run, prefix) if one.startswith(prefix)]

    return offer


def _meant(ctx: click.Context, db: sqlite3.Connection) -> int | None:
    given = ctx.params
    suites = given.get("suites") or given.get("suite") or ()
    first = next(iter(suites if isinstance(suites, tuple) else (suites,)), None)
    if first is not None and Path(first).is_file():
        return name_queries.newest_run(db, file=str(Path(first).resolve()))
    return name_queries.newest_run(db, name=str(given.get("name") or given.get("a") or first or ""))


@contextmanager
def _store(ctx: click.Context) -> Iterator[sqlite3.Connection | None]:
    """Open the store that the command line means; None: there is none yet."""
    given = ctx.params.get("store") or ctx.find_root().params.get("store")
    with ctx.scope(cleanup=False):
        file = store_file(given)
    if not file.is_file():
        yield None
        return
    with name_queries.connect(file) as db:
        yield db


_CASES = _of_run(name_queries.case_ids)
_COLUMNS = _of_run(lambda db, run, _: name_queries.column_names(db, run))
_SCORERS = _of_run(lambda db, run, _: name_queries.scorer_names(db, run))
_TAGS = _of_run(lambda db, run, _: name_queries.tag_names(db, run))

_BY_METAVAR: dict[str, Offers] = {
    "RUN": _runs,
    "A": _runs,
    "B": _runs,
    "RUN|FILE": _runs_or_files,
    "SUITE|RUN": _suite_names_or_runs,
    "PATH": suites,
}
_BY_OPTION: dict[str, Offers] = {
    "--case": _CASES,
    "--target": _COLUMNS,
    "--scorer": _SCORERS,
    "--tag": _TAGS,
}
