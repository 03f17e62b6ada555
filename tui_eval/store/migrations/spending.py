"""Money that is estimated where nobody told it."""

import sqlite3

from tui_eval.store.migrations.script import run_script


def calls_estimated(db: sqlite3.Connection) -> None:
    """Make room for about what calls took whose endpoint did not say; NULL: it did."""
    for table in ("attempts", "judge_calls"):
        db.execute(f"ALTER TABLE {table} ADD COLUMN about_tokens INTEGER")
        db.execute(f"ALTER TABLE {table} ADD COLUMN about_usd REAL")


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
    run_script(db, _ESTIMATED)
