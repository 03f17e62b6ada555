"""`tui-eval baseline`: the run that a suite's later runs are compared with."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import json_option, store_file, store_option

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.store.rows import RunRow


@click.command()
@click.argument("suite", metavar="SUITE")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--off", is_flag=True, help="Take the baseline away.")
@click.option(
    "--write",
    "file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write RUN, or the baseline, as a file that is kept with the suite; nothing is pinned.",
)
@json_option
@store_option
def baseline(
    suite: str, run: str | None, off: bool, file: Path | None, as_json: bool, store: Path | None
) -> None:
    """Pin RUN as the baseline of SUITE, or say which run it is.

    SUITE is a suite's name, or its file. A baseline is a whole run that has finished: none that
    leaves cases or targets out. A file has no texts in it: the column, id, row's digest, verdict
    and score of each case, sorted, and the same run gives the same bytes.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.cli.named.suite_names import suite_name
    from tui_eval.reports import json_output
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.comparing import baseline_queries
    from tui_eval.store.write import baseline_writes
    from tui_eval.store.writer import once

    if off and (run is not None or file is not None):
        raise click.UsageError("--off takes neither a run nor --write")
    path = store_file(store)
    with readable(path) as db:
        name = suite_name(db, suite)
        pinned = baseline_queries.baseline(db, name)
        named = pinned if run is None else run_queries.run_named(db, run, evaluated=True)
        if named is not None:
            _see_that_it_may_be(name, named)
        if file is not None:
            _write(db, name, named, file)
            return
    if off:
        once(path, lambda tx: baseline_writes.unpin(tx, name))
        told = None
    elif run is not None:
        assert named is not None, "a run that is named is there, or refused"
        pinned_id = named.id
        once(path, lambda tx: baseline_writes.pin(tx, name, pinned_id))
        told = named
    else:
        told = pinned
    if as_json:
        document = {"suite": name, "baseline": None if told is None else told.name}
        streams.say(json_output.dumps(document, indent=2))
    elif told is None:
        streams.say(f"{name} has no baseline")
    else:
        streams.say(f"{told.name} is the baseline of {name}")


def _see_that_it_may_be(suite: str, run: "RunRow") -> None:
    """See that a run can be a suite's baseline.

    Raises:
        CommandError: it is another suite's, leaves something out, or has not finished.
    """
    from tui_eval.store.read.comparing.baseline_queries import refusal

    if run.suite != suite:
        raise CommandError(f"{run.name} is a run of {run.suite}, not of {suite}")
    if why := refusal(run):
        raise CommandError(why)


def _write(db: "sqlite3.Connection", suite: str, run: "RunRow | None", file: Path) -> None:
    from tui_eval.reports.comparison.baseline.baseline_file import baseline_lines
    from tui_eval.reports.comparison.side import RunSide
    from tui_eval.reports.exports.whole_file import to_file
    from tui_eval.store.read.report_queries import moment

    if run is None:
        raise CommandError(f"{suite} has no baseline: name the run that is to be written")
    with moment(db):
        to_file(file, baseline_lines(RunSide(db, run)))
    streams.tell(f"{run.name} is written to {file}")
