"""The tables of the first store."""

import sqlite3

from tui_eval.store.migrations.script import run_script

_FIRST = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('change', 0);

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    suite TEXT NOT NULL,                -- the suite's name
    path TEXT,                          -- the file it was read from: shown, never read again
    label TEXT,
    spec TEXT NOT NULL,                 -- frozen suite, JSON
    settings TEXT NOT NULL,             -- what was chosen at launch, JSON
    partial INTEGER NOT NULL,           -- made with a filter or a limit
    state TEXT NOT NULL,
    reason TEXT,                        -- why it is paused or interrupted
    stopped_by TEXT,                    -- a stable word for the same
    staged INTEGER NOT NULL DEFAULT 0,  -- all cases and trials are in
    total INTEGER NOT NULL DEFAULT 0,   -- trials
    created_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL,
    wall_s REAL NOT NULL DEFAULT 0,     -- of all engines that have ended
    active_since REAL,                  -- when the present engine began
    change INTEGER NOT NULL,
    lease_number INTEGER NOT NULL DEFAULT 0,  -- the fence: each commit of an engine checks it
    lease_host TEXT,
    lease_pid INTEGER,
    lease_birth REAL,
    lease_beat REAL
);
CREATE INDEX runs_suite ON runs (suite, id);

CREATE TABLE columns (
    run INTEGER NOT NULL,
    idx INTEGER NOT NULL,
    name TEXT NOT NULL,
    target TEXT NOT NULL,
    prompt TEXT,
    kind TEXT NOT NULL,
    model TEXT,
    endpoint TEXT NOT NULL,             -- columns of one endpoint share its limiter
    PRIMARY KEY (run, idx)
) WITHOUT ROWID;

CREATE TABLE cases (
    run INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    data TEXT NOT NULL,                 -- JSON, see Case.as_json
    PRIMARY KEY (run, seq)
) WITHOUT ROWID;
CREATE UNIQUE INDEX cases_id ON cases (run, id);

CREATE TABLE outputs (
    id INTEGER PRIMARY KEY,
    generation_key BLOB NOT NULL,
    text TEXT,
    reasoning TEXT,
    messages TEXT,                      -- JSON, NULL: none beyond the text
    fields TEXT,                        -- JSON, NULL: none
    finish_reason TEXT,
    model TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    reasoning_tokens INTEGER,
    cached_tokens INTEGER,
    cost_usd REAL,
    latency_s REAL,
    digest BLOB NOT NULL,
    superseded INTEGER NOT NULL DEFAULT 0,
    at REAL NOT NULL
);
CREATE INDEX outputs_key ON outputs (generation_key) WHERE superseded = 0;

CREATE TABLE trials (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    place INTEGER NOT NULL,             -- in dataset order: case, column, epoch; from 0
    seq INTEGER NOT NULL,
    col INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL,
    verdict TEXT,                       -- only while done
    score REAL,
    generation_key BLOB,                -- NULL: the request could not be rendered
    output INTEGER,
    cached INTEGER NOT NULL DEFAULT 0,  -- its output was another trial's
    attempts INTEGER NOT NULL DEFAULT 0,
    error_kind TEXT,
    error_message TEXT,
    waiting TEXT,                       -- why it waits
    waiting_until REAL,
    latency_s REAL,
    input_tokens INTEGER NOT NULL DEFAULT 0,   -- sums over its attempts in this run
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_usd REAL DEFAULT 0,            -- likewise; NULL: some of it is unknown
    since REAL,                         -- when the present state began
    change INTEGER NOT NULL
);
CREATE UNIQUE INDEX trials_place ON trials (run, place);
CREATE UNIQUE INDEX trials_case ON trials (run, seq, col, epoch);
CREATE INDEX trials_change ON trials (run, change);
CREATE INDEX trials_open ON trials (run, state, place) WHERE state IN ('queued', 'scoring');
CREATE INDEX trials_output ON trials (output) WHERE output IS NOT NULL;

