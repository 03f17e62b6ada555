"""Copying what trials have left: each fact once, known by what it says.

Every function works on the trials of a portion, as `map_trials` names them, in one transaction.
What is new goes by the flags it has there; where the trial was here already, what becomes of its
flags is decided by `standing`.
"""

import sqlite3
from typing import Final

from tui_eval.store.merge.copying import OF_TRIALS, copy, match

_TRIALS: Final = "(SELECT src FROM map_trials)"
NEWER_MEASURE: Final = (
    "NOT EXISTS (SELECT 1 FROM main.trust d WHERE d.run = {} AND d.scorer = s.scorer "
    "AND d.judge = s.judge AND d.kind = s.kind AND (d.at, d.key) >= (s.at, s.key))"
)
"""Whether a measure `s` of a judge there is newer than that of a run here."""


def outputs(db: sqlite3.Connection) -> int:
    """Take the outputs that trials, their attempts and their grades name, with their long texts.

    Returns:
        The id of the last output that was here before.
    """
    named = (
        f"SELECT output FROM src.trials WHERE id IN {_TRIALS} "
        f"UNION SELECT output FROM src.attempts WHERE trial IN {_TRIALS} "
        f"UNION SELECT output FROM src.scores WHERE trial IN {_TRIALS} "
        f"UNION SELECT output FROM src.findings WHERE trial IN {_TRIALS} "
        f"UNION SELECT output FROM src.grades WHERE trial IN {_TRIALS}"
    )
    alike = "o.generation_key = s.generation_key AND o.digest = s.digest AND o.at = s.at"
    of_attempts = (
        "(SELECT o.id FROM src.attempts a JOIN map_trials m ON m.src = a.trial AND NOT m.fresh "
        "JOIN main.attempts b ON b.trial = m.dst JOIN main.outputs o ON o.id = b.output "
        f"WHERE a.output = s.id AND {alike})"
    )
    by_key = (
        "(SELECT o.id FROM main.outputs o WHERE s.generation_key <> x'' AND o.superseded = 0 "
        f"AND {alike})"
    )
    match(db, "outputs", named, f"coalesce({by_key}, {of_attempts})")
    (last,) = db.execute("SELECT ifnull(max(id), 0) FROM main.outputs").fetchone()
    fresh = "map_outputs m CROSS JOIN src.{} s ON s.{} = m.src AND m.dst > ?1"
    copy(db, "outputs", fresh.format("outputs", "id"), {"id": "m.dst"}, parameters=(last,))
    texts = fresh.format("output_texts", "output")
    copy(db, "output_texts", texts, {"output": "m.dst"}, parameters=(last,))
    wanted = f"SELECT s.digest FROM {texts}"
    copy(
        db,
        "long_texts",
        f"src.long_texts s WHERE s.digest IN ({wanted})",
        {},
        how="INSERT OR IGNORE",
        parameters=(last,),
    )
    db.execute(  # superseded there or here: found by no key any more
        "UPDATE main.outputs SET superseded = 1 WHERE superseded = 0 AND id IN ("
        "SELECT o.dst FROM map_trials m CROSS JOIN src.attempts a ON a.trial = m.src "
        "CROSS JOIN map_outputs o ON o.src = a.output AND NOT o.fresh "
        "CROSS JOIN src.outputs s ON s.id = o.src AND s.superseded = 1)"
    )
    return int(last)


def workspaces(db: sqlite3.Connection, last: int) -> list[bytes]:
    """Name the files that programs left; return the digests of those that are new here.

    Args:
        db: The connection.
        last: The last output that was here before, see `outputs`.
    """
    left = (
        "SELECT o.workspace FROM map_outputs m CROSS JOIN src.outputs o ON o.id = m.src "
        f"AND m.dst > {int(last)} WHERE o.workspace IS NOT NULL "
        "UNION SELECT workspace FROM src.attempt_records "
        f"WHERE trial IN {_TRIALS} AND workspace IS NOT NULL"
    )
    files = f"src.workspace_files s WHERE s.workspace IN ({left})"
    new = db.execute(
        f"SELECT DISTINCT s.file FROM {files} "
        "AND s.file NOT IN (SELECT digest FROM main.kept_files)"
    ).fetchall()
    copy(db, "workspace_files", files, {}, how="INSERT OR IGNORE")
    kept = f"src.kept_files s WHERE s.digest IN (SELECT s.file FROM {files})"
    copy(db, "kept_files", kept, {}, how="INSERT OR IGNORE")
    return [digest for (digest,) in new]


