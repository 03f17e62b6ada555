"""Stores that earlier versions made, as they are kept here, and what is known of them."""

import gzip
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tui_eval.reports.document import document
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.store import schema
from tui_eval.store.read import (
    report_queries,
    request_queries,
    run_queries,
)
from tui_eval.store.read.trials import trial_queries, trial_rows

HERE = Path(__file__).parent
BASE_URL = "http://127.0.0.1:1/v1"
"""What stands in a kept store for the server that its targets and judges asked."""


def dumped(path: Path, base_url: str) -> bytes:
    """Return a store as compressed SQL that is the same wherever its server was."""
    with closing(sqlite3.connect(path)) as db:
        lines = [
            f"PRAGMA application_id = {schema.APPLICATION_ID};",
            *db.iterdump(),
            f"PRAGMA user_version = {schema.version(db)};",
        ]
    place = base_url.removesuffix("/v1")
    text = "\n".join(lines).replace(place, BASE_URL.removesuffix("/v1"))
    return gzip.compress(text.encode(), mtime=0)


def restore(version: int, path: Path, base_url: str = BASE_URL) -> None:
    """Write a kept store to a file, with another server in it where one is named."""
    text = gzip.decompress((HERE / f"schema-{version}.sql.gz").read_bytes()).decode()
    text = text.replace(BASE_URL.removesuffix("/v1"), base_url.removesuffix("/v1"))
    with closing(sqlite3.connect(path)) as db:
        db.executescript(text)


def told(db: sqlite3.Connection) -> dict[str, Any]:
    """Return what lists, counts, details and rates tell of a store, by the run's suite."""
    return {run.suite: _of_run(db, run.id) for run in run_queries.runs(db)}


def _of_run(db: sqlite3.Connection, run: int) -> dict[str, Any]:
    lines = TrialLines(db, run)
    return {
        "document": document(db, run),
        "trials": [lines.json(line) for line in report_queries.lines(db, run)],
        "history": [
            _history(db, run, trial.id) for trial in trial_rows.trials_from(db, run, 0, 99)
        ],
        "requests": [
            [one.verb, one.args, one.outcome, one.detail]
            for one in request_queries.requests(db, run, pending=False)
        ],
        "left_alone": sorted(trial_queries.left_alone(db, run)),
    }


def _history(db: sqlite3.Connection, run: int, trial: int) -> dict[str, Any]:
    found = trial_queries.whole(db, run, trial)
    assert found is not None
    return {
        "state": found.trial.state,
        "verdict": found.trial.verdict,
        "note": found.trial.note,
        "output": None if found.output is None else found.output.text,
        "attempts": [
            [one.number, one.state, one.error_kind, one.input_tokens, one.cost_usd]
            for one in found.attempts
        ],
        "scores": [
            {
                "of": [one.scorer, one.verdict, one.value, one.reason],
                "current": one.current,
                "superseded": one.superseded,
                "withdrawn": one.withdrawn_at is not None,
            }
            for one in found.scores
        ],
        "judge_calls": len(found.judging),
    }
