"""What people asked of runs, and what came of it."""

import sqlite3

from tui_eval.store.migrations.script import run_script


def trials_opened(db: sqlite3.Connection) -> None:
    """Number a trial's openings and a run's scorers: what was begun on earlier ones is stale."""
    db.execute("ALTER TABLE trials ADD COLUMN opening INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE runs ADD COLUMN spec_change INTEGER NOT NULL DEFAULT 0")


def requests_taken(db: sqlite3.Connection) -> None:
    """Make room for when whoever deals with a request began to; NULL: only the asking is known."""
    db.execute("ALTER TABLE requests ADD COLUMN taken_at REAL")


_MOVES = """
CREATE TABLE moves (                    -- what requests did to trials, oldest first
    id INTEGER PRIMARY KEY,
    request INTEGER NOT NULL,
    trial INTEGER NOT NULL,
    state TEXT,                         -- the trial's before; NULL: an earlier version moved it
    since REAL,                         -- likewise, as the next two
    error_kind TEXT,
    error_message TEXT,
    last_score INTEGER,                 -- its newest score then, 0: none; NULL: it was cancelled
    last_finding INTEGER,               -- likewise
    undone_by INTEGER,                  -- the request that took it back; NULL: it stands
    at REAL                             -- shown, never compared; NULL: nobody knows
);
CREATE UNIQUE INDEX moves_request ON moves (request, trial);
CREATE INDEX moves_trial ON moves (trial);
CREATE INDEX moves_undone ON moves (undone_by) WHERE undone_by IS NOT NULL;
ALTER TABLE scores ADD COLUMN superseded_by INTEGER;    -- a request; NULL: none that is known
ALTER TABLE findings ADD COLUMN superseded_by INTEGER;  -- likewise

CREATE TEMP TABLE spans AS              -- when requests were dealt with: all that there was before
SELECT r.id AS request, r.run, r.verb, ifnull(r.taken_at, r.asked_at) AS first,
    ifnull(r.answered_at, 9e999) AS last,
    ifnull((SELECT max(b.answered_at) FROM requests b WHERE b.run = r.run AND b.id < r.id
        AND b.outcome = 'accepted' AND b.answered_at < ifnull(r.answered_at, 9e999)), 0) AS before
FROM requests r WHERE r.verb IN ('cancel', 'cancel-run', 'rescore', 'retry', 'resume')
    AND (r.outcome = 'accepted' OR (r.outcome IS NULL AND r.taken_at IS NOT NULL));
CREATE INDEX temp.spans_run ON spans (run);
CREATE TEMP TABLE found AS
SELECT request, verb, run, trial, min(at) AS at, max(at) AS until FROM (
    SELECT p.request, p.verb, p.run, t.id AS trial, s.superseded_at AS at
    FROM scores s JOIN trials t ON t.id = s.trial JOIN spans p ON p.run = t.run
        AND p.verb IN ('rescore', 'retry', 'resume')
        AND s.superseded_at BETWEEN p.first AND p.last AND s.superseded_at > p.before
    WHERE s.superseded_at IS NOT NULL
    UNION ALL
    SELECT p.request, p.verb, p.run, t.id, t.rescored_at FROM trials t
    JOIN spans p ON p.run = t.run AND p.verb IN ('rescore', 'resume')
        AND t.rescored_at BETWEEN p.first AND p.last AND t.rescored_at > p.before
    WHERE t.rescored_at IS NOT NULL
    UNION ALL
    SELECT p.request, p.verb, p.run, t.id, t.since FROM trials t
    JOIN spans p ON p.run = t.run AND p.verb IN ('cancel', 'cancel-run')
        AND t.since BETWEEN p.first AND p.last AND t.since > p.before
    WHERE t.state = 'cancelled')
GROUP BY request, trial;
INSERT INTO moves (request, trial, state, since, error_kind, error_message, last_score,
    last_finding, at)
SELECT found.request, found.trial, from_.state, from_.since, from_.error_kind, from_.error_message,
    CASE WHEN verb NOT LIKE 'cancel%' THEN ifnull(
        (SELECT max(s.id) FROM scores s WHERE s.trial = found.trial AND s.at < found.at), 0) END,
    CASE WHEN verb NOT LIKE 'cancel%' THEN ifnull(
        (SELECT max(f.id) FROM findings f WHERE f.trial = found.trial AND f.at < found.at), 0) END,
    found.at
FROM found LEFT JOIN rescored_from from_ ON from_.rowid = (
    SELECT o.rowid FROM rescored_from o WHERE o.trial = found.trial
        AND o.at BETWEEN found.at AND found.until ORDER BY o.at LIMIT 1)
ORDER BY found.at, found.request, found.trial;
UPDATE scores SET superseded_by = (
    SELECT m.request FROM moves m JOIN spans p ON p.request = m.request
    WHERE m.trial = scores.trial AND scores.id <= m.last_score
        AND scores.superseded_at BETWEEN p.first AND p.last AND scores.superseded_at > p.before)
WHERE superseded_at IS NOT NULL;
UPDATE findings SET superseded_by = (
    SELECT m.request FROM moves m JOIN spans p ON p.request = m.request
    WHERE m.trial = findings.trial AND findings.id <= m.last_finding
        AND findings.superseded_at BETWEEN p.first AND p.last
        AND findings.superseded_at > p.before)
WHERE superseded_at IS NOT NULL AND trial IS NOT NULL;
UPDATE moves SET state = 'done' WHERE state IS NULL AND last_score > 0 AND EXISTS (
    SELECT 1 FROM scores s WHERE s.trial = moves.trial AND s.id <= moves.last_score
        AND (s.current = 1 OR s.superseded_by = moves.request));
DROP TABLE temp.found;
DROP TABLE temp.spans;
DROP TABLE rescored_from;
ALTER TABLE scores DROP COLUMN superseded_at;
ALTER TABLE findings DROP COLUMN superseded_at;
ALTER TABLE trials DROP COLUMN rescored_at;
ALTER TABLE requests DROP COLUMN taken_at;
DELETE FROM meta WHERE name LIKE 'request %';
"""


def moves_of_requests(db: sqlite3.Connection) -> None:
    """Make the table of what requests did to trials, which was known by when before."""
    run_script(db, _MOVES)
