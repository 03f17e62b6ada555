"""Which of two outputs of one trial counts, where a trial is in both stores.

One that is superseded in either store never does; of two that stand the earlier does; of one
output, what was last done with it. So it does not matter which store is merged first.
"""

import sqlite3
from typing import Final

from tui_eval.store.merge.copying import change
from tui_eval.store.tx import Tx

LAST: Final = (
    "max(ifnull({0}.since, 0), ifnull((SELECT max(max(x.at, ifnull(x.withdrawn_at, 0))) "
    "FROM {1}.scores x WHERE x.trial = {0}.id), 0))"
)
"""When something was last done with a trial."""
_SETTLED: Final = "({0}.state IN ('done', 'error', 'cancelled'))"


def decide(db: sqlite3.Connection) -> None:
    """Fill `verdicts` with the trials of the portion that were here, before their scores came."""
    later = f"{LAST.format('s', 'src')} > {LAST.format('d', 'main')}"
    settled_there, settled_here = _SETTLED.format("s"), _SETTLED.format("d")
    db.execute("DELETE FROM temp.verdicts")
    db.execute(
        "INSERT INTO temp.verdicts SELECT m.dst, CASE "
        f"WHEN o.dst IS d.output AND d.output IS NULL AND {settled_there} <> {settled_here} "
        f"THEN {settled_there} "
        f"WHEN o.dst IS d.output THEN {later} "
        "WHEN ifnull(po.superseded, 1) <> ifnull(ho.superseded, 1) "
        "THEN ifnull(po.superseded, 1) = 0 "
        f"WHEN ifnull(po.superseded, 1) = 1 THEN {later} "
        "ELSE (po.at, po.digest) < (ho.at, ho.digest) END, o.dst IS d.output "
        "FROM temp.map_trials m JOIN src.trials s ON s.id = m.src "
        "JOIN main.trials d ON d.id = m.dst "
        "LEFT JOIN temp.map_outputs o ON o.src = s.output "
        "LEFT JOIN main.outputs po ON po.id = o.dst LEFT JOIN main.outputs ho ON ho.id = d.output "
        "WHERE NOT m.fresh"
    )


def apply(tx: Tx) -> None:
    """Have the trials that were here be what `verdicts` says, once all their facts are there."""
    db = tx.db
    _supersede(db)
    db.execute(
        "UPDATE main.scores SET current = 0, superseded = max(superseded, "
        "(SELECT NOT same FROM temp.verdicts WHERE dst = trial)) "
        "WHERE trial IN (SELECT dst FROM temp.verdicts WHERE wins)"
    )
    won = "temp.verdicts v CROSS JOIN temp.map_trials m ON m.dst = v.dst AND v.wins CROSS JOIN"
    change(  # what counts there counts here
        db,
        "UPDATE main.scores SET current = ?, superseded = ?, withdrawn_at = ? WHERE id = ?",
        f"SELECT s.current, s.superseded, s.withdrawn_at, d.id FROM {won} src.scores s "
        "ON s.trial = m.src CROSS JOIN main.scores d ON d.trial = m.dst AND d.scorer = s.scorer "
        "AND d.at = s.at AND d.source = s.source "
        "AND d.output IS (SELECT dst FROM temp.map_outputs WHERE src = s.output)",
    )
    change(  # likewise what judges said
        db,
        "UPDATE main.findings SET superseded = ? WHERE id = ?",
        f"SELECT s.superseded, f.dst FROM {won} src.findings s ON s.trial = m.src "
        "CROSS JOIN temp.map_findings f ON f.src = s.id",
    )
    db.execute(
        "UPDATE main.trials SET (state, verdict, score, generation_key, output, cached, "
        "error_kind, error_message, latency_s, since) = (SELECT "
        "iif(s.state = 'running', 'queued', s.state), s.verdict, s.score, s.generation_key, "
        "o.dst, s.cached, s.error_kind, s.error_message, s.latency_s, s.since "
        "FROM temp.map_trials m JOIN src.trials s ON s.id = m.src "
        "LEFT JOIN temp.map_outputs o ON o.src = s.output WHERE m.dst = main.trials.id) "
        "WHERE id IN (SELECT dst FROM temp.verdicts WHERE wins)"
    )
    _add_up(db)
    db.execute(
        "UPDATE main.trials SET change = ? WHERE id IN (SELECT dst FROM temp.verdicts)",
        (tx.change,),
    )


def _supersede(db: sqlite3.Connection) -> None:
    """Supersede the output of either side that does not count, with all that was said of it."""
    db.execute(
        "UPDATE main.outputs SET superseded = 1 WHERE superseded = 0 AND id IN ("
        "SELECT iif(v.wins, d.output, o.dst) FROM temp.verdicts v "
        "JOIN main.trials d ON d.id = v.dst JOIN temp.map_trials m ON m.dst = v.dst "
        "JOIN src.trials s ON s.id = m.src LEFT JOIN temp.map_outputs o ON o.src = s.output "
        "WHERE NOT v.same)"
    )
    for table in ("scores", "findings"):
        db.execute(
            f"UPDATE main.{table} SET superseded = 1 WHERE superseded = 0 "
            "AND trial IN (SELECT dst FROM temp.verdicts WHERE NOT same) "
            "AND output IN (SELECT id FROM main.outputs o WHERE o.id = output AND o.superseded)"
        )


def _add_up(db: sqlite3.Connection) -> None:
    """Add what attempts took that are new here to the trials that were here."""
    unknown = (
        "a.cost_usd IS NULL AND (a.state = 'answered' OR a.input_tokens IS NOT NULL "
        "OR a.output_tokens IS NOT NULL)"
    )
    db.execute(
        "UPDATE main.trials AS t SET attempts = t.attempts + n.attempts, "
        "input_tokens = t.input_tokens + n.input, output_tokens = t.output_tokens + n.output, "
        "cost_usd = t.cost_usd + iif(n.unknown, NULL, n.usd), "
        "about_usd = iif(n.unknown OR t.about_usd IS NOT NULL, "
        "ifnull(t.about_usd, t.cost_usd) + n.about, NULL) "
        "FROM (SELECT a.trial AS trial, count(*) AS attempts, "
        "sum(ifnull(a.input_tokens, 0)) AS input, sum(ifnull(a.output_tokens, 0)) AS output, "
        f"sum(ifnull(a.cost_usd, 0)) AS usd, max({unknown}) AS unknown, "
        f"iif(max({unknown} AND a.about_usd IS NULL), NULL, "
        "sum(coalesce(a.cost_usd, a.about_usd, 0))) AS about "
        "FROM temp.map_attempts x JOIN main.attempts a ON a.id = x.dst WHERE x.fresh "
        "AND a.trial IN (SELECT dst FROM temp.verdicts) GROUP BY a.trial) n WHERE t.id = n.trial"
    )
