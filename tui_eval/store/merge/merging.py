"""Merging a whole store into another, run by run, in portions that each leave it whole."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tui_eval.store import lease
from tui_eval.store.files import FileStore
from tui_eval.store.merge import facts, lacking, numbering, standing, taking_run
from tui_eval.store.merge.copying import copy, make_maps
from tui_eval.store.merge.findings import findings
from tui_eval.store.merge.sources import (
    SourceRun,
    attached,
    source_runs,
    taken,
    target_of,
    unlike,
)
from tui_eval.store.merge.taking_run import name_of
from tui_eval.store.merge.workspaces import WorkspaceFiles
from tui_eval.store.opening.store_file import place_of
from tui_eval.store.tx import Tx
from tui_eval.store.writer import transact

_PORTION: Final = 2000
"""Trials of one transaction, and what is left of the last case: none is ever here in part."""


@dataclass(frozen=True, slots=True)
class MergedRun:
    """What became of a run of another store."""

    source: str
    """Its name there."""
    run: str | None
    """The name of the run here that it belongs to; None: it was left out."""
    refusal: str | None
    """Why it was left out."""
    new: int
    """Trials that are new here."""
    taken: int
    """Trials that had changed since they were merged before, or were in another store too."""
    judging: int = 0
    """Calls to judges, and measures of them, that are new here."""
    missing_files: int = 0
    """Files of workspaces that are not beside the other store."""


def merge(
    db: sqlite3.Connection, path: Path, told: Callable[[int], None] = lambda _: None
) -> list[MergedRun]:
    """Take everything from another store that is not here yet.

    Args:
        db: A writable connection to the store that takes; this takes its thread.
        path: The other store's file, which is only read.
        told: Told after each portion how many trials were looked at.

    Returns:
        What became of each of its runs, the oldest first.

    Raises:
        StoreError: one of the stores cannot be used; what was taken by then stays, and merging
            again goes on.
    """
    runs = source_runs(path)
    with attached(db, path):
        make_maps(db)
        return [
            MergedRun(one.row.name, None, one.refusal, 0, 0)
            if one.refusal is not None
            else _merge_run(db, one, path, told)
            for one in runs
        ]


def look(db: sqlite3.Connection | None, path: Path) -> list[MergedRun]:
    """Say what `merge` would do, and change nothing.

    Args:
        db: A connection to the store that would take; None: there is none yet.
        path: The other store's file.

    Raises:
        StoreError: the other store cannot be used.
    """
    runs = source_runs(path)
    if db is None:
        return [_seen(one, None, one.trials) for one in runs]
    with attached(db, path):
        found = []
        for one in runs:
            target = target_of(db, one)
            if target is None:
                found.append(_seen(one, None, one.trials))
                continue
            if one.refusal is None and (why := unlike(db, one, target)) is not None:
                found.append(MergedRun(one.row.name, None, why, 0, 0))
                continue
            since = taken(db, target, one)
            n = lacking.count(db, one, target, since)
            seen = _seen(one, name_of(db, target), *((0, n) if since else (n, 0)))
            found.append(replace(seen, judging=lacking.judging(db, one, target)))
    return found


def _seen(one: SourceRun, here: str | None, new: int, changed: int = 0) -> MergedRun:
    if one.refusal is not None:
        return MergedRun(one.row.name, None, one.refusal, 0, 0)
    return MergedRun(one.row.name, here or one.row.name, None, new, changed)


def _merge_run(
    db: sqlite3.Connection, source: SourceRun, path: Path, told: Callable[[int], None]
) -> MergedRun:
    since = 0 if (target := target_of(db, source)) is None else taken(db, target, source)
    judging = 0 if target is None else lacking.judging(db, source, target)
    lacks = lacking.write_down(db, source, target, since) + judging
    if not lacks and target is not None and since:
        return MergedRun(source.row.name, name_of(db, target), None, 0, 0)
    if target is not None and (why := unlike(db, source, target)) is not None:
        return MergedRun(source.row.name, None, why, 0, 0)
    held = transact(db, lambda tx: taking_run.take(tx, source, target))
    numbering.spread(db, held.run, held.number)
    transact(db, lambda tx: _judge_calls(tx, source, held.run), held.run, held.number)
    files = WorkspaceFiles(FileStore.beside(place_of(db)), FileStore.beside(path))
    new = moved = 0
    while True:
        with files.held():
            fresh, again = transact(
                db, lambda tx: _portion(tx, source, held.run, files), held.run, held.number
            )
        if not fresh + again:
            break
        new, moved = new + fresh, moved + again
        told(fresh + again)
    numbering.close_up(db, held.run, held.number)
    transact(db, lambda tx: taking_run.finish(tx, source, held), held.run, held.number)
    return MergedRun(source.row.name, held.name, None, new, moved, judging, files.missing)


def _judge_calls(tx: Tx, source: SourceRun, run: int) -> None:
    facts.judge_calls(tx.db, source.row.id, run)


def _portion(tx: Tx, source: SourceRun, run: int, files: WorkspaceFiles) -> tuple[int, int]:
    """Take some trials; return how many are new, and how many were here."""
    db = tx.db
    db.execute("DELETE FROM temp.map_trials")
    (width,) = db.execute(
        "SELECT ifnull(max(n), 1) FROM (SELECT count(*) AS n FROM src.trials WHERE run = ?1 "
        "AND seq = (SELECT min(seq) FROM src.trials WHERE run = ?1))",
        (source.row.id,),
    ).fetchone()
    db.execute(
        "INSERT INTO temp.map_trials SELECT s.id, ifnull(d.id, 0), d.id IS NULL "
        "FROM (SELECT DISTINCT t.seq FROM (SELECT src FROM temp.todo ORDER BY src LIMIT ?2) f "
        "JOIN src.trials t ON t.id = f.src) w "
        "JOIN src.trials s ON s.run = ?3 AND s.seq = w.seq AND s.id IN (SELECT src FROM temp.todo) "
        "JOIN src.cases c ON c.run = s.run AND c.seq = s.seq "
        "LEFT JOIN main.cases e ON e.run = ?1 AND e.id = c.id "
        "LEFT JOIN main.trials d ON d.run = ?1 AND d.seq = e.seq AND d.col = s.col "
        "AND d.epoch = s.epoch",
        (run, _PORTION, source.row.id),
    )
    db.execute(
        "UPDATE temp.map_trials SET dst = n.dst FROM (SELECT src, "
        "(SELECT ifnull(max(id), 0) FROM main.trials) + row_number() OVER (ORDER BY src) AS dst "
        "FROM temp.map_trials WHERE fresh) n WHERE temp.map_trials.src = n.src"
    )
    facts.outputs(db)
    files.take(facts.workspaces(db))
    facts.attempts(db)
    standing.decide(db)
    _add_trials(tx, run, width)
    for take in (facts.replies, facts.judge_items, findings, facts.scores, facts.notes):
        take(db)
    facts.grades(db, run)
    standing.apply(tx)
    db.execute("DELETE FROM temp.todo WHERE src IN (SELECT src FROM temp.map_trials)")
    lease.beat(tx, run)
    counts = dict(db.execute("SELECT fresh, count(*) FROM temp.map_trials GROUP BY 1"))
    return counts.get(1, 0), counts.get(0, 0)


def _add_trials(tx: Tx, run: int, width: int) -> None:
    """Write down the trials that are new, with their cases, at their numbers in the whole run."""
    db = tx.db
    fresh = "map_trials m CROSS JOIN src.trials s ON s.id = m.src AND m.fresh"
    of_case = "CROSS JOIN src.cases c ON c.run = s.run AND c.seq = s.seq"
    number = "ifnull(c.number, c.seq)"
    copy(
        db,
        "cases",
        "(SELECT DISTINCT t.run, t.seq FROM map_trials m CROSS JOIN src.trials t ON t.id = m.src "
        "AND m.fresh) n CROSS JOIN src.cases s ON s.run = n.run AND s.seq = n.seq",
        {"run": "?1", "seq": "ifnull(s.number, s.seq)"},
        how="INSERT OR IGNORE",
        parameters=(run,),
    )
    copy(
        db,
        "trials",
        f"{fresh} {of_case}",
        {
            "id": "m.dst",
            "run": "?1",
            "seq": number,
            "place": f"{number} * ?2 + s.place % ?2",
            "output": "(SELECT dst FROM map_outputs WHERE src = s.output)",
            "state": "iif(s.state = 'running', 'queued', s.state)",
            "waiting": "NULL",
            "waiting_until": "NULL",
            "change": "?3",
        },
        parameters=(run, width, tx.change),
    )
