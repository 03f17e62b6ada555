"""The schema of the store, as named migrations: each applied once, appended only.

Times are Unix seconds (REAL), durations seconds, money US dollars; NULL money is unknown money.
Foreign text goes through `text.pack`, because SQLite's TEXT cannot hold lone surrogates.
"""

import sqlite3
import time
from collections.abc import Callable

APPLICATION_ID = 0x7E7A1  # marks the file as ours, see SQLite's PRAGMA application_id

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
    _run_script(db, _FIRST)


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


def notes_on_trials(db: sqlite3.Connection) -> None:
    """Make the table of notes."""
    _run_script(db, _NOTES)


def scores_withdrawn(db: sqlite3.Connection) -> None:
    """Make room for what it takes to let scores count again that a rescore has replaced."""
    _run_script(db, _WITHDRAWING)


def unmet_trials(db: sqlite3.Connection) -> None:
    """Index the trials that did not pass: the next one is found at once in a million."""
    db.execute(
        "CREATE INDEX trials_unmet ON trials (run, place) "
        "WHERE verdict IN ('fail', 'ungraded') OR state = 'error'"
    )


def trials_rescored(db: sqlite3.Connection) -> None:
    """Make room for when a trial was last taken back to scoring; NULL: never, or nobody knows."""
    db.execute("ALTER TABLE trials ADD COLUMN rescored_at REAL")


def findings_spent(db: sqlite3.Connection) -> None:
    """Let a finding answer no other trial any more, once somebody has asked anew.

    Some stores have the column from their first schema.
    """
    if "spent" not in {row[1] for row in db.execute("PRAGMA table_info(findings)")}:
        db.execute("ALTER TABLE findings ADD COLUMN spent INTEGER NOT NULL DEFAULT 0")


_ANSWERS = (  # how an answer ends that is one: without `_`, `-` and spaces, in lower case
    "'', 'stop', 'endturn', 'stopsequence', 'eos', 'eostoken', 'endoftext', 'word', 'complete', "
    "'completed', 'toolcalls', 'toolcall', 'tooluse', 'functioncall', 'functioncalls', 'length', "
    "'maxtokens', 'maxoutputtokens', 'maxcompletiontokens', 'maxlength', 'modellength', "
    "'tokenlimit', 'limit', 'contextlengthexceeded', 'modelcontextwindowexceeded', "
    "'contentfilter', 'contentfiltered', 'safety', 'imagesafety', 'prohibitedcontent', "
    "'blocklist', 'spii', 'refusal', 'guardrailintervened', 'sensitive', 'errortoxic'"
)


def broken_off_outputs(db: sqlite3.Connection) -> None:
    """Let no output be used again that its endpoint has broken off; it stays where it is."""
    db.execute(
        "UPDATE outputs SET superseded = 1 WHERE superseded = 0 AND finish_reason IS NOT NULL "
        "AND replace(replace(replace(lower(finish_reason), '_', ''), '-', ''), ' ', '') "
        f"NOT IN ({_ANSWERS})"
    )


def trials_opened(db: sqlite3.Connection) -> None:
    """Number a trial's openings and a run's scorers: what was begun on earlier ones is stale."""
    db.execute("ALTER TABLE trials ADD COLUMN opening INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE runs ADD COLUMN spec_change INTEGER NOT NULL DEFAULT 0")


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
    _run_script(db, _REOPENED)


def findings_answer_by_key(db: sqlite3.Connection) -> None:
    """Let findings that are a trial's no more answer equal questions, unless they are spent.

    Those that were superseded so far answered nobody: somebody had asked anew.
    """
    db.execute("UPDATE findings SET spent = 1 WHERE superseded = 1")
    db.execute("DROP INDEX findings_key")
    db.execute("CREATE INDEX findings_key ON findings (score_key)")


