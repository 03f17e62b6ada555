"""Cases and trials of a run that wants the same as an earlier one: copied, row by row, in SQL."""

from dataclasses import dataclass

from tui_eval.store.tx import Tx

_ALIKE = (
    "SELECT id, total, partial FROM runs WHERE staged_as = ?1 AND id <> ?2 AND staged = 1 "
    "AND spec_change = 0 AND total > 0 AND stopped_by IS NOT 'deletion' "
)
"""Runs that wanted the same and have the scorers that they were launched with."""

_DECIDED = (
    "(SELECT ifnull(min(s.source = 'code' AND s.score_key IS NULL AND s.superseded = 0 "
    "AND s.withdrawn_at IS NULL AND s.output IS t.output AND s.verdict IN ('pass', 'fail')), 1) "
    "FROM scores s WHERE s.trial = t.id)"
)
"""Whether rules alone have decided about a trial, and nobody has touched it since. What is ungraded
may be so for want of something that is there now."""

_TRIALS = f"""
INSERT INTO trials (id, run, place, seq, col, epoch, state, verdict, score, generation_key, output,
    cached, latency_s, since, change)
SELECT place + ?5, ?1, place, seq, col, epoch,
    CASE WHEN output IS NULL THEN 'queued' WHEN decided THEN 'done' ELSE 'scoring' END,
    iif(decided, verdict, NULL), iif(decided, score, NULL), generation_key, output,
    output IS NOT NULL, latency_s, ?6, ?7
FROM (
    SELECT t.place, t.seq, t.col, t.epoch, t.verdict, t.score, t.generation_key, o.id AS output,
        o.latency_s, t.output IS NOT NULL AND t.output = o.id AND t.state = 'done' AND {_DECIDED}
        AS decided
    FROM trials t LEFT JOIN outputs o ON o.id = (
        SELECT id FROM outputs WHERE generation_key = t.generation_key AND superseded = 0
        ORDER BY id DESC LIMIT 1)
    WHERE t.run = ?2 AND t.place >= ?3 AND t.place < ?4 ORDER BY t.place
)
"""

_SCORES = """
INSERT INTO scores
    (trial, output, scorer, verdict, value, raw, reason, source, weight, required, at)
SELECT n.id, n.output, s.scorer, s.verdict, s.value, s.raw, s.reason, s.source, s.weight,
    s.required, ?5
FROM trials n JOIN trials t ON t.run = ?2 AND t.place = n.place JOIN scores s ON s.trial = t.id
WHERE n.run = ?1 AND n.place >= ?3 AND n.place < ?4 AND n.state = 'done' ORDER BY n.place, s.id
"""

_CASES = """
INSERT INTO cases (run, seq, id, data, number) SELECT ?1, seq, id, data, number FROM cases
WHERE run = ?2 AND seq > ifnull((SELECT max(seq) FROM cases WHERE run = ?1), -1)
AND seq <= (SELECT seq FROM trials WHERE run = ?1 ORDER BY place DESC LIMIT 1)
"""

_TALLIES = """
INSERT INTO tallies (run, col, state, verdict, n, score, input_tokens, output_tokens, cost_usd,
    unpriced, attempts, retries, cached)
SELECT run, col, state, ifnull(verdict, ''), count(*), sum(ifnull(score, 0)), 0, 0, 0, 0, 0, 0,
    sum(cached)
FROM trials WHERE run = ?1 AND place >= ?2 AND place < ?3 GROUP BY 1, 2, 3, 4
ON CONFLICT DO UPDATE SET n = n + excluded.n, score = score + excluded.score,
    cached = cached + excluded.cached
"""


@dataclass(frozen=True, slots=True)
class FormerRun:
    """A run that was staged with the same as another one."""

    id: int
    staged_as: bytes
    total: int
    """Its trials."""
    partial: bool
    """Whether it leaves cases or targets of its suite out."""


def former_run(tx: Tx, staged_as: bytes, run: int) -> FormerRun | None:
    """Return the newest other run that was staged with the same; None: there is none."""
    row = tx.db.execute(f"{_ALIKE}ORDER BY id DESC LIMIT 1", (staged_as, run)).fetchone()
    return None if row is None else FormerRun(row[0], staged_as, row[1], bool(row[2]))


def copy_portion(tx: Tx, run: int, former: FormerRun, first: int, end: int) -> int | None:
    """Copy the trials from place `first` to before `end`, and their cases.

    Each begins with the newest output that its key has. It is done where that is the output the
    former run's trial has, and rules have decided about it; else it waits to be scored, or asked.

    Returns:
        How many trials came; None where the former run is another one by now.
    """
    there = tx.db.execute(f"{_ALIKE}AND id = ?3", (former.staged_as, run, former.id)).fetchone()
    if there is None:
        return None
    (base,) = tx.db.execute("SELECT ifnull(max(id), 0) + 1 - ? FROM trials", (first,)).fetchone()
    places = (run, former.id, first, end)
    came = tx.db.execute(_TRIALS, (*places, base, tx.now, tx.change)).rowcount
    tx.db.execute(_SCORES, (*places, tx.now))
    tx.db.execute(_CASES, (run, former.id))
    tx.db.execute(_TALLIES, (run, first, end))
    return came
