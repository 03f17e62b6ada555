"""Runs of which there are parts in several stores, and what was merged of other stores."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_PARTS = """
ALTER TABLE cases ADD COLUMN number INTEGER; -- in the whole run; NULL: it is seq
CREATE TABLE run_parts (                -- which parts of a whole run's cases a run has
    run INTEGER NOT NULL,
    part INTEGER NOT NULL,              -- from 1
    of INTEGER NOT NULL,
    whole BLOB NOT NULL,                -- digest of all that the whole run wants
    cases INTEGER NOT NULL,             -- how many the whole run has
    PRIMARY KEY (run, of, part)
) WITHOUT ROWID;
CREATE INDEX run_parts_whole ON run_parts (whole);
CREATE TABLE merged_runs (              -- runs of other stores that a run was made of
    run INTEGER NOT NULL,
    origin BLOB NOT NULL,               -- tells the other run from all others
    name TEXT NOT NULL,                 -- as it is called there
    taken INTEGER NOT NULL,             -- the newest change there that was taken
    started_at REAL,
    ended_at REAL,
    wall_s REAL NOT NULL,
    PRIMARY KEY (run, origin)
) WITHOUT ROWID;
CREATE INDEX merged_runs_origin ON merged_runs (origin);
"""


def parts_of_runs(db: sqlite3.Connection) -> None:
    """Keep which parts of a whole a run has, and which runs of other stores it was made of."""
    run_script(db, _PARTS)
