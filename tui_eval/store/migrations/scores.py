"""Scores, findings and notes: what was found of outputs, and what was taken back."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_NOTES = """
CREATE TABLE notes (                    -- what people write on trials
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    text TEXT NOT NULL,                 -- '': it was taken away
    current INTEGER NOT NULL,           -- the one that counts of its trial; never an empty one
    at REAL NOT NULL
);
CREATE INDEX notes_trial ON notes (trial, id);
CREATE UNIQUE INDEX notes_current ON notes (trial) WHERE current = 1;
"""


def notes_on_trials(db: sqlite3.Connection) -> None:
    """Make the table of notes."""
    run_script(db, _NOTES)


_WITHDRAWING = """
ALTER TABLE scores ADD COLUMN superseded_at REAL;    -- NULL: it is not, or nobody wrote it down
ALTER TABLE findings ADD COLUMN superseded_at REAL;  -- likewise
CREATE TABLE former_specs (             -- how runs were scored before a request said otherwise
    request INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    spec TEXT NOT NULL,                 -- the frozen suite before, JSON
    settings TEXT NOT NULL              -- likewise
);
CREATE INDEX former_specs_run ON former_specs (run, request);
"""


def scores_withdrawn(db: sqlite3.Connection) -> None:
    """Make room for what it takes to let scores count again that a rescore has replaced."""
    run_script(db, _WITHDRAWING)


def unmet_trials(db: sqlite3.Connection) -> None:
    """Index the trials that did not pass: the next one is found at once in a million."""
    db.execute(
        "CREATE INDEX trials_unmet ON trials (run, place) "
        "WHERE verdict IN ('fail', 'ungraded') OR state = 'error'"
    )


def errored_trials(db: sqlite3.Connection) -> None:
    """Index the trials in error: often few among many that did not pass."""
    db.execute("CREATE INDEX trials_errored ON trials (run, place) WHERE state = 'error'")


def trials_rescored(db: sqlite3.Connection) -> None:
    """Make room for when a trial was last taken back to scoring; NULL: never, or nobody knows."""
    db.execute("ALTER TABLE trials ADD COLUMN rescored_at REAL")


def findings_spent(db: sqlite3.Connection) -> None:
    """Let a finding answer no other trial any more, once somebody has asked anew.

    Some stores have the column from their first schema.
    """
    if "spent" not in {row[1] for row in db.execute("PRAGMA table_info(findings)")}:
        db.execute("ALTER TABLE findings ADD COLUMN spent INTEGER NOT NULL DEFAULT 0")


_REOPENED = """
CREATE TABLE rescored_from (            -- where trials stood that a rescore took back, unless done
    trial INTEGER NOT NULL,
    at REAL NOT NULL,                   -- when it did
    state TEXT NOT NULL,
    since REAL,
    error_kind TEXT,
    error_message TEXT
);
CREATE INDEX rescored_from_trial ON rescored_from (trial, at);
"""


def trials_rescored_from(db: sqlite3.Connection) -> None:
    """Make the table of where rescored trials stood, so that they can be put back there."""
    run_script(db, _REOPENED)


def findings_answer_by_key(db: sqlite3.Connection) -> None:
    """Let findings that are a trial's no more answer equal questions, unless they are spent.

    Those that were superseded so far answered nobody: somebody had asked anew.
    """
    db.execute("UPDATE findings SET spent = 1 WHERE superseded = 1")
    db.execute("DROP INDEX findings_key")
    db.execute("CREATE INDEX findings_key ON findings (score_key)")


def scores_by_key(db: sqlite3.Connection) -> None:
    """Let a grade that a program gave be found by all that decided it; NULL: no program did."""
    db.execute("ALTER TABLE scores ADD COLUMN score_key BLOB")
    db.execute("CREATE INDEX scores_key ON scores (score_key) WHERE score_key IS NOT NULL")


def unmet_scores(db: sqlite3.Connection) -> None:
    """Index the scores that do not say pass: reasons of failures are found without the others."""
    db.execute(
        "CREATE INDEX scores_unmet ON scores (trial) WHERE current = 1 AND verdict <> 'pass'"
    )


def judge_calls_counted(db: sqlite3.Connection) -> None:
    """Index all that is counted of judge calls: their requests and replies are long."""
    db.execute(
        "CREATE INDEX judge_calls_counted ON judge_calls (run, scorer, judge, purpose, model, "
        "state, round, items, error_kind, input_tokens, output_tokens, cost_usd, about_usd)"
    )
