"""Consignments: many requests that a provider was sent as one."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_CONSIGNMENTS = """
CREATE TABLE consignments (             -- one a batch at a provider; see engine/bulk
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    target TEXT NOT NULL,
    number INTEGER NOT NULL,            -- of the target's in the run, from 1
    endpoint TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,         -- goes along: by it a later engine finds it at the provider
    provider_id TEXT,                   -- NULL: nobody knows that the provider has it
    state TEXT NOT NULL,                -- forming, sent, ended, expired, cancelled, failed, lost
    requests INTEGER NOT NULL DEFAULT 0,
    done INTEGER,                       -- as the provider counts; NULL: it has not said
    unknown INTEGER NOT NULL DEFAULT 0, -- lines of its results that name none of its requests
    problem TEXT,                       -- why it failed as a whole
    most_usd REAL,                      -- what it can cost at most; NULL: nobody knows
    most_tokens INTEGER,                -- what it can take at most; NULL: nobody knows
    formed_at REAL NOT NULL,
    sent_at REAL,
    ends_by REAL,                       -- when the provider gives up what is not done
    cancelled_at REAL,                  -- when the provider was asked to end it
    taken_at REAL                       -- when nothing of it was left to take; NULL: it is open
);
CREATE INDEX consignments_run ON consignments (run, target, number);
CREATE TABLE consigned (                -- the attempts of a consignment
    consignment INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,           -- token and ordinal name it in the results
    attempt INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    opening INTEGER NOT NULL,           -- the trial's, when it was consigned
    line BLOB,                          -- digest of what came for it; NULL: nothing has
    PRIMARY KEY (consignment, ordinal)
) WITHOUT ROWID;
CREATE UNIQUE INDEX consigned_attempt ON consigned (attempt);
CREATE INDEX consigned_trial ON consigned (trial);
"""


def consignments_of_runs(db: sqlite3.Connection) -> None:
    """Make room for what was sent to providers in bulk."""
    run_script(db, _CONSIGNMENTS)


_CALLS = """
ALTER TABLE consignments ADD COLUMN asked TEXT NOT NULL DEFAULT 'target';
CREATE TABLE consigned_calls (          -- the judge calls of a consignment
    consignment INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,           -- token and ordinal name it in the results
    call INTEGER NOT NULL,
    nonce TEXT NOT NULL,                -- must come back
    line BLOB,                          -- digest of what came for it; NULL: nothing has
    PRIMARY KEY (consignment, ordinal)
) WITHOUT ROWID;
CREATE UNIQUE INDEX consigned_calls_call ON consigned_calls (call);
CREATE TABLE consigned_questions (      -- who waits for which item of such a call
    call INTEGER NOT NULL,
    position INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    opening INTEGER NOT NULL,           -- the trial's, when it was consigned
    scorer TEXT NOT NULL,
    key BLOB NOT NULL,                  -- the question's score key
    item TEXT,                          -- its id in the request; NULL: an equal one was asked
    form TEXT NOT NULL,                 -- how the reply must look; whether all is asked of it
    made TEXT,                          -- the parts that were read; NULL: none
    problem TEXT,                       -- why it is not answered wholly; NULL: it is, or waits
    PRIMARY KEY (call, position, trial, scorer)
) WITHOUT ROWID;
CREATE INDEX consigned_questions_trial ON consigned_questions (trial);
CREATE INDEX consigned_questions_key ON consigned_questions (key);
"""


def judge_calls_consigned(db: sqlite3.Connection) -> None:
    """Make room for judge calls among what was sent in bulk.

    `asked` says what the `target` of a consignment is the name of: `target` or `judge`.
    """
    run_script(db, _CALLS)
