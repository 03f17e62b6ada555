"""`tui-eval import`: suites out of the files of other tools."""

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.named.format_name import FormatName
from tui_eval.cli.options import grouped, store_file, store_option
from tui_eval.invocation import command_name
from tui_eval.model.visible import visible_line
from tui_eval.suites.importers.catalogue import FORMATS, SCORERS

if TYPE_CHECKING:
    from tui_eval.suites.importers.tables import TableChoices
    from tui_eval.suites.importers.writing import WrittenSuite


_DIFFERENCES = 20
"""Verdicts told one by one; the suite's first lines and --json have more."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What a person says of a table's columns."""

    asked: Annotated[
        str | None,
        click.option(
            "--input",
            "asked",
            metavar="COLUMN",
            help="Of a table: what is asked; a dotted path may lead into a column.",
        ),
    ]
    expected: Annotated[
        str | None,
        click.option("--expected", metavar="COLUMN", help="Of a table or chat: the right answer."),
    ]
    scorer: Annotated[
        str | None,
        click.option(
            "--scorer", type=click.Choice(SCORERS), help="Of a table or chat: what grades."
        ),
    ]
    id: Annotated[
        str | None,
        click.option("--id", metavar="COLUMN", help="Of an experiment: what names the case."),
    ]

    def choices(self) -> "TableChoices":
        """Return them as readers take them."""
        from tui_eval.suites.importers.tables import TableChoices

        return TableChoices(self.asked, self.expected, self.scorer, self.id)


@click.command(name="import")
@click.argument("words", metavar="[FORMAT] FILE", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    "suite",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="SUITE",
    help="The suite to write, a .toml file; its cases go beside it, to NAME.cases.jsonl.",
)
@grouped("table", TableOptions)
@click.option("--replace", "replacing", is_flag=True, help="Replace files that are there.")
@click.option("--compare", metavar="RUN", help="Compare what FILE holds with this run.")
@click.option(
    "--row",
    "rows",
    multiple=True,
    metavar="X=Y",
    help="With --compare: FILE's target X with RUN's target Y.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@store_option
def import_file(
    words: tuple[str, ...],
    suite: Path | None,
    table: TableOptions,
    replacing: bool,
    compare: str | None,
    rows: tuple[str, ...],
    as_json: bool,
    store: Path | None,
) -> None:
    """Write a suite and its dataset out of FILE, another tool's; list what is not carried over.

    FORMAT is promptfoo, inspect, lm-eval, deepeval, pydantic-evals, langfuse, braintrust,
    openai-evals, jsonl, json or csv, or a plugin's (DISTRIBUTION.NAME); without it FILE says it.
    Nothing in FILE is run, and no API is called.

    With --compare the results in FILE are compared with a run, case by case by their ids: FILE is
    A and the run B. Then no SUITE needs to be written.
    """
    format_name, file = _format_and_file(words)
    if compare is not None:
        from tui_eval.cli.imported_comparison import compare_imported

        with _place(suite, file) as written_to:
            written = _written(format_name, file, written_to, table, replacing=replacing)
            if suite is not None:
                _tell(written, as_json=False, on_stdout=False)
            else:
                _tell_losses(written)
            compare_imported(file, written, compare, rows, as_json=as_json, store=store_file(store))
        return
    if suite is None:
        raise click.UsageError("say which suite to write, with -o SUITE, or --compare RUN")
    _tell(_written(format_name, file, suite, table, replacing=replacing), as_json)


def _format_and_file(words: tuple[str, ...]) -> tuple[str, Path]:
    """Return the format and the file that the words name.

    Raises:
        CommandError: there is no format of that name, or the file does not say its own.
    """
    from tui_eval.suites.importers.formats import guess

    if len(words) > 2:
        raise click.UsageError("name one format and one file")
    if len(words) == 2:
        return FormatName([*FORMATS]).convert(words[0], None, None), Path(words[1])
    (name,) = words
    if name in FORMATS and not Path(name).exists():
        raise click.UsageError(f"name the file, too: tui-eval import {name} FILE -o SUITE")
    found = guess(Path(name))
    if found is None:
        known = ", ".join(FORMATS)
        raise click.UsageError(f"{name}: its format is not known by its name; say one of {known}")
    return found, Path(name)


@contextmanager
def _place(suite: Path | None, file: Path) -> Iterator[Path]:
    """Give the suite's file: the one to write, else one that is there for a while."""
    if suite is not None:
        yield suite
        return
    with tempfile.TemporaryDirectory(prefix="tui-eval-") as folder:
        yield Path(folder) / f"{file.stem or 'imported'}.toml"


def _written(
    format_name: str, file: Path, suite: Path, table: TableOptions, *, replacing: bool
) -> "WrittenSuite":
    """Write the suite of a file.

    Raises:
        CommandError: something is in the way.
        SuiteError: the file cannot be read as that format.
    """
    from tui_eval.engine.preflight.import_comparison import import_suite
    from tui_eval.suites.importers.writing import in_the_way, why_not

    wrong = why_not(suite, file)
    if wrong is not None:
        raise CommandError(f"{suite}: {wrong}")
    there = in_the_way(suite)
    if there and not replacing:
        raise CommandError(f"{', '.join(map(str, there))}: there already; nothing was written. "
                      "--replace replaces it")  # fmt: skip
    return import_suite(format_name, file, suite, table.choices(), replacing=replacing)


def _tell(written: "WrittenSuite", as_json: bool, *, on_stdout: bool = True) -> None:
    from tui_eval.format import many
    from tui_eval.reports import json_output

    if as_json:
        document = {
            "suite": str(written.suite),
            "dataset": str(written.dataset),
            "cases": written.cases,
            "lost": [
                {"what": one.what, "places": list(one.places), "count": one.count}
                for one in written.lost
                if not one.guess
            ],
            "taken": [one.what for one in written.lost if one.guess],
            "verdicts": {
                "alike": written.verdicts.alike,
                "uncompared": written.verdicts.uncompared,
                "differing": [
                    {
                        "case_id": one.case,
                        "target": one.column,
                        "epoch": one.epoch,
                        "scorer": one.scorer or None,
                        "there": one.there,
                        "here": one.here,
                        "reason": one.reason,
                    }
                    for one in written.verdicts.differing
                ],
            },
            "troubles": list(written.troubles),
        }
        streams.say(json_output.dumps(document, indent=2))
        return
    say = streams.say if on_stdout else streams.tell
    say(visible_line(str(written.suite)))
    say(visible_line(str(written.dataset)))
    streams.tell(f"{many(written.cases, 'case')} imported")
    _tell_losses(written)
    for trouble in written.troubles:
        streams.tell(f"  in the suite: {visible_line(trouble)}")
    name = shlex.quote(str(written.suite))
    command = command_name()
    streams.tell(f"look at it with `{command} check {name}`, then `{command} run {name}`")


def _tell_losses(written: "WrittenSuite") -> None:
    """Tell what is not carried over, how things were taken, and which verdicts differ."""
    for guess, title in (
        (False, "not carried over, or not as it was:"),
        (True, "how it was taken:"),
    ):
        some = [one for one in written.lost if one.guess is guess]
        if some:
            streams.tell(title)
        for one in some:
            streams.tell(f"  {one}")
    for n, line in enumerate(written.verdicts.lines(_DIFFERENCES)):
        streams.tell(f"  {line}" if n else line)
