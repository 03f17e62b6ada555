"""`tui-eval compare`: is B better than A, case by case."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import grouped, json_option, store_file, store_option
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.frozen import frozen

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.reports.comparison.comparison import ComparisonChoice, RunComparison

_WORDS = ("worse", "unclear")


@frozen
class CompareOptions:
    """What of two sides is compared, and what is told of it."""

    rows: Annotated[
        tuple[str, ...],
        click.option(
            "--row",
            "rows",
            multiple=True,
            metavar="X=Y",
            help="Compare A's target X with B's target Y; repeat it for several.  [default: those "
            "of one name]",
        ),
    ]
    by: Annotated[
        Literal["tag", "scorer"] | None,
        click.option(
            "--by", type=click.Choice(["tag", "scorer"]), help="Show groups of cases, or scorers."
        ),
    ]
    scorer: Annotated[
        str | None,
        click.option("--scorer", metavar="NAME", help="Compare what this scorer says."),
    ]
    margin: Annotated[
        float,
        click.option(
            "--margin",
            type=click.FloatRange(0, 1, min_open=True),
            default=0.02,
            show_default=True,
            help="The difference of rates within which two targets count as equivalent.",
        ),
    ]
    fail_on: Annotated[
        tuple[str, ...],
        click.option(
            "--fail-on",
            multiple=True,
            type=click.Choice(_WORDS),
            help="Exit with 1 where a target is worse, or where that is unclear.",
        ),
    ]

    def choice(self) -> "ComparisonChoice":
        """Return what is compared.

        Raises:
            CommandError: a --row is no pair of names.
        """
        from tui_eval.cli.named.sides import pairs_of_names
        from tui_eval.reports.comparison.comparison import ComparisonChoice

        return ComparisonChoice(pairs_of_names(self.rows), self.scorer, self.by, self.margin)


@click.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@grouped("options", CompareOptions)
@json_option
@store_option
def compare(a: str, b: str, options: CompareOptions, as_json: bool, store: Path | None) -> None:
    """Compare two runs case by case: is B better than A?

    A and B are runs, columns of runs (RUN:TARGET), or baseline files. Cases are paired by their
    ids; a case whose row changed is counted and not compared. A difference is B − A. `better` and
    `worse` are said where it is hardly luck, `equivalent` where it is certainly small, else
    `unclear`.
    """
    from tui_eval.cli.named.runs import readable_if_there
    from tui_eval.reports.comparison.comparison_document import comparison_pieces
    from tui_eval.reports.terminal.comparison_text import comparison_text
    from tui_eval.reports.terminal.tables import AnsiStyle
    from tui_eval.store.read.report_queries import moment

    with readable_if_there(store_file(store)) as db:
        if db is None:
            found = _compared(None, (a, b), options)
        else:
            with moment(db):
                found = _compared(db, (a, b), options)
        if as_json:
            streams.say_pieces(comparison_pieces(found))
        else:
            ink = AnsiStyle(streams.coloured())
            streams.say(comparison_text(found, width=streams.width(), ink=ink))
    if found.words & set(options.fail_on):
        raise click.exceptions.Exit(ExitCode.GATE_MISSED)


def _compared(
    db: "sqlite3.Connection | None", names: tuple[str, str], options: CompareOptions
) -> "RunComparison":
    from tui_eval.cli.named.sides import side_named
    from tui_eval.reports.comparison.baseline.baseline_file import BaselineFileError
    from tui_eval.reports.comparison.comparison import compare as compared
    from tui_eval.reports.comparison.pairing import NothingToPairError

    try:
        a, b = (side_named(db, name) for name in names)
        return compared(a, b, options.choice())
    except (BaselineFileError, NothingToPairError) as error:
        raise CommandError(str(error)) from None
