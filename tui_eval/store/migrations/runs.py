"""Runs, their columns, their clocks and their limits."""

import sqlite3

from tui_eval.store.migrations.script import run_script


def runs_data_files(db: sqlite3.Connection) -> None:
    """Make room for what a run's data files were like at launch; NULL: nobody wrote it down."""
    db.execute("ALTER TABLE runs ADD COLUMN data_files TEXT")


def engine_clocks(db: sqlite3.Connection) -> None:
    """Make room for how long an engine has worked, by a clock that nobody can set."""
    db.execute("ALTER TABLE runs ADD COLUMN active_from REAL")  # of that clock; NULL: none works
    db.execute("ALTER TABLE runs ADD COLUMN active_s REAL NOT NULL DEFAULT 0")
    db.execute(
        "UPDATE runs SET active_s = max(ifnull(lease_beat - active_since, 0), 0) "
        "WHERE active_since IS NOT NULL"
    )


_SOURCES = """
ALTER TABLE columns ADD COLUMN source TEXT NOT NULL DEFAULT 'asked';  -- asked, recorded, simulated
UPDATE columns SET source = CASE kind WHEN 'replay' THEN 'recorded' ELSE kind END
WHERE kind IN ('replay', 'simulated');
"""


def columns_source(db: sqlite3.Connection) -> None:
    """Keep where the answers of each column come from, so that no reader has to know its kind."""
    run_script(db, _SOURCES)


_LIMIT_EVENTS = """
ALTER TABLE limits RENAME TO limits_in_prose;
DROP INDEX limits_run;
CREATE TABLE limits (                   -- every limit in force, and what became of it
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    concurrency INTEGER NOT NULL,
    kind TEXT NOT NULL,                 -- see EndpointEventKind
    seconds REAL,
    before_s REAL,
    what TEXT,
    at REAL NOT NULL
);
CREATE INDEX limits_run ON limits (run, endpoint, id);
INSERT INTO limits SELECT id, run, endpoint, concurrency, kind,
    CASE kind
        WHEN 'slower' THEN CAST(substr(reason, 12) AS REAL)
        WHEN 'answers-again' THEN CAST(substr(reason, 21) AS REAL)
        WHEN 'nothing-remains' THEN
            CAST(substr(reason, instr(reason, ': paused for ') + 13) AS REAL) END,
    CASE kind WHEN 'slower' THEN CAST(substr(reason, instr(reason, ', ') + 2) AS REAL) END,
    CASE kind
        WHEN 'nothing-remains' THEN substr(reason, 24, instr(reason, ': paused for ') - 24)
        WHEN 'note' THEN reason END,
    at
FROM (SELECT *, CASE
    WHEN typeof(reason) <> 'text' THEN 'note'
    WHEN reason = 'start' THEN 'start'
    WHEN reason = 'set by a person' THEN 'by-hand'
    WHEN reason = 'a clean round' THEN 'clean-round'
    WHEN reason = 'fewer calls are no faster' THEN 'no-faster'
    WHEN reason = 'calls time out' THEN 'timeouts'
    WHEN reason = 'rate limited (429)' THEN 'rate-limited'
    WHEN reason = 'refuses everything: paused, one probe at a time' THEN 'refuses-all'
    WHEN reason GLOB 'answered others: *' THEN 'answered-others'
    WHEN reason GLOB 'answers again after * s' THEN 'answers-again'
    WHEN reason GLOB 'nothing remains of its *: paused for * s' THEN 'nothing-remains'
    WHEN reason GLOB 'calls take * s, * s when there were fewer' THEN 'slower'
    ELSE 'note' END AS kind FROM limits_in_prose) ORDER BY id;
DROP TABLE limits_in_prose;
"""


def limits_with_kinds(db: sqlite3.Connection) -> None:
    """Keep why a limit moved as a kind with its figures; it was prose before."""
    run_script(db, _LIMIT_EVENTS)


def columns_version(db: sqlite3.Connection) -> None:
    """Keep what each column's target said its version is: an engine that goes on compares it."""
    db.execute("ALTER TABLE columns ADD COLUMN version TEXT")


_SWEEP_LEVELS = """
CREATE TABLE sweep_levels (             -- of runs that measure what an endpoint bears
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,            -- from 0, in the order in which they were begun
    level INTEGER NOT NULL,             -- calls in flight
    first INTEGER NOT NULL,             -- place of its first trial
    warm_up INTEGER NOT NULL,           -- its first trials, which are not counted
    calls INTEGER NOT NULL,             -- trials that are counted
    ended_at REAL,                      -- NULL: it is under way, or was broken off
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
"""


def sweep_levels(db: sqlite3.Connection) -> None:
    """Keep which trials of a sweep are those of which level."""
    run_script(db, _SWEEP_LEVELS)


_STAGED_AS = """
ALTER TABLE runs ADD COLUMN staged_as BLOB; -- digest of all that its trials follow from
CREATE INDEX runs_staged_as ON runs (staged_as) WHERE staged_as IS NOT NULL;
"""


def runs_staged_as(db: sqlite3.Connection) -> None:
    """Keep what a run's cases and keys follow from: one with the same need not make them anew."""
    run_script(db, _STAGED_AS)
