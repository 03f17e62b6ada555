"""`tui-eval trace`: what happened to one case of a run, in order of time."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.trials import trials_of_case
from tui_eval.cli.options import WHOLE, json_option, run_argument, store_file, store_option
from tui_eval.model.visible import visible_line

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from tui_eval.store.read.trials.trial_trace import TrialTrace
    from tui_eval.store.rows import RunRow, TrialRow


@click.command()
@run_argument
@click.option("--case", "case_id", metavar="ID", help="The trials of this case.")
@click.option("--trial", "trial_id", type=WHOLE, metavar="N", help="This trial, as logs name it.")
@click.option("--target", metavar="NAME", help="Only of this target, or target/prompt.")
@click.option("--epoch", type=WHOLE, metavar="N", help="Only the Nth time it was asked.")
@json_option
@store_option
def trace(
    name: str,
    case_id: str | None,
    trial_id: int | None,
    target: str | None,
    epoch: int | None,
    as_json: bool,
    store: Path | None,
) -> None:
    """Tell what happened to a case of a run, trial by trial, in order of time.

    Attempts and why they were made again, scores, judge calls and what else was in the batch,
    requests, verdicts: all that the store knows, whether the run goes on or ended long ago.
    """
    if (case_id is None) == (trial_id is None):
        raise click.UsageError("say which: --case ID or --trial N")
    from tui_eval.cli.named.runs import readable
    from tui_eval.reports import json_output
    from tui_eval.reports.terminal.trace import trial_document
    from tui_eval.store.read import run_queries
    from tui_eval.store.read.trials.trial_trace import trial_trace

    with readable(store_file(store)) as db:
        run = run_queries.run_named(db, name)
        if trial_id is not None:
            trials = _numbered(db, run, trial_id)
        else:
            trials = trials_of_case(db, run, case_id or "", target, epoch)
        found = [trial_trace(db, run, trial) for trial in trials]
        if as_json:
            whole = {"run": run.name, "trials": [trial_document(one) for one in found]}
            streams.say(json_output.dumps(whole, indent=2))
        else:
            _print(run, found)


def _numbered(db: "sqlite3.Connection", run: "RunRow", trial_id: int) -> "list[TrialRow]":
    from tui_eval.store.read.trials import trial_rows

    trial = trial_rows.trial(db, trial_id)
    if trial is None or trial.id not in {
        one.id for one in trial_rows.trials_of_cases(db, run.id, [trial.case_id])
    }:
        raise CommandError(
            f"run {run.name} has no trial {trial_id}; --case ID finds trials by case"
        )
    return [trial]


def _print(run: "RunRow", found: "Sequence[TrialTrace]") -> None:
    from tui_eval.reports.terminal.tables import AnsiStyle
    from tui_eval.reports.terminal.trace import trial_lines

    ink = AnsiStyle(streams.coloured())
    case = visible_line(found[0].trial.case_id)
    streams.say(f"{ink.bold(f'case {case}')} of {visible_line(run.name)}")
    epochs = any(one.trial.epoch for one in found)
    for one in found:
        streams.say("")
        for line in trial_lines(one, ink, epochs=epochs):
            streams.say(line)