def attempts(db: sqlite3.Connection) -> None:
    """Take attempts with what they left; those that were in flight are lost."""
    db.execute("DELETE FROM temp.map_attempts")
    match(
        db,
        "attempts",
        f"SELECT id FROM src.attempts WHERE trial IN {_TRIALS}",
        "(SELECT d.id FROM map_trials m JOIN main.attempts d ON d.trial = m.dst "
        "AND d.sent_at = s.sent_at WHERE m.src = s.trial AND NOT m.fresh)",
    )
    fresh = (
        "map_attempts a CROSS JOIN src.{} s ON s.{} = a.src AND a.fresh "
        "CROSS JOIN map_trials m ON m.src = s.trial"
    )
    output = "(SELECT dst FROM map_outputs WHERE src = s.output)"
    copy(
        db,
        "attempts",
        fresh.format("attempts", "id"),
        {
            "id": "a.dst",
            "trial": "m.dst",
            "output": output,
            "state": "iif(s.state = 'sent', 'lost', s.state)",
        },
    )
    for table in ("attempt_records", "attempt_calls"):
        rows = fresh.format(table, "attempt")
        copy(db, table, rows, {"attempt": "a.dst", "trial": "m.dst"})
    _number_anew(db)


def _number_anew(db: sqlite3.Connection) -> None:
    """Number the attempts of trials that have some of both stores, as they were sent."""
    db.execute(
        "UPDATE main.attempts SET number = n.number FROM (SELECT d.id AS id, row_number() OVER "
        "(PARTITION BY d.trial ORDER BY d.sent_at, d.id) AS number FROM main.attempts d "
        "WHERE d.trial IN (SELECT m.dst FROM map_attempts a JOIN src.attempts s ON s.id = a.src "
        "JOIN map_trials m ON m.src = s.trial AND NOT m.fresh WHERE a.fresh)) n "
        "WHERE main.attempts.id = n.id AND main.attempts.number <> n.number"
    )


def replies(db: sqlite3.Connection) -> None:
    """Take the replies that unfinished conversations go on after."""
    copy(
        db,
        "conversation_calls",
        f"{OF_TRIALS.format('conversation_calls')} AND m.fresh",
        {"trial": "m.dst"},
    )


def judge_calls(db: sqlite3.Connection, source: int, run: int) -> None:
    """Take the calls to judges of a run, once for all its trials.

    Args:
        db: The connection.
        source: The run there.
        run: The run here.
    """
    db.execute("DROP TABLE IF EXISTS temp.calls_here")
    db.execute(
        "CREATE TEMP TABLE calls_here AS SELECT id, sent_at FROM main.judge_calls WHERE run = ?",
        (run,),
    )
    db.execute("CREATE INDEX temp.calls_here_sent ON calls_here (sent_at)")
    (last,) = db.execute("SELECT ifnull(max(id), 0) FROM main.judge_calls").fetchone()
    match(
        db,
        "judge_calls",
        f"SELECT id FROM src.judge_calls WHERE run = {int(source)}",
        "(SELECT d.id FROM temp.calls_here c CROSS JOIN main.judge_calls d ON d.id = c.id "
        "WHERE c.sent_at = s.sent_at "
        "AND d.scorer = s.scorer AND d.judge = s.judge AND d.request = s.request)",
    )
    copy(
        db,
        "judge_calls",
        "map_calls m CROSS JOIN src.judge_calls s ON s.id = m.src AND m.dst > ?2",
        {"id": "m.dst", "run": "?1", "state": "iif(s.state = 'sent', 'lost', s.state)"},
        parameters=(run, last),
    )
    copy(  # asked of no trial: gold
        db,
        "judge_items",
        "map_calls m CROSS JOIN src.judge_items s ON s.call = m.src AND m.dst > ?1 "
        "WHERE s.trial IS NULL",
        {"call": "m.dst"},
        parameters=(last,),
    )
    copy(
        db,
        "findings",
        "src.findings s JOIN map_calls m ON m.src = s.call AND m.dst > ?1 WHERE s.trial IS NULL",
        {
            "id": "NULL",
            "call": "m.dst",
            "output": "NULL",
            "origin": "NULL",
            "superseded_by": "NULL",
        },
        parameters=(last,),
    )


