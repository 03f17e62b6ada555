"""A run's outputs as predictions for the harness of SWE-bench."""

import sqlite3
from collections.abc import Iterator

from tui_eval.model.json import JsonObject
from tui_eval.reports import json_output
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.store.rows import RunRow


def swebench(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield one line of JSON for each output.

    `model_name_or_path` is the column; from its second epoch on with `#2` and so on behind it, as
    the harness takes one prediction of an instance from a model. What has no output is left out:
    there it counts as not submitted.
    """
    for line in chosen_lines(db, run, choice):
        if line.text is None:
            continue
        model = line.column if line.epoch == 0 else f"{line.column}#{line.epoch + 1}"
        made: JsonObject = {
            "instance_id": line.case_id,
            "model_name_or_path": model,
            "model_patch": line.text,
        }
        yield json_output.dumps(made) + "\n"
