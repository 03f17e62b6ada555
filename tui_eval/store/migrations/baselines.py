"""What runs are compared with."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_RUN_BASES = """
CREATE TABLE run_bases (                -- what a run was launched to be compared with
    run INTEGER PRIMARY KEY,
    name TEXT NOT NULL,                 -- the other run's, or the file's as it was given
    base INTEGER,                       -- the other run; NULL: it is a file
    file BLOB                           -- SHA-256 of the file
);
CREATE INDEX run_bases_base ON run_bases (base);
CREATE TABLE baseline_files (           -- as they were at launch, once each
    digest BLOB PRIMARY KEY,
    size INTEGER NOT NULL,              -- bytes of the file
    packed BLOB NOT NULL                -- the file, deflated (zlib)
);
"""


def run_bases(db: sqlite3.Connection) -> None:
    """Make room for what each run is compared with; earlier runs keep to their suite's baseline."""
    run_script(db, _RUN_BASES)
