"""`tui-eval merge`: what engines wrote into several stores becomes the runs of one."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import json_option, store_file
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    from tui_eval.model.json import Json, JsonObject
    from tui_eval.store.merge.merging import MergedRun
    from tui_eval.store.read.run_parts import RunParts

_GOES_ON = "stopped: what was merged stays; merging the same stores again goes on"
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("stores", nargs=-1, required=True, metavar="STORE…", type=_FILE)
@click.option("--into", type=_FILE, metavar="STORE", help="The store that takes.")
@click.option("--check", is_flag=True, help="Say what would be merged, and change nothing.")
@json_option
def merge(stores: tuple[Path, ...], into: Path | None, check: bool, as_json: bool) -> int:
    """Unite stores: runs with their outputs, attempts, scores, grades and notes.

    Parts of one run (`run --part K/N`) become that run, which is partial until all of them are
    there. Any order, and merging again, gives the same: what is there already is not taken twice,
    and what has changed since is. The stores that give are only read.
    """
    target = store_file(into)
    missing = [str(store) for store in stores if not store.exists()]
    if missing:
        raise CommandError(f"{', '.join(missing)}: not there; nothing was merged")
    merged = _looked_at(stores, target) if check else _merged(stores, target)
    parts = _parts(target, [run for _, runs in merged for run in runs])
    if as_json:
        from tui_eval.reports import json_output

        streams.say(json_output.dumps(_document(target, merged, parts, check=check), indent=2))
    else:
        for store, runs in merged:
            for run in runs:
                streams.say(visible_line(f"{store}: {_words(run, check=check)}"))
        for name, found in parts.items():
            streams.say(visible_line(f"{name}: {_parts_words(found)}"))
    refused = any(run.refusal is not None for _, runs in merged for run in runs)
    return ExitCode.INCOMPLETE if refused else ExitCode.PASSED


def _looked_at(stores: "Sequence[Path]", target: Path) -> "list[tuple[Path, list[MergedRun]]]":
    """Say what would be merged."""
    from tui_eval.store.merge import merging

    with _readable_if_there(target) as db:
        return [(store, merging.look(db, store)) for store in stores]


def _merged(stores: "Sequence[Path]", target: Path) -> "list[tuple[Path, list[MergedRun]]]":
    from tui_eval.store.connection import open_writable
    from tui_eval.store.merge.merging import Merging

    with closing(open_writable(target, streams.tell, streams.tell)) as db:
        merging = Merging(db)
        found = []
        try:
            for store in stores:
                with _explained(store, target):
                    found.append((store, merging.take(store, _Progress(store).count)))
        finally:
            with _explained(stores[-1], target):
                merging.close()
    return found


@contextmanager
def _explained(store: Path, target: Path) -> "Iterator[None]":
    """Say of a merge that was broken off what becomes of it.

    Raises:
        StoreError: the store that takes cannot be used, or what the other has does not go into it.
    """
    from tui_eval.store.connection import explain
    from tui_eval.store.errors import StoreDamagedError

    try:
        yield
    except sqlite3.IntegrityError as error:
        raise StoreDamagedError(
            f"{store}: what it has does not go into {target} ({error}); what was taken by then "
            f"stays, and the run there says that it is half merged"
        ) from error
    except sqlite3.Error as error:
        explained = explain(target, error)
        if not isinstance(explained, StoreDamagedError):
            streams.tell(_GOES_ON)
        raise explained from error
    except KeyboardInterrupt:
        streams.tell(_GOES_ON)
        raise


@contextmanager
def _readable_if_there(target: Path) -> "Iterator[sqlite3.Connection | None]":
    from tui_eval.cli.named.runs import readable_if_there

    with readable_if_there(target) as db:
        yield db


class _Progress:
    """Says now and then how far a large store is."""

    EVERY = 100_000

    def __init__(self, store: Path) -> None:
        self._store = store
        self._trials = 0

    def count(self, trials: int) -> None:
        """Count trials that were looked at."""
        before = self._trials // self.EVERY
        self._trials += trials
        if self._trials // self.EVERY > before:
            streams.tell(visible_line(f"{self._store}: {self._trials:,} trials"))


def _parts(target: Path, runs: "Sequence[MergedRun]") -> "dict[str, RunParts]":
    """Return for the runs that are united of parts which of them are there."""
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.run_parts import run_parts

    names = dict.fromkeys(run.run for run in runs if run.run is not None)
    with _readable_if_there(target) as db:
        if db is None:
            return {}
        known = {row.name: row.id for row in run_queries.runs(db)}
        found = {name: run_parts(db, known[name]) for name in names if name in known}
    return {name: parts for name, parts in found.items() if parts is not None}


def _words(run: "MergedRun", *, check: bool) -> str:
    from tui_eval.format import many

    if run.refusal is not None:
        return f"{run.source} {run.refusal}"
    name = run.source if run.run in (run.source, None) else f"{run.source} into {run.run}"
    if not run.new + run.taken + run.judging:
        return f"{name}: nothing new"
    kinds = ((run.new, "new"), (run.taken, "here before"))
    counts = ", ".join(f"{n:,} {what}" for n, what in kinds if n)
    if not counts:
        counts = many(run.judging, "judge call or measure", "judge calls and measures")
    left = f"; {run.missing_files:,} files of workspaces are missing" if run.missing_files else ""
    return f"{name}: {counts}{' would be merged' if check else ''}{left}"


def _parts_words(found: "RunParts") -> str:
    from tui_eval.format import many

    if found.whole:
        return f"all {found.of} parts are there, {many(found.cases, 'case')}"
    return found.forms[0]


def _document(
    target: Path,
    merged: "Sequence[tuple[Path, list[MergedRun]]]",
    parts: "dict[str, RunParts]",
    *,
    check: bool,
) -> "JsonObject":
    from tui_eval.reports.document import parts_document

    stores: list[Json] = [
        {
            "store": str(store),
            "runs": [
                {
                    "source": run.source,
                    "run": run.run,
                    "new": run.new,
                    "changed": run.taken,
                    "judging": run.judging,
                    "missing_files": run.missing_files,
                    "refusal": run.refusal,
                }
                for run in runs
            ],
        }
        for store, runs in merged
    ]
    united: JsonObject = {name: parts_document(found) for name, found in parts.items()}
    return {"into": str(target), "check": check, "stores": stores, "parts": united}
