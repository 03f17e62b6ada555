"""`tui-eval power`: how many cases are enough."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.options import json_option, store_file, store_option
from tui_eval.statistics.power import EFFECT, POWER

if TYPE_CHECKING:
    from tui_eval.reports.sample_size import SampleSize


@click.command()
@click.argument("name", metavar="SUITE|RUN")
@click.option(
    "--effect",
    type=click.FloatRange(0, 1, min_open=True),
    default=EFFECT,
    show_default=True,
    help="The difference of two pass rates that is to be seen.",
)
@click.option(
    "--power",
    "chance",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=POWER,
    show_default=True,
    help="How often it is to be seen.",
)
@json_option
@store_option
def power(name: str, effect: float, chance: float, as_json: bool, store: Path | None) -> None:
    """Say how many cases a difference needs, and what the present ones can show.

    SUITE is a suite's name or file, of which the last full run is taken. How often verdicts differ
    is taken from its last two full runs, else assumed.
    """
    from tui_eval.cli.named.runs import readable
    from tui_eval.cli.named.suite_names import run_of
    from tui_eval.reports import json_output
    from tui_eval.reports.sample_size import sample_size
    from tui_eval.store.read.report_queries import moment

    with readable(store_file(store)) as db, moment(db):
        found = sample_size(db, run_of(db, name), effect, chance)
    if as_json:
        streams.say(json_output.dumps(found.as_json(), indent=2))
        return
    for line in _lines(found):
        streams.say(line)


def _lines(of: "SampleSize") -> list[str]:
    from tui_eval.format import many, number

    measured = of.differing_from == "runs"
    seen = "in the last two full runs" if measured else "assumed: no two full runs tell"
    asked = "1 point" if of.effect == 0.01 else f"{of.effect * 100:g} points"
    needed = f"{number(of.cases)} cases show a difference of {asked}"
    lines = [
        f"{needed} {of.power * 100:g} times in 100; there are {number(of.present)}",
        f"verdicts differ in {of.differing * 100:.1f}% of the cases ({seen})",
    ]
    if of.smallest is None:
        lines.append(f"{many(of.present, 'case')} can show no difference at all")
    else:
        lines.append(
            f"{many(of.present, 'case')} can show a difference of {of.smallest * 100:.1f} points"
        )
    errors = of.stderr_by_epochs
    if errors:
        shown = ", ".join(f"{error * 100:.2f} with {n}" for n, error in errors.items())
        lines.append(f"standard error of a rate, in points, by epochs: {shown}")
    else:
        lines.append("what epochs would give is not known: no case was asked twice")
    return lines
