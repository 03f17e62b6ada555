"""`tui-eval init` and `tui-eval schema`: to write a suite with."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.cli.options import json_option
from tui_eval.invocation import command_name

if TYPE_CHECKING:
    from tui_eval.model.json import Json, JsonObject
    from tui_eval.suites.recipes.recipe_book import Recipe

_MOST_EXAMPLES = 300
"""Examples that are fetched: those of a benchmark's own, for all its subjects."""


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path(),
                metavar="[DIR]")  # fmt: skip
@click.option("--recipe", metavar="NAME", help="The suite of a well-known benchmark.")
@click.option("--data", metavar="FILE", help="With --recipe: its data; else that of the Hub.")
@click.option(
    "--examples", metavar="FILE", help="With --recipe: few-shot examples; a file or hf://…"
)
@click.option("--recipes", "lists", is_flag=True, help="List the benchmarks, and write nothing.")
@json_option
def init(
    folder: Path,
    recipe: str | None,
    data: str | None,
    examples: str | None,
    lists: bool,
    as_json: bool,
) -> None:
    """Write a first suite, commented, into DIR (here, where none is named).

    Its format stands beside it, as JSON Schema for editors. Nothing that is there is touched.
    """
    if as_json and not lists:
        raise click.UsageError("--json goes with --recipes")
    if lists:
        _list(as_json=as_json)
        return
    if recipe is None:
        if data is not None or examples is not None:
            raise click.UsageError("--data and --examples go with --recipe")
        from tui_eval.suites.loading.starter import starter

        texts = starter()
    else:
        texts = _by_recipe(folder, _recipe(recipe), data, examples)
    _write(folder, {folder / name: text for name, text in texts.items()})


def _write(folder: Path, files: dict[Path, str]) -> None:
    from tui_eval.suites.loading.starter import SCHEMA_FILE

    there = [str(path) for path in files if path.exists()]
    if there:
        raise CommandError(f"{', '.join(there)}: there already; nothing was written")
    beside = folder / SCHEMA_FILE
    if not beside.exists():
        files[beside] = _schema_text("suite")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        streams.say(str(path))
    suite = next(path for path in files if path.suffix == ".toml")
    command = command_name()
    streams.tell(f"try `{command} check {suite}`, then `{command} run {suite}`")


def _recipe(name: str) -> "Recipe":
    from tui_eval.suites.loading.errors import did_you_mean
    from tui_eval.suites.recipes.recipe_book import recipes

    found = recipes().get(name)
    if found is None:
        raise CommandError(f'no recipe is called "{name}"; {did_you_mean(name, recipes())}')
    return found


def _by_recipe(
    folder: Path, recipe: "Recipe", data: str | None, examples: str | None
) -> dict[str, str]:
    """Return the files of a benchmark's suite: texts by their names."""
    from tui_eval.suites.recipes.recipe_book import RecipeError, form_of, suite_text

    try:
        row = None if data is None or _on_the_hub(data) else _first_rows(data, 1)[0]
        named = None if data is None else _from(folder, data)
        if examples is None:
            return {f"{recipe.name}.toml": suite_text(recipe, named, row)}
        if not _on_the_hub(examples):
            shown = _first_rows(examples, 1)[0]
            text = suite_text(recipe, named, row, _from(folder, examples))
            form = recipe.columns[0] if row is None else form_of(recipe, row)
            if form_of(recipe, shown, examples=True) != form:
                raise CommandError(f"{examples} has other columns than the data")
            return {f"{recipe.name}.toml": text}
        kept = f"{recipe.name}-examples.jsonl"
        text = suite_text(recipe, named, row, kept)
    except RecipeError as error:
        raise CommandError(str(error)) from None
    from tui_eval.reports import json_output

    lines = [json_output.dumps(one) + "\n" for one in _first_rows(examples, _MOST_EXAMPLES)]
    return {f"{recipe.name}.toml": text, kept: "".join(lines)}


def _on_the_hub(path: str) -> bool:
    from tui_eval.suites.data.hub.hub_address import is_hub

    return is_hub(path)


def _from(folder: Path, path: str) -> str:
    """Return a path as a suite in a folder says it."""
    from tui_eval.suites.data.hub.hub_address import HubAddress

    if _on_the_hub(path):
        try:
            return str(HubAddress.of(path))
        except ValueError as error:
            raise CommandError(f"{path}: {error}") from None
    file = Path(path).absolute()
    here = folder.absolute()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _first_rows(path: str, most: int) -> "list[JsonObject]":
    """Return the first rows of a file or of a dataset of the Hub.

    Raises:
        CommandError: there is none.
        SuiteError: it cannot be read.
    """
    from itertools import islice

    from tui_eval.suites.data.hub.hub_rows import hub_rows
    from tui_eval.suites.data.rows import DataProblems, read_rows

    if _on_the_hub(path):
        rows = [row for _, _, row in islice(hub_rows(path), most)]
    else:
        problems = DataProblems()
        rows = [row for _, row in islice(read_rows(Path(path), path, problems), most)]
        problems.settle()
    if not rows:
        raise CommandError(f"{path}: holds no row")
    return rows


def _list(*, as_json: bool) -> None:
    from tui_eval.format import number
    from tui_eval.reports import json_output
    from tui_eval.suites.recipes.recipe_book import NEEDS, UNTRIED, recipes

    if as_json:
        listed: list[Json] = [
            {
                "name": one.name,
                "title": one.title,
                "cases": one.cases,
                "licence": one.licence,
                "needs": [*one.needed],
                "data": one.data,
                "examples": one.examples,
                "source": one.source,
                "tried": one.tried,
            }
            for one in recipes().values()
        ]
        streams.say(json_output.dumps(listed, indent=2))
        return
    for one in recipes().values():
        streams.say(f"{one.name}  {one.title}")
        streams.say(f"    {number(one.cases)} cases · licence: {one.licence}")
        streams.say(f"    needs {', '.join(NEEDS[need] for need in one.needed)}")
        streams.say(f"    {f'tried against {one.tried}' if one.tried else UNTRIED}")


@click.command()
@click.option(
    "--kind",
    type=click.Choice(["suite", "config"]),
    default="suite",
    show_default=True,
    help="Of suites, or of your configuration.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The file, written whole or not at all.  [default: stdout]",
)
def schema(kind: str, output: Path | None) -> None:
    """Print the suite format as JSON Schema, for editors.

    A first line `#:schema ./suite.schema.json` tells editors that read TOML of it: Even Better
    TOML for VS Code, Zed, taplo.
    """
    from tui_eval.reports.exports.whole_file import to_file

    text = _schema_text(kind)
    if output is None:
        streams.say(text)
    else:
        to_file(output, iter([text]))


def _schema_text(kind: str) -> str:
    from tui_eval.reports import json_output

    schema = _config_schema() if kind == "config" else _suite_schema()
    return json_output.dumps(schema, indent=2) + "\n"


def _suite_schema() -> "JsonObject":
    from tui_eval.suites.loading.json_schema import json_schema

    return json_schema()


def _config_schema() -> "JsonObject":
    from tui_eval.suites.config.config_schema import config_schema
    from tui_eval.ui.keys.keyboard import keyboard
    from tui_eval.ui.theme.themes import THEMES

    return config_schema(
        THEMES, {action.id: action.words for action in keyboard().actions.values()}
    )
