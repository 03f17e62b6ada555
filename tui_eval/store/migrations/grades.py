"""Grades that people give to measure judges by."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_GRADES = """
CREATE TABLE grades (                   -- appended only: of a person the newest for an output and
    id INTEGER PRIMARY KEY,             -- scorer counts. No scores: no verdict rests on them
    run INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    output INTEGER NOT NULL,            -- what was graded: the trial may have another one by now
    scorer TEXT NOT NULL,
    person TEXT NOT NULL,
    grade TEXT,                         -- JSON as given: "pass", 4, [true]; NULL: cannot tell
    verdict TEXT,                       -- what it came to; NULL: cannot tell
    value REAL,                         -- in 0..1; NULL: a bare verdict, or cannot tell
    note TEXT NOT NULL,                 -- '': none
    seed INTEGER,                       -- by which the output was drawn; NULL: it was not
    at REAL NOT NULL
);
CREATE INDEX grades_run ON grades (run, scorer, id);
CREATE INDEX grades_trial ON grades (trial, scorer, person, id);
CREATE INDEX scores_by_hand ON scores (trial) WHERE source = 'human';
"""


def grades_of_people(db: sqlite3.Connection) -> None:
    """Make the table of grades that measure and decide nothing."""
    run_script(db, _GRADES)
