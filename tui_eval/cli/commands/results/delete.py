"""`tui-eval delete`: runs that nobody needs any more."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import json_option, store_file, store_option
from tui_eval.invocation import command_name
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    from tui_eval.store.rows import RunRow
    from tui_eval.store.write.deletion import DeletionExtent


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="RUN…")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@store_option
def delete(names: tuple[str, ...], yes: bool, as_json: bool, store: Path | None) -> None:
    """Delete runs with all that only they have; a live run is refused.

    Outputs that other runs use stay. The others go, so that a run that wants them asks again.
    """
    from tui_eval.cli.named.runs import bring_up_to_date
    from tui_eval.format import endpoint_host
    from tui_eval.reports import json_output
    from tui_eval.reports.terminal.removal import awaited_words, removed_words

    file = store_file(store)
    bring_up_to_date(file)
    runs, extent = _look_at(file, names)
    if not yes:
        _ask(runs, extent)
    else:
        for words in awaited_words(extent):
            streams.tell(words)
    for run in runs:
        _delete(file, run)
    if not as_json:
        gone = ", ".join(run.name for run in runs)
        streams.say(visible_line(f"deleted {gone}: {removed_words(extent)}"))
        return
    document = {
        "runs": [run.name for run in runs],
        "trials": extent.trials,
        "outputs": extent.outputs,
        "kept_outputs": extent.kept,
        "bytes": extent.size,
        "files": extent.files,
        "file_bytes": extent.file_bytes,
        "at_providers": [
            {
                "host": None if one.folder is not None else endpoint_host(one.endpoint),
                "folder": one.folder,
                "requests": one.requests,
            }
            for one in extent.awaited
        ],
    }
    streams.say(json_output.dumps(document, indent=2))


def _look_at(file: Path, names: Sequence[str]) -> "tuple[list[RunRow], DeletionExtent]":
    """Find all runs that are named, before any of them goes, and what they take along.

    Raises:
        UnknownRunError: one of them is not there.
        Refused: one of them is live.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.store.read import run_queries
    from tui_eval.store.write import deletion

    with readable(file) as db:
        runs = {run.id: run for run in (run_queries.run_named(db, name) for name in names)}
        refused = [why for run in runs.values() if (why := deletion.refusal(run)) is not None]
        if refused:
            raise CommandError(
                f"{'; '.join(refused)} (`{command_name()} cancel RUN`); nothing was deleted"
            )
        return list(runs.values()), deletion.deletion_extent(db, list(runs))


def _ask(runs: "Sequence[RunRow]", extent: "DeletionExtent") -> None:
    """Ask whether they may go.

    Raises:
        Refused: they may not, or there is nobody to ask.
    """
    from tui_eval.reports.terminal.removal import awaited_words, consequences, removed_words

    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        why = "without a terminal nobody can be asked: say --yes; nothing was deleted"
        raise CommandError(" ".join([*awaited_words(extent), why]))
    streams.tell(f"{', '.join(run.name for run in runs)}: {removed_words(extent)}")
    follows = consequences(extent)
    if follows:
        streams.tell(follows)
    if not click.confirm("Delete for good?", err=True):
        raise CommandError("nothing was deleted")


def _delete(file: Path, run: "RunRow") -> None:
    from tui_eval.engine.run_deletion import delete as delete_run

    try:
        delete_run(file, run.id)
    except KeyboardInterrupt:
        streams.tell(
            f"{run.name} is half deleted; `{command_name()} delete {run.name}` does the rest"
        )
        raise