CREATE TABLE tallies (                  -- counted when staged, then kept by the trigger below
    run INTEGER NOT NULL,
    col INTEGER NOT NULL,
    state TEXT NOT NULL,
    verdict TEXT NOT NULL,              -- '' while not done
    n INTEGER NOT NULL,
    score REAL NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    unpriced INTEGER NOT NULL,          -- trials whose cost is unknown
    attempts INTEGER NOT NULL,
    retries INTEGER NOT NULL,
    cached INTEGER NOT NULL,
    PRIMARY KEY (run, col, state, verdict)
) WITHOUT ROWID;
CREATE TRIGGER trials_moved AFTER UPDATE OF
    state, verdict, score, input_tokens, output_tokens, cost_usd, attempts, cached ON trials
BEGIN
    UPDATE tallies SET n = n - 1, score = score - ifnull(OLD.score, 0),
        input_tokens = input_tokens - OLD.input_tokens,
        output_tokens = output_tokens - OLD.output_tokens,
        cost_usd = cost_usd - ifnull(OLD.cost_usd, 0), unpriced = unpriced - (OLD.cost_usd IS NULL),
        attempts = attempts - OLD.attempts, retries = retries - max(OLD.attempts - 1, 0),
        cached = cached - OLD.cached
    WHERE run = OLD.run AND col = OLD.col AND state = OLD.state
        AND verdict = ifnull(OLD.verdict, '');
    INSERT INTO tallies VALUES (
        NEW.run, NEW.col, NEW.state, ifnull(NEW.verdict, ''), 1, ifnull(NEW.score, 0),
        NEW.input_tokens, NEW.output_tokens, ifnull(NEW.cost_usd, 0), NEW.cost_usd IS NULL,
        NEW.attempts, max(NEW.attempts - 1, 0), NEW.cached)
    ON CONFLICT DO UPDATE SET n = n + 1, score = score + excluded.score,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd, unpriced = unpriced + excluded.unpriced,
        attempts = attempts + excluded.attempts, retries = retries + excluded.retries,
        cached = cached + excluded.cached;
END;

CREATE TABLE attempts (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    number INTEGER NOT NULL,            -- from 1, over the whole life of the trial
    state TEXT NOT NULL,                -- sent, answered, failed, cancelled, lost
    sent_at REAL NOT NULL,
    queue_s REAL,                       -- ready, but no slot was free
    wait_s REAL,                        -- backing off, or the endpoint paused everybody
    call_s REAL,                        -- the call itself; NULL: not ended
    error_kind TEXT,
    error_message TEXT,
    status INTEGER,                     -- HTTP
    retry_after_s REAL,
    partial TEXT,                       -- what had arrived when it broke
    output INTEGER,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL
);
CREATE INDEX attempts_trial ON attempts (trial, number);
CREATE INDEX attempts_sent ON attempts (trial) WHERE state = 'sent';
CREATE INDEX attempts_output ON attempts (output) WHERE output IS NOT NULL;

CREATE TABLE scores (
    id INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    output INTEGER,
    scorer TEXT NOT NULL,
    verdict TEXT NOT NULL,
    value REAL,                         -- NULL exactly where ungraded
    raw TEXT,                           -- JSON
    reason TEXT NOT NULL,
    source TEXT NOT NULL,               -- code, judge, human
    weight REAL NOT NULL,
    required INTEGER NOT NULL,
    cached INTEGER NOT NULL DEFAULT 0,  -- a judge's, made of findings that other trials had
    current INTEGER NOT NULL DEFAULT 1, -- the one that counts among its trial's of its scorer
    superseded INTEGER NOT NULL DEFAULT 0,
    withdrawn_at REAL,
    at REAL NOT NULL
);
CREATE INDEX scores_trial ON scores (trial, id);

