"""What a run can be exported as."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeAlias

from tui_eval.plugins.lookup import is_plugin_name
from tui_eval.reports.exports.ci.ctrf import ctrf
from tui_eval.reports.exports.ci.github import github
from tui_eval.reports.exports.ci.junit import junit
from tui_eval.reports.exports.csv_table import csv_table
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.format_names import ENDINGS
from tui_eval.reports.exports.html.page import html
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.reports.exports.markdown import markdown
from tui_eval.reports.exports.parquet import parquet
from tui_eval.reports.exports.plugin_export import PluginExport
from tui_eval.reports.exports.swebench import swebench
from tui_eval.reports.exports.whole_file import Pieces
from tui_eval.store.rows import RunRow

Export: TypeAlias = Callable[[sqlite3.Connection, RunRow, ExportChoice], Pieces]
"""Gives the file, a piece after the other: a run's size costs no memory."""

FORMATS: Final[dict[str, Export]] = {
    "jsonl": jsonl,
    "csv": csv_table,
    "parquet": parquet,
    "junit": junit,
    "ctrf": ctrf,
    "html": html,
    "markdown": markdown,
    "github": github,
    "swebench": swebench,
}
"""By name, as `format_names.ENDINGS` has them."""


def export_of(name: str) -> Export:
    """Return the export of a format's name, or of a plugin's.

    Raises:
        PluginError: there is no such plugin.
    """
    return PluginExport(name) if is_plugin_name(name) else FORMATS[name]


def format_of(file: Path) -> str | None:
    """Return the format that a file's ending says; None: it says none."""
    name = file.name.lower()
    return next((one for one, ending in ENDINGS.items() if ending and name.endswith(ending)), None)
