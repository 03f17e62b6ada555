"""`tui-eval init` and `tui-eval schema`: to write a suite with."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError

if TYPE_CHECKING:
    from tui_eval.model.json import JsonObject


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path(),
                metavar="[DIR]")  # fmt: skip
def init(folder: Path) -> None:
    """Write a first suite, commented, into DIR (here, where none is named).

    Its format stands beside it, as JSON Schema for editors. Nothing that is there is touched.
    """
    from tui_eval.suites.loading.starter import SCHEMA_FILE, starter

    files = {folder / name: text for name, text in starter().items()}
    there = [str(path) for path in files if path.exists()]
    if there:
        raise CommandError(f"{', '.join(there)}: there already; nothing was written")
    beside = folder / SCHEMA_FILE
    if not beside.exists():
        files[beside] = _schema_text("suite")
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
        streams.say(str(path))
    suite = next(path for path in files if path.suffix == ".toml")
    streams.tell(f"try `tui-eval check {suite}`, then `tui-eval run {suite}`")


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
    from tui_eval.reports import jsontext

    return (
        jsontext.dumps(_config_schema() if kind == "config" else _suite_schema(), indent=2) + "\n"
    )


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