CREATE TABLE judge_calls (              -- one request to a judge, whole
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    scorer TEXT NOT NULL,
    judge TEXT NOT NULL,
    model TEXT,
    purpose TEXT NOT NULL,              -- grade, audit, gold
    round TEXT NOT NULL,                -- first, or how repair came to ask again
    try INTEGER NOT NULL,               -- from 1; more after faults on the wire
    items INTEGER NOT NULL,
    request TEXT NOT NULL,              -- JSON
    reply TEXT,
    finish_reason TEXT,
    state TEXT NOT NULL,                -- sent, answered, failed, cancelled, lost
    sent_at REAL NOT NULL,
    call_s REAL,
    error_kind TEXT,
    error_message TEXT,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL
);
CREATE INDEX judge_calls_run ON judge_calls (run, id);
CREATE INDEX judge_calls_sent ON judge_calls (run) WHERE state = 'sent';

CREATE TABLE judge_items (              -- what was asked in a judge call, in its order
    call INTEGER NOT NULL,
    position INTEGER NOT NULL,          -- from 0
    trial INTEGER,                      -- NULL: not of a trial, as gold
    repeat INTEGER NOT NULL,
    problem TEXT,                       -- why it was not graded, or not wholly
    PRIMARY KEY (call, position)
) WITHOUT ROWID;
CREATE INDEX judge_items_trial ON judge_items (trial);

CREATE TABLE findings (                 -- what one judge said of one output, once
    id INTEGER PRIMARY KEY,
    trial INTEGER,                      -- NULL: not of a trial, as gold
    output INTEGER,
    scorer TEXT NOT NULL,
    judge TEXT NOT NULL,
    purpose TEXT NOT NULL,              -- grade, audit, gold
    repeat INTEGER NOT NULL,
    numbers TEXT NOT NULL,              -- JSON: the requirements or criteria asked; [0]: the whole
    score_key BLOB NOT NULL,
    made TEXT NOT NULL,                 -- JSON: the parts that were read
    problem TEXT,                       -- why it is not whole; NULL: it is
    call INTEGER,                       -- the last judge call about it; NULL: copied
    position INTEGER,                   -- its place in that call
    origin INTEGER,                     -- the finding it was copied from
    superseded INTEGER NOT NULL DEFAULT 0,
    at REAL NOT NULL
);
CREATE INDEX findings_trial ON findings (trial, id);
CREATE INDEX findings_key ON findings (score_key) WHERE superseded = 0 AND problem IS NULL;

CREATE TABLE trust (                    -- how far a run's judge is to be trusted, as measured
    run INTEGER NOT NULL,
    scorer TEXT NOT NULL,
    judge TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- audit, gold
    key BLOB NOT NULL,                  -- all that the measure depends on
    result TEXT NOT NULL,               -- JSON
    at REAL NOT NULL,
    PRIMARY KEY (run, scorer, judge, kind)
) WITHOUT ROWID;
CREATE INDEX trust_key ON trust (key);

CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    verb TEXT NOT NULL,
    args TEXT NOT NULL,                 -- JSON
    asked_by TEXT NOT NULL,
    asked_at REAL NOT NULL,
    outcome TEXT,                       -- accepted, already, too-early, closed; NULL: pending
    detail TEXT,
    answered_at REAL
);
CREATE INDEX requests_open ON requests (run, id) WHERE outcome IS NULL;

CREATE TABLE limits (                   -- every limit in force, and every change of one
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL,
    endpoint TEXT NOT NULL,
    concurrency INTEGER NOT NULL,
    reason TEXT NOT NULL,
    at REAL NOT NULL
);
CREATE INDEX limits_run ON limits (run, endpoint, id);

CREATE TABLE baselines (
    suite TEXT PRIMARY KEY,
    run INTEGER NOT NULL,
    at REAL NOT NULL
) WITHOUT ROWID;
"""


def first_schema(db: sqlite3.Connection) -> None:
    """Make the tables of all nouns."""
    run_script(db, _FIRST)
