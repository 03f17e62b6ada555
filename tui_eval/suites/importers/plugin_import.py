"""Files that plugins import, in a process of their own."""

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tui_eval.isolated.one_call import OneCall, OneCallError, call_once
from tui_eval.model.json import JsonObject
from tui_eval.plugins.lookup import PluginError, PluginSort, find_plugin, worker_path
from tui_eval.suites.importers.reading import refuse
from tui_eval.suites.importers.shape import Imported, ImportNotes
from tui_eval.suites.plugins.description import CALLS

_TIMEOUT_S: Final = 3600.0


def read_by_plugin(name: str, path: Path) -> Imported:
    """Have an importer read a file.

    Args:
        name: The importer, `DISTRIBUTION.NAME`.
        path: The file.

    Raises:
        SuiteError: there is no such importer, or it cannot read the file.
    """
    try:
        plugin = find_plugin(PluginSort.IMPORTER, name)
    except PluginError as error:
        refuse(str(path), error.message, hint=error.hint)
    kept = TemporaryDirectory(prefix="tui-eval-")  # removed once the cases have been read
    rows = Path(kept.name) / "cases.jsonl"
    call = OneCall(CALLS, "read", worker_path(), Path(kept.name), _TIMEOUT_S)
    given = {"path": str(path.absolute()), "cases": str(rows)}
    try:
        found = call_once(call, {"module": plugin.module, **given})
    except OneCallError as error:
        kept.cleanup()
        refuse(str(path), f"cannot be read by {name}: {error}")
    assert isinstance(found, dict), "as `plugin_calls.read` returns it"
    suite, lost = found["suite"], found["lost"]
    assert isinstance(suite, dict)
    assert isinstance(lost, list)
    losses = ImportNotes()
    for one in lost:
        losses.note(str(one))

    def cases() -> Iterator[JsonObject]:
        with kept, rows.open(encoding="ascii") as lines:
            for line in lines:
                row = json.loads(line)
                if not isinstance(row, dict):
                    refuse(str(path), f"{name} gives a case that is no table: {line[:60].strip()}")
                yield row

    return Imported(cases(), lambda: suite, losses)