def calls_estimated(db: sqlite3.Connection) -> None:
    """Make room for about what calls took whose endpoint did not say; NULL: it did."""
    for table in ("attempts", "judge_calls"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN about_tokens INTEGER")
        db.execute(f"ALTER TABLE {table} ADD COLUMN about_usd REAL")


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


def attempts_unanswered(db: sqlite3.Connection) -> None:
    """Index the attempts that nobody waits for any more: they are few, and counted apart."""
    db.execute(
        "CREATE INDEX attempts_unanswered ON attempts (trial) WHERE state IN ('lost', 'cancelled')"
    )


def requests_taken(db: sqlite3.Connection) -> None:
    """Make room for when whoever deals with a request began to; NULL: only the asking is known."""
    db.execute("ALTER TABLE requests ADD COLUMN taken_at REAL")


_ESTIMATED = """
ALTER TABLE trials ADD COLUMN about_usd REAL;   -- cost_usd with estimates for what nobody told;
                                                -- NULL: as cost_usd, or some has no estimate
ALTER TABLE tallies ADD COLUMN about_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE tallies ADD COLUMN unestimated INTEGER NOT NULL DEFAULT 0;  -- of those unpriced
UPDATE tallies SET about_usd = cost_usd, unestimated = unpriced;
DROP TRIGGER trials_moved;
CREATE TRIGGER trials_moved AFTER UPDATE OF state, verdict, score, input_tokens, output_tokens,
    cost_usd, about_usd, attempts, cached ON trials
BEGIN
    UPDATE tallies SET n = n - 1, score = score - ifnull(OLD.score, 0),
        input_tokens = input_tokens - OLD.input_tokens,
        output_tokens = output_tokens - OLD.output_tokens,
        cost_usd = cost_usd - ifnull(OLD.cost_usd, 0), unpriced = unpriced - (OLD.cost_usd IS NULL),
        attempts = attempts - OLD.attempts, retries = retries - max(OLD.attempts - 1, 0),
        cached = cached - OLD.cached,
        about_usd = about_usd - coalesce(OLD.cost_usd, OLD.about_usd, 0),
        unestimated = unestimated - (coalesce(OLD.cost_usd, OLD.about_usd) IS NULL)
    WHERE run = OLD.run AND col = OLD.col AND state = OLD.state
        AND verdict = ifnull(OLD.verdict, '');
    INSERT INTO tallies (run, col, state, verdict, n, score, input_tokens, output_tokens, cost_usd,
        unpriced, attempts, retries, cached, about_usd, unestimated)
    VALUES (
        NEW.run, NEW.col, NEW.state, ifnull(NEW.verdict, ''), 1, ifnull(NEW.score, 0),
        NEW.input_tokens, NEW.output_tokens, ifnull(NEW.cost_usd, 0), NEW.cost_usd IS NULL,
        NEW.attempts, max(NEW.attempts - 1, 0), NEW.cached,
        coalesce(NEW.cost_usd, NEW.about_usd, 0), coalesce(NEW.cost_usd, NEW.about_usd) IS NULL)
    ON CONFLICT DO UPDATE SET n = n + 1, score = score + excluded.score,
        input_tokens = input_tokens + excluded.input_tokens,
        output_tokens = output_tokens + excluded.output_tokens,
        cost_usd = cost_usd + excluded.cost_usd, unpriced = unpriced + excluded.unpriced,
        attempts = attempts + excluded.attempts, retries = retries + excluded.retries,
        cached = cached + excluded.cached, about_usd = about_usd + excluded.about_usd,
        unestimated = unestimated + excluded.unestimated;
END;
UPDATE trials SET about_usd = (
    SELECT iif(count(*) = count(ifnull(a.cost_usd, a.about_usd)),
        sum(ifnull(a.cost_usd, a.about_usd)), NULL)
    FROM attempts a WHERE a.trial = trials.id
        AND (a.state = 'answered' OR a.input_tokens IS NOT NULL OR a.output_tokens IS NOT NULL))
WHERE cost_usd IS NULL AND id IN (SELECT trial FROM attempts WHERE about_usd IS NOT NULL);
"""


def trials_estimated(db: sqlite3.Connection) -> None:
    """Sum up about what trials cost whose endpoint did not say, as the other sums are."""
    _run_script(db, _ESTIMATED)


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
    _run_script(db, _MOVES)


_SOURCES = """
ALTER TABLE columns ADD COLUMN source TEXT NOT NULL DEFAULT 'asked';  -- asked, recorded, simulated
UPDATE columns SET source = CASE kind WHEN 'replay' THEN 'recorded' ELSE kind END
WHERE kind IN ('replay', 'simulated');
"""


def columns_source(db: sqlite3.Connection) -> None:
    """Keep where the answers of each column come from, so that no reader has to know its kind."""
    _run_script(db, _SOURCES)


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
    _run_script(db, _LIMIT_EVENTS)


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
    _run_script(db, _ATTEMPT_RECORDS)


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
    _run_script(db, _KEPT_FILES)


def attempts_printed(db: sqlite3.Connection) -> None:
    """Keep what attempts print beside their outputs, where something runs that can print."""
    db.execute("ALTER TABLE attempts ADD COLUMN printed TEXT")


_LONG_TEXTS = """
CREATE TABLE long_texts (               -- of messages, once each
    digest BLOB PRIMARY KEY,            -- SHA-256 of its UTF-8
    characters INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE output_texts (             -- where in an output's messages they are cut
    output INTEGER NOT NULL,
    place TEXT NOT NULL,                -- JSON: the message's number, then keys
    digest BLOB NOT NULL,
    PRIMARY KEY (output, place)
) WITHOUT ROWID;
CREATE INDEX output_texts_digest ON output_texts (digest);
"""


def long_texts_once(db: sqlite3.Connection) -> None:
    """Make room for long texts of messages beside them; earlier ones stay as they are."""
    _run_script(db, _LONG_TEXTS)


def attempts_history(db: sqlite3.Connection) -> None:
    """Keep what attempts told while they ran: when each phase began, and what they took."""
    db.execute("ALTER TABLE attempt_records ADD COLUMN phases TEXT")  # [[name, seconds], ...]
    db.execute("ALTER TABLE attempt_records ADD COLUMN samples TEXT")  # [[seconds, cpu, rss], ...]


def attempts_turns(db: sqlite3.Connection) -> None:
    """Keep when each reply of an attempt's assistant was first seen: [seconds, ...]."""
    db.execute("ALTER TABLE attempt_records ADD COLUMN turns TEXT")


def columns_version(db: sqlite3.Connection) -> None:
    """Keep what each column's target said its version is: an engine that goes on compares it."""
    db.execute("ALTER TABLE columns ADD COLUMN version TEXT")


_SELF_REPORTED = """
ALTER TABLE outputs ADD COLUMN self_reported INTEGER NOT NULL DEFAULT 0;  -- usage and cost_usd
UPDATE outputs SET self_reported = 1, cost_usd = a.about_usd FROM attempts a
WHERE a.output = outputs.id AND a.about_tokens = 0 AND a.about_usd IS NOT NULL;
"""


def outputs_self_reported(db: sqlite3.Connection) -> None:
    """Keep whose word it is what an output took: until now only an agent's money told."""
    _run_script(db, _SELF_REPORTED)


def scores_by_key(db: sqlite3.Connection) -> None:
    """Let a grade that a program gave be found by all that decided it; NULL: no program did."""
    db.execute("ALTER TABLE scores ADD COLUMN score_key BLOB")
    db.execute("CREATE INDEX scores_key ON scores (score_key) WHERE score_key IS NOT NULL")


_CONVERSATIONS = """
CREATE TABLE conversation_calls (       -- replies of conversations whose output is still to come
    trial INTEGER NOT NULL,
    number INTEGER NOT NULL,            -- in the conversation, from 0
    party TEXT NOT NULL,                -- who was asked: target, user
    asked BLOB NOT NULL,                -- digest of all that was asked
    said TEXT NOT NULL,                 -- JSON: messages since the reply before
    reply TEXT NOT NULL,                -- JSON, see model.stored_reply
    PRIMARY KEY (trial, number)
) WITHOUT ROWID;
CREATE TABLE attempt_calls (            -- of attempts that make several, those that were answered
    attempt INTEGER PRIMARY KEY,
    trial INTEGER NOT NULL,
    calls INTEGER NOT NULL DEFAULT 0,   -- what they took is in attempts
    user_calls INTEGER NOT NULL DEFAULT 0,
    user_input_tokens INTEGER NOT NULL DEFAULT 0,
    user_output_tokens INTEGER NOT NULL DEFAULT 0,
    user_usd REAL DEFAULT 0,            -- NULL: some of it is unknown
    user_about_usd REAL                 -- that, and estimates; NULL: nothing is estimated
);
CREATE INDEX attempt_calls_trial ON attempt_calls (trial);
"""


def conversations(db: sqlite3.Connection) -> None:
    """Keep each reply within a conversation until its output is there, and what calls took."""
    _run_script(db, _CONVERSATIONS)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
    first_schema,
    notes_on_trials,
    scores_withdrawn,
    unmet_trials,
    trials_rescored,
    findings_spent,
    broken_off_outputs,
    trials_opened,
    trials_rescored_from,
    findings_answer_by_key,
    calls_estimated,
    runs_data_files,
    engine_clocks,
    attempts_unanswered,
    requests_taken,
    trials_estimated,
    moves_of_requests,
    columns_source,
    limits_with_kinds,
    attempts_timed_out,
    attempts_unsent,
    attempts_of_programs,
    files_of_workspaces,
    attempts_printed,
    long_texts_once,
    attempts_history,
    attempts_turns,
    columns_version,
    outputs_self_reported,
    scores_by_key,
    conversations,
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


def _run_script(db: sqlite3.Connection, script: str) -> None:
    # executescript() would commit the transaction this runs in
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
