"""`tui-eval workspace`: what a program left, as a folder."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.trials import trials_of_case
from tui_eval.cli.options import WHOLE, run_argument, store_file, store_option
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from tui_eval.processes.workspace.changes import WorkspaceChanges
    from tui_eval.processes.workspace.source import WorkspaceSource
    from tui_eval.store.files import FileStore
    from tui_eval.store.rows import RunRow, TrialRow


@click.command()
@run_argument
@click.option("--case", "case_id", metavar="ID", required=True, help="The case.")
@click.option("--target", metavar="NAME", help="Of this target, or target/prompt.")
@click.option("--epoch", type=WHOLE, metavar="N", help="Of the Nth time it was asked.")
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    required=True,
    help="The folder: not there yet, or empty.",
)
@click.option(
    "--changes-only",
    is_flag=True,
    help="What was added or changed, without the files it began with.",
)
@store_option
def workspace(
    name: str,
    case_id: str,
    target: str | None,
    epoch: int | None,
    folder: Path,
    changes_only: bool,
    store: Path | None,
) -> None:
    """Write the workspace of a trial as its program left it.

    That is a copy of what it began with, which has to be there as it was, with all that was added,
    changed and removed.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.processes.workspace.bounds import WorkspaceError
    from tui_eval.reports.programs import left_files
    from tui_eval.store.files import FileStore
    from tui_eval.store.read import run_queries

    file = store_file(store)
    files = FileStore.beside(file)
    with readable(file) as db:
        run = run_queries.run_named(db, name)
        try:
            trials = trials_of_case(db, run, case_id, target, epoch)
            trial, changes = _the_one(db, run, files, trials)
            _make_way(folder)
            if changes_only:
                out = left_files.write_changes(folder, changes, files)
            else:
                source = _source(db, run, trial)
                out = left_files.write_workspace(folder, source, changes, files)
        except WorkspaceError as error:
            raise CommandError(visible_line(str(error), 1000)) from error
    if out:
        streams.tell(left_files.said_of(out))
    streams.say(f"{visible_line(str(folder))}: {left_files.counted(changes)}")


def _the_one(
    db: "sqlite3.Connection", run: "RunRow", files: "FileStore", trials: "Sequence[TrialRow]"
) -> "tuple[TrialRow, WorkspaceChanges]":
    """Return the one trial that left a workspace, and what was changed in it.

    Raises:
        CommandError: there is none, or more than one.
        MissingFileError: what was changed is not beside the store.
    """
    from tui_eval.reports.programs.left_files import changes_of
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.trials import attempt_queries

    left = attempt_queries.of_trials(db, [trial.id for trial in trials])
    found = [trial for trial in trials if trial.id in left and left[trial.id].workspace is not None]
    if not found:
        raise CommandError(
            f"case {trials[0].case_id!r} of run {run.name} left no workspace: only programs do "
            "(targets of kind command), once they have ended"
        )
    if len(found) > 1:
        names = {column.index: column.name for column in run_queries.columns(db, run.id)}
        some = ", ".join(f"{names[one.col]} epoch {one.epoch + 1}" for one in found[:5])
        more = " …" if len(found) > 5 else ""
        raise CommandError(
            f"case {found[0].case_id!r} of run {run.name} left {len(found)} workspaces ({some}"
            f"{more}): say --target NAME or --epoch N"
        )
    changes = changes_of(db, files, found[0].id)
    assert changes is not None, "it has a workspace"
    return found[0], changes


def _source(db: "sqlite3.Connection", run: "RunRow", trial: "TrialRow") -> "WorkspaceSource | None":
    from tui_eval.processes.workspace.bounds import WorkspaceError
    from tui_eval.reports.programs.left_files import ALONE, source_of

    try:
        return source_of(db, run.id, trial)
    except WorkspaceError as error:
        raise WorkspaceError(f"{error}; {ALONE}") from error


def _make_way(folder: Path) -> None:
    """See that a folder can be made, which may be there if it is empty.

    Raises:
        CommandError: there is something.
        OSError: it cannot be looked at.
    """
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise CommandError(f"{folder} is there, and no folder: name another one")
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        return
    if any(folder.iterdir()):
        raise CommandError(f"{folder} is not empty: name another one")
    folder.rmdir()
