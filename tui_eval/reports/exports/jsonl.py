"""A run's trials as JSON Lines, which lose nothing."""

import sqlite3
from collections.abc import Iterator

from tui_eval.reports import json_output
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.store.rows import RunRow


def jsonl(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield one line of JSON for each trial, see `TrialLines`."""
    made = TrialLines(db, run.id, case=choice.case)
    for line in chosen_lines(db, run, choice):
        yield json_output.dumps(made.json(line)) + "\n"
