"""`tui-eval history`: what became of each case over the last runs of a suite."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.options import json_option, store_file, store_option
from tui_eval.model.visible import visible_line
from tui_eval.store.read.comparing.case_history import RUNS, RUNS_LOOKED_AT

if TYPE_CHECKING:
    from tui_eval.reports.case_outcomes import SuiteHistory


@click.command()
@click.argument("suite", metavar="SUITE")
@click.option("--case", "case_id", metavar="ID", help="Only this case.")
@click.option(
    "--flaky", is_flag=True, help="Only cases whose verdict flipped though the same was asked."
)
@click.option(
    "--runs",
    type=click.IntRange(1, RUNS_LOOKED_AT),
    default=RUNS,
    show_default=True,
    help="How many full runs are looked at, the last ones.",
)
@json_option
@store_option
def history(
    suite: str, case_id: str | None, flaky: bool, runs: int, as_json: bool, store: Path | None
) -> None:
    """Show what became of each case over the last full runs of SUITE, the newest on the right.

    Without --case and --flaky the cases are shown that did not always come to the same. A case is
    flaky where its verdict flipped though the same was asked.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.cli.named.suite_names import suite_name
    from tui_eval.reports import json_output
    from tui_eval.reports.case_outcomes import suite_history
    from tui_eval.store.read.report_queries import moment

    with readable(store_file(store)) as db, moment(db):
        found = suite_history(db, suite_name(db, suite), runs=runs, case_id=case_id)
    if flaky:
        found = replace(found, cases=found.flaky)
    if as_json:
        streams.say(json_output.dumps(found.as_json(), indent=2))
        return
    every = flaky or case_id is not None
    for line in _lines(found, every=every):
        streams.say(line)


_SIGNS = {"pass": "✓", "fail": "✗", "mixed": "◐", "ungraded": "?", "error": "!", "cancelled": "–"}


def _lines(of: "SuiteHistory", *, every: bool) -> list[str]:
    from tui_eval.format import many
    from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, table

    shown = [case for case in of.cases if every or case.changed]
    names = " ".join(run.name for run in of.runs)
    head = f"{many(len(of.runs), 'full run')}, the oldest first: {names}"
    if not of.runs:
        return [f"{visible_line(of.suite)} has no full run yet"]
    if not shown:
        return [head, "no case is flaky" if every else "every case always came to the same"]
    columns = [
        TableColumn("case", [case.case_id for case in shown], left=True),
        TableColumn("target", [case.column for case in shown], left=True),
        TableColumn(
            "runs",
            ["".join(_SIGNS.get(one or "", "·") for one in case.outcomes) for case in shown],
            left=True,
        ),
        TableColumn("", ["flaky" if case.flaky else "" for case in shown], left=True),
    ]
    alike = len(of.cases) - len(shown)
    tail = [f"{many(alike, 'case')} always came to the same"] if alike else []
    return [head, "", *table(columns, streams.width(), AnsiStyle(streams.coloured())), *tail]
