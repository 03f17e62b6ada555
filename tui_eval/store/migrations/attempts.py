"""Attempts, and what programs left."""

import sqlite3

from tui_eval.store.migrations.script import run_script


def attempts_unanswered(db: sqlite3.Connection) -> None:
    """Index the attempts that nobody waits for any more: they are few, and counted apart."""
    db.execute(
        "CREATE INDEX attempts_unanswered ON attempts (trial) WHERE state IN ('lost', 'cancelled')"
    )


def attempts_timed_out(db: sqlite3.Connection) -> None:
    """Index the attempts that timed out: nobody may know what they cost, as of those unanswered."""
    db.execute("CREATE INDEX attempts_timed_out ON attempts (trial) WHERE error_kind = 'timeout'")


def attempts_unsent(db: sqlite3.Connection) -> None:
    """Make room for whether a failed attempt reached nobody; earlier ones are taken as sent."""
    db.execute("ALTER TABLE attempts ADD COLUMN unsent INTEGER NOT NULL DEFAULT 0")
    db.execute("CREATE INDEX attempts_unsent ON attempts (trial) WHERE unsent = 1")


_ATTEMPT_RECORDS = """
CREATE TABLE attempt_records (          -- what attempts leave beside outputs: programs and agents
    attempt INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    exit_code INTEGER,
    exit_signal INTEGER,
    isolation TEXT,
    cpu_s REAL,
    wall_s REAL,
    peak_rss_bytes INTEGER,
    peak_processes INTEGER,
    disk_bytes INTEGER,
    output_bytes INTEGER,
    added INTEGER,
    changed INTEGER,
    removed INTEGER,
    bytes INTEGER,
    workspace BLOB,                     -- digest of what was changed in its workspace
    steps INTEGER,
    tool_calls INTEGER
);
CREATE INDEX attempt_records_trial ON attempt_records (trial);
CREATE TABLE trial_progress (           -- only while an attempt runs
    attempt INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    phase TEXT NOT NULL,
    turn INTEGER,
    tool TEXT,
    cpu_s REAL,
    rss_bytes INTEGER,
    processes INTEGER,
    disk_bytes INTEGER,
    output_bytes INTEGER,
    at REAL NOT NULL
);
CREATE INDEX trial_progress_trial ON trial_progress (trial);
ALTER TABLE outputs ADD COLUMN workspace BLOB;  -- as in attempt_records
"""


def attempts_of_programs(db: sqlite3.Connection) -> None:
    """Keep what programs leave beside their outputs, and how far those are that run."""
    run_script(db, _ATTEMPT_RECORDS)


_KEPT_FILES = """
CREATE TABLE kept_files (               -- in the folder beside the store, by SHA-256
    digest BLOB PRIMARY KEY,
    bytes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE workspace_files (          -- which of them a workspace's list of changes needs
    workspace BLOB NOT NULL,            -- the list's digest, as in outputs and attempt_records
    file BLOB NOT NULL,                 -- the list itself is one of them
    PRIMARY KEY (workspace, file)
) WITHOUT ROWID;
CREATE INDEX workspace_files_file ON workspace_files (file);
CREATE INDEX outputs_workspace ON outputs (workspace) WHERE workspace IS NOT NULL;
CREATE INDEX attempt_records_workspace ON attempt_records (workspace) WHERE workspace IS NOT NULL;
"""


def files_of_workspaces(db: sqlite3.Connection) -> None:
    """Make room for which files are kept beside the store, and for whom."""
    run_script(db, _KEPT_FILES)


def attempts_printed(db: sqlite3.Connection) -> None:
    """Keep what attempts print beside their outputs, where something runs that can print."""
    db.execute("ALTER TABLE attempts ADD COLUMN printed TEXT")


def attempts_history(db: sqlite3.Connection) -> None:
    """Keep what attempts told while they ran: when each phase began, and what they took."""
    db.execute("ALTER TABLE attempt_records ADD COLUMN phases TEXT")  # [[name, seconds], ...]
    db.execute("ALTER TABLE attempt_records ADD COLUMN samples TEXT")  # [[seconds, cpu, rss], ...]


def attempts_turns(db: sqlite3.Connection) -> None:
    """Keep when each reply of an attempt's assistant was first seen: [seconds, ...]."""
    db.execute("ALTER TABLE attempt_records ADD COLUMN turns TEXT")
