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
from tui_eval.store.merge.taking_run import HeldRun, name_of
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


class Merging:
    """Takes one store after the other.

    A run of which each has a part is closed up once, after the last of them: that moves all its
    cases. Where this process ends before, the run says that it is half merged, and merging any of
    those stores again does the rest.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        """Take into a store.

        Args:
            db: A writable connection to it; this takes its thread.
        """
        self._db = db
        self._spread: dict[int, tuple[HeldRun, SourceRun]] = {}
        """Runs that are held, with what was taken last: their cases stand at their numbers."""

    def take(self, path: Path, told: Callable[[int], None] = lambda _: None) -> list[MergedRun]:
        """Take everything from another store that is not here yet.

        Args:
            path: The other store's file, which is only read.
            told: Told after each portion how many trials were looked at.

        Returns:
            What became of each of its runs, the oldest first.

        Raises:
            StoreError: one of the stores cannot be used; what was taken by then stays, and merging
                again goes on.
        """
        runs = source_runs(path)
        with attached(self._db, path):
            make_maps(self._db)
            return [
                MergedRun(one.row.name, None, one.refusal, 0, 0)
                if one.refusal is not None
                else self._take_run(one, path, told)
                for one in runs
            ]

    def close(self) -> None:
        """Close up what is whole by now, and let go of it.

        Raises:
            StoreError: the store cannot be used.
        """
        for run in [*self._spread]:
            self._close_up(run)

    def _take_run(self, source: SourceRun, path: Path, told: Callable[[int], None]) -> MergedRun:
        db = self._db
        since = 0 if (target := target_of(db, source)) is None else taken(db, target, source)
        judging = 0 if target is None else lacking.judging(db, source, target)
        lacks = lacking.write_down(db, source, target, since) + judging
        if target is not None and since and not lacks and self._is_whole(target):
            return MergedRun(source.row.name, name_of(db, target), None, 0, 0)
        if target is not None and (why := unlike(db, source, target)) is not None:
            return MergedRun(source.row.name, None, why, 0, 0)
        held = self._hold(source, target)
        new, moved, missing = self._take_portions(held, source, path, told)
        transact(db, lambda tx: taking_run.note(tx, source, held), held.run, held.number)
        self._spread[held.run] = held, source
        if source.whole is None:  # no other store has a part of it
            self._close_up(held.run)
        return MergedRun(source.row.name, held.name, None, new, moved, judging, missing)

    def _is_whole(self, run: int) -> bool:
        """Return whether what was taken into a run needs nothing further of this merge."""
        return run in self._spread or not taking_run.is_half(self._db, run)

    def _hold(self, source: SourceRun, target: int | None) -> HeldRun:
        """Hold the run that takes, its cases at their numbers; make it where there is none."""
        db = self._db
        if target is None or target not in self._spread:
            held = transact(db, lambda tx: taking_run.take(tx, source, target))
            numbering.spread(db, held.run, held.number)
            return held
        held, _ = self._spread.pop(target)  # half of what comes is there until all is
        return transact(
            db, lambda tx: taking_run.take_also(tx, source, held), held.run, held.number
        )

    def _take_portions(
        self, held: HeldRun, source: SourceRun, path: Path, told: Callable[[int], None]
    ) -> tuple[int, int, int]:
        """Return how many trials are new, how many were here, and how many files are missing."""
        db = self._db
        transact(db, lambda tx: _judge_calls(tx, source, held.run), held.run, held.number)
        files = WorkspaceFiles(FileStore.beside(place_of(db)), FileStore.beside(path))
        new = moved = 0
        while True:
            with files.held():
                fresh, again = transact(
                    db, lambda tx: _portion(tx, source, held.run, files), held.run, held.number
                )
            if not fresh + again:
                return new, moved, files.missing
            new, moved = new + fresh, moved + again
            told(fresh + again)

    def _close_up(self, run: int) -> None:
        held, source = self._spread.pop(run)
        numbering.close_up(self._db, held.run, held.number)
        transact(self._db, lambda tx: taking_run.finish(tx, source, held), held.run, held.number)


def merge(
    db: sqlite3.Connection, path: Path, told: Callable[[int], None] = lambda _: None
) -> list[MergedRun]:
    """Take everything from one other store that is not here yet (see `Merging.take`)."""
    merging = Merging(db)
    try:
        return merging.take(path, told)
    finally:
        merging.close()


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
        "CROSS JOIN src.trials s ON s.run = ?3 AND s.seq = w.seq "
        "AND s.id IN (SELECT src FROM temp.todo) "
        "CROSS JOIN src.cases c ON c.run = s.run AND c.seq = s.seq "
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
    files.take(facts.workspaces(db, facts.outputs(db)))
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
