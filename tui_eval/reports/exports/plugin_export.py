"""Exports that plugins write, in a process of their own."""

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tui_eval.isolated.one_call import OneCall, OneCallError, call_once
from tui_eval.model.json import Json
from tui_eval.model.visible import visible
from tui_eval.plugins.lookup import PluginError, PluginSort, find_plugin, worker_path
from tui_eval.reports.document import document
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.reports.exports.whole_file import Pieces
from tui_eval.store.rows import RunRow
from tui_eval.suites.plugins.description import CALLS

_TIMEOUT_S: Final = 3600.0
_PIECE: Final = 1 << 20


class PluginExport:
    """Gives the file that an exporter writes; its characters are made harmless to show."""

    def __init__(self, name: str) -> None:
        """Find the exporter.

        Raises:
            PluginError: there is none of this name, or there are several.
        """
        self._plugin = find_plugin(PluginSort.EXPORTER, name)

    def __call__(self, db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Pieces:
        """Yield the file, once the exporter has written all of it.

        Raises:
            PluginError: it broke.
        """
        with TemporaryDirectory(prefix="tui-eval-") as folder:
            trials, target = Path(folder) / "trials.jsonl", Path(folder) / "export"
            with trials.open("w", encoding="utf-8") as file:
                file.writelines(jsonl(db, run, choice))
            call = OneCall(CALLS, "export", worker_path(), Path(folder), _TIMEOUT_S)
            given: dict[str, Json] = {
                "trials": str(trials),
                "target": str(target),
                "run": document(db, run.id),
            }
            try:
                call_once(call, {"module": self._plugin.module, **given})
            except OneCallError as error:
                raise PluginError(f"exporter {self._plugin.name}: {error}") from None
            with target.open(encoding="utf-8", newline="") as written:
                while piece := written.read(_PIECE):
                    yield visible(piece)
