"""`tui-eval export`: a run's trials for other programs, and reports of it for people."""

import sys
from pathlib import Path

import click

from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.format_name import FormatName
from tui_eval.cli.options import run_argument, store_file, store_option
from tui_eval.reports.exports.format_names import ENDINGS


@click.command()
@run_argument
@click.option(
    "--format",
    "format_name",
    type=FormatName([*ENDINGS]),
    help="Trials: jsonl (keeps everything), csv, parquet, swebench. For CI: junit, ctrf, github. "
    "For people: html, markdown. Or a plugin's: DISTRIBUTION.NAME.  [default: by FILE's ending]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file, written whole or not at all.  [default: stdout]",
)
@click.option("--failed", is_flag=True, help="Only trials whose verdict is fail.")
@click.option("--target", metavar="NAME", help="Only this target.")
@click.option(
    "--baseline",
    metavar="RUN|FILE",
    help="Compare with this run, or baseline file.  [default: what the run was compared with]",
)
@click.option(
    "--no-case", is_flag=True, help="Leave out question, expected and metadata of the cases."
)
@click.option(
    "--rows",
    type=click.IntRange(min=0),
    default=2000,
    show_default=True,
    help="html: trials on the page at most, failures first.",
)
@click.option(
    "--chars",
    type=click.IntRange(min=1000),
    default=60_000,
    show_default=True,
    help="markdown: characters at most.",
)
@store_option
def export(
    name: str,
    format_name: str | None,
    output: Path | None,
    failed: bool,
    target: str | None,
    baseline: str | None,
    no_case: bool,
    rows: int,
    chars: int,
    store: Path | None,
) -> None:
    """Write a run's trials for other programs, or a report of it.

    Trials come in the order of the dataset. Text of models and files is made harmless for each
    format: in CSV, what a spreadsheet would run as a formula gets an apostrophe in front.
    """
    from tui_eval.cli.named.runs import found, readable
    from tui_eval.cli.named.sides import side_named
    from tui_eval.cli.named.suggest import refuse_unknown
    from tui_eval.plugins.lookup import PluginError
    from tui_eval.reports.comparison.baseline.base import base_of
    from tui_eval.reports.comparison.baseline.baseline_file import BaselineFileError
    from tui_eval.reports.exports.export_choice import ExportChoice
    from tui_eval.reports.exports.formats import export_of, format_of
    from tui_eval.reports.exports.parquet import MissingLibraryError
    from tui_eval.reports.exports.whole_file import to_file, to_stream
    from tui_eval.store.read import run_queries

    if format_name is None:
        format_name = None if output is None else format_of(output)
        if format_name is None:
            raise click.UsageError(
                "say --format FORMAT, or name a file that ends in one of "
                + ", ".join(filter(None, ENDINGS.values()))
            )
    file = store_file(store)
    run = found(file, name)
    with readable(file) as db:
        if target is not None:
            columns = run_queries.columns(db, run.id)
            known = dict.fromkeys(one for of in columns for one in (of.name, of.target))
            refuse_unknown(f"target of run {run.name}", [target], [*known])
        try:
            base = None if baseline is None else base_of(side_named(db, baseline))
            choice = ExportChoice(not no_case, failed, target, base, rows, chars)
            pieces = export_of(format_name)(db, run, choice)
            if output is not None:
                to_file(output, pieces)
            else:
                to_stream(sys.stdout, pieces)
        except BaselineFileError as error:
            raise CommandError(f"--baseline: {error}") from error
        except PluginError as error:
            raise CommandError(str(error)) from None
        except MissingLibraryError as error:
            raise CommandError(f"{format_name}: {error}") from error