def judge_items(db: sqlite3.Connection) -> None:
    """Take what was asked about trials."""
    copy(
        db,
        "judge_items",
        f"{OF_TRIALS.format('judge_items')} CROSS JOIN map_calls c ON c.src = s.call",
        {"call": "c.dst", "trial": "m.dst"},
        how="INSERT OR IGNORE",
    )


def scores(db: sqlite3.Connection) -> None:
    """Take scores; which of them count where the trial was here is decided by `standing`."""
    output = "(SELECT dst FROM map_outputs WHERE src = s.output)"
    copy(
        db,
        "scores",
        f"{OF_TRIALS.format('scores')} AND NOT (NOT m.fresh AND EXISTS ("
        "SELECT 1 FROM main.scores d WHERE d.trial = m.dst AND d.scorer = s.scorer "
        f"AND d.at = s.at AND d.source = s.source AND d.output IS {output}))",
        {
            "id": "NULL",
            "trial": "m.dst",
            "output": output,
            "current": "iif(m.fresh, s.current, 0)",
            "superseded_by": "NULL",
        },
    )


def grades(db: sqlite3.Connection, run: int) -> None:
    """Take the grades that people gave to measure judges by; the newest of a person counts."""
    taken = copy(
        db,
        "grades",
        f"{OF_TRIALS.format('grades')} WHERE NOT EXISTS (SELECT 1 FROM main.grades d "
        "WHERE d.trial = m.dst AND d.scorer = s.scorer AND d.person = s.person AND d.at = s.at)",
        {
            "id": "NULL",
            "run": "?1",
            "trial": "m.dst",
            "output": "(SELECT dst FROM map_outputs WHERE src = s.output)",
        },
        parameters=(run,),
    )
    if not taken:
        return
    # the newest is the one that was written down last
    db.execute("DROP TABLE IF EXISTS temp.sorted_grades")
    db.execute(
        "CREATE TEMP TABLE sorted_grades AS SELECT * FROM main.grades WHERE trial IN "
        "(SELECT dst FROM map_trials WHERE NOT fresh) ORDER BY at, person, scorer"
    )
    db.execute("DELETE FROM main.grades WHERE id IN (SELECT id FROM temp.sorted_grades)")
    copy(db, "grades", "temp.sorted_grades s ORDER BY s.rowid", {"id": "NULL"})


def notes(db: sqlite3.Connection) -> None:
    """Take what people wrote on trials; the newest of each counts."""
    copy(
        db,
        "notes",
        f"{OF_TRIALS.format('notes')} WHERE NOT EXISTS (SELECT 1 FROM main.notes d "
        "WHERE d.trial = m.dst AND d.at = s.at AND d.text = s.text)",
        {"id": "NULL", "trial": "m.dst", "current": "0"},
    )
    noted = f"SELECT m.dst FROM {OF_TRIALS.format('notes')}"
    db.execute(f"UPDATE main.notes SET current = 0 WHERE trial IN ({noted})")
    db.execute(
        "UPDATE main.notes SET current = 1 WHERE text <> '' AND id IN (SELECT id FROM "
        "(SELECT id, row_number() OVER (PARTITION BY trial ORDER BY at DESC, text DESC) AS n "
        f"FROM main.notes WHERE trial IN ({noted})) WHERE n = 1)"
    )


def of_run(db: sqlite3.Connection, source: int, run: int) -> None:
    """Take what a run has beside its trials: limits that were in force, how far judges are trusted.

    Of two measures of one judge the newer counts.

    Args:
        db: The connection.
        source: The run there.
        run: The run here.
    """
    copy(
        db,
        "limits",
        "src.limits s WHERE s.run = ?2 AND NOT EXISTS (SELECT 1 FROM main.limits d "
        "WHERE d.run = ?1 AND d.endpoint = s.endpoint AND d.at = s.at AND d.kind = s.kind)",
        {"id": "NULL", "run": "?1"},
        parameters=(run, source),
    )
    copy(
        db,
        "trust",
        f"src.trust s WHERE s.run = ?2 AND {NEWER_MEASURE.format('?1')}",
        {"run": "?1"},
        how="INSERT OR REPLACE",
        parameters=(run, source),
    )
    copy(
        db,
        "sweep_levels",
        "src.sweep_levels s WHERE s.run = ?2",
        {"run": "?1"},
        how="INSERT OR IGNORE",
        parameters=(run, source),
    )
    parts = "src.run_parts s WHERE s.run = ?2"
    copy(db, "run_parts", parts, {"run": "?1"}, how="INSERT OR IGNORE", parameters=(run, source))
