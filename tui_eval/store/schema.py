"""The schema of the store, as named migrations: each applied once, appended only.

Times are Unix seconds (REAL), durations seconds, money US dollars; NULL money is unknown money.
Foreign text goes through `text.pack`, because SQLite's TEXT cannot hold lone surrogates.
"""

import sqlite3
import time
from collections.abc import Callable

from tui_eval.store.migrations import (
    asking,
    attempts,
    baselines,
    consignments,
    first,
    grades,
    outputs,
    parts,
    runs,
    scores,
    spending,
)

APPLICATION_ID = 0x7E7A1  # marks the file as ours, see SQLite's PRAGMA application_id

MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    first.first_schema,
    scores.notes_on_trials,
    scores.scores_withdrawn,
    scores.unmet_trials,
    scores.trials_rescored,
    scores.findings_spent,
    outputs.broken_off_outputs,
    asking.trials_opened,
    scores.trials_rescored_from,
    scores.findings_answer_by_key,
    spending.calls_estimated,
    runs.runs_data_files,
    runs.engine_clocks,
    attempts.attempts_unanswered,
    asking.requests_taken,
    spending.trials_estimated,
    asking.moves_of_requests,
    runs.columns_source,
    runs.limits_with_kinds,
    attempts.attempts_timed_out,
    attempts.attempts_unsent,
    attempts.attempts_of_programs,
    attempts.files_of_workspaces,
    attempts.attempts_printed,
    outputs.long_texts_once,
    attempts.attempts_history,
    attempts.attempts_turns,
    runs.columns_version,
    outputs.outputs_self_reported,
    scores.scores_by_key,
    outputs.conversations,
    baselines.run_bases,
    scores.unmet_scores,
    scores.judge_calls_counted,
    runs.sweep_levels,
    grades.grades_of_people,
    parts.parts_of_runs,
    runs.runs_staged_as,
    consignments.consignments_of_runs,
    scores.errored_trials,
    consignments.judge_calls_consigned,
)
"""Every change the schema ever went through, in order. Append only."""


def version(db: sqlite3.Connection) -> int:
    """Return how many migrations the store has had."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def migrate(db: sqlite3.Connection) -> None:
    """Bring the store up to date: each missing migration in a transaction with its record."""
    while (done := version(db)) < len(MIGRATIONS):
        db.execute("BEGIN EXCLUSIVE")
        try:
            if version(db) == done:  # another process may have been quicker
                MIGRATIONS[done](db)
                if done == 0:
                    db.execute("CREATE TABLE migrations (name TEXT NOT NULL, at REAL NOT NULL)")
                    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                db.execute(
                    "INSERT INTO migrations VALUES (?, ?)",
                    (MIGRATIONS[done].__name__, time.time()),
                )
                db.execute(f"PRAGMA user_version = {done + 1}")
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise
