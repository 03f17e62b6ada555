"""The run here that takes what a run of another store has: made, held meanwhile, let go."""

import json
import secrets
import sqlite3
from dataclasses import dataclass, replace
from typing import Final

from tui_eval.store import lease
from tui_eval.store.errors import StoreError
from tui_eval.store.merge import facts
from tui_eval.store.merge.copying import copy
from tui_eval.store.merge.sources import SourceRun, origin_of, origin_there, taken
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_parts import NO_PART
from tui_eval.store.rows import RunRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes

_HALF: Final = "half merged; merge the same store again"
_UNSETTLED: Final = "merged while trials were queued; `tui-eval resume` runs them"


@dataclass(frozen=True, slots=True)
class HeldRun:
    """A run here that this process holds meanwhile."""

    run: int
    name: str
    number: int
    """The lease's, for the fence."""
    since: int
    """The newest change there that was taken before; 0: nothing was."""


def take(tx: Tx, source: SourceRun, target: int | None) -> HeldRun:
    """Hold the run here that takes; make it where there is none.

    Raises:
        StoreError: an engine works on it.
    """
    run = _make_run(tx, source) if target is None else target
    if target is not None:
        _remember_itself(tx, run)
    name = name_of(tx.db, run)
    number = lease.acquire(tx, run)
    if number is None:
        raise StoreError(f"{name} is live here: merge into it when it has ended")
    since = taken(tx.db, run, source)
    _write_down(tx.db, source, run, 0)
    tx.db.execute(
        "UPDATE runs SET state = 'interrupted', reason = ?, stopped_by = 'merge', change = ? "
        "WHERE id = ?",
        (_HALF, tx.change, run),
    )
    return HeldRun(run, name, number, since)


def take_also(tx: Tx, source: SourceRun, held: HeldRun) -> HeldRun:
    """Have a run that is held take from another store, too."""
    since = taken(tx.db, held.run, source)
    _write_down(tx.db, source, held.run, 0)
    return replace(held, since=since)


def is_half(db: sqlite3.Connection, run: int) -> bool:
    """Return whether a merge into a run was broken off, or goes on."""
    row = db.execute("SELECT reason IS ? FROM runs WHERE id = ?", (_HALF, run)).fetchone()
    return bool(row[0])


def _write_down(db: sqlite3.Connection, source: SourceRun, run: int, change: int) -> None:
    """Write down up to which change a run there is taken; 0: it is not yet, or only in part.

    By that it is found from now on, and taken anew as a whole if this merge is broken off. Of
    copies, the times of that count which went on for longer.
    """
    row = source.row
    later = "{0} = coalesce(max({0}, excluded.{0}), {0}, excluded.{0})"
    db.execute(
        "INSERT INTO merged_runs VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
        f"taken = excluded.taken, {later.format('ended_at')}, {later.format('wall_s')}",
        (run, source.origin, row.name, change, row.started_at, row.ended_at, row.wall_s),
    )


def _remember_itself(tx: Tx, run: int) -> None:
    """Count a run that was made here among those that it is made of."""
    row = run_queries.run(tx.db, run)
    tx.db.execute(
        "INSERT INTO merged_runs SELECT ?1, ?2, ?3, 0, ?4, ?5, ?6 "
        "WHERE NOT EXISTS (SELECT 1 FROM merged_runs WHERE run = ?1)",
        (run, origin_of(row), row.name, row.started_at, row.ended_at, row.wall_s),
    )


def _make_run(tx: Tx, source: SourceRun) -> int:
    """Make a run like one there; it is trusted with nothing, and no part of anything."""
    db, row = tx.db, source.row
    (run,) = db.execute(
        "SELECT ifnull(max(id), 0) + 1 FROM (SELECT id FROM runs UNION ALL "
        "SELECT value FROM meta WHERE name = 'last run')"
    ).fetchone()
    copy(
        db,
        "runs",
        "src.runs s WHERE s.id = ?2",
        {
            "id": "?1",
            "name": "?3",
            "settings": "?4",
            "staged": "1",
            "total": "0",
            "active_since": "NULL",
            "active_from": "NULL",
            "active_s": "0",
            "change": "?5",
            "spec_change": "0",
            "staged_as": "NULL",
            "lease_number": "0",
            "lease_host": "NULL",
            "lease_pid": "NULL",
            "lease_birth": "NULL",
            "lease_beat": "NULL",
        },
        parameters=(run, row.id, _free_name(db, row), json.dumps(_settings(row)), tx.change),
    )
    copy(db, "columns", "src.columns s WHERE s.run = ?2", {"run": "?1"}, parameters=(run, row.id))
    db.execute(
        "INSERT INTO main.run_parts SELECT ?1, ?3, of, whole, cases FROM src.run_parts "
        "WHERE run = ?2 LIMIT 1",
        (run, row.id, NO_PART),
    )
    return int(run)


def _free_name(db: sqlite3.Connection, row: RunRow) -> str:
    name = row.name
    while db.execute("SELECT 1 FROM runs WHERE name = ?", (name,)).fetchone() is not None:
        name = f"{row.name}-{secrets.token_hex(2)}"
    return name


def _settings(row: RunRow) -> dict[str, object]:
    """Return the settings of a whole run: its caps are those of all parts together."""
    settings = {name: value for name, value in row.settings.items() if name != "permit"}
    part, whole = settings.pop("part", None), settings.pop("whole_caps", None)
    if isinstance(whole, dict):
        return {**settings, **whole}
    of = int(str(part["of"])) if isinstance(part, dict) else 1  # made before that was kept
    for cap in ("max_cost_usd", "max_tokens", "max_errors"):
        value = settings.get(cap)
        if isinstance(value, int | float) and not (cap == "max_errors" and value < 1):
            settings[cap] = value * of
    return dict(settings)


def note(tx: Tx, source: SourceRun, held: HeldRun) -> None:
    """Write down what was taken, once all of it was."""
    db, row, run = tx.db, source.row, held.run
    facts.of_run(db, row.id, run)
    db.execute("DELETE FROM run_parts WHERE run = ? AND part = ?", (run, NO_PART))
    # of copies, the one that counts further
    _write_down(db, source, run, max(source.change, held.since))
    copy(
        db,
        "merged_runs",
        "src.merged_runs s WHERE s.run = ?2",
        {"run": "?1", "taken": "0"},
        how="INSERT OR IGNORE",
        parameters=(run, row.id),
    )
    _take_spec(tx, source, run)
    _take_base(db, source, run)


def finish(tx: Tx, last: SourceRun, held: HeldRun) -> None:
    """Write down what a run is by now; let it go.

    Args:
        tx: The transaction.
        last: What was taken last.
        held: The run.
    """
    db, run = tx.db, held.run
    run_writes.count_anew(tx, run)
    (unsettled,) = db.execute(
        "SELECT count(*) FROM trials WHERE run = ? AND state IN ('queued', 'running', 'scoring')",
        (run,),
    ).fetchone()
    (alone,) = db.execute("SELECT count(*) = 1 FROM merged_runs WHERE run = ?", (run,)).fetchone()
    db.execute(
        "UPDATE runs SET total = (SELECT count(*) FROM trials WHERE run = ?1), "
        "partial = (?3 OR (SELECT count(*) FROM cases WHERE run = ?1) < "
        "ifnull((SELECT max(cases) FROM run_parts WHERE run = ?1), 0)), "
        "started_at = (SELECT min(started_at) FROM merged_runs WHERE run = ?1), "
        "ended_at = (SELECT max(ended_at) FROM merged_runs WHERE run = ?1), "
        "wall_s = (SELECT max(wall_s) FROM merged_runs WHERE run = ?1), "
        "state = ?4, reason = ?5, stopped_by = ?6, change = ?2 WHERE id = ?1",
        (
            run,
            tx.change,
            _narrowed(last),
            *(("interrupted", _UNSETTLED, "merge") if unsettled else _ended(last.row, alone=alone)),
        ),
    )
    lease.release(tx, run)


def _take_spec(tx: Tx, source: SourceRun, run: int) -> None:
    """Have a run be scored as the one is that it was made of, which may have been scored anew.

    Not where it is made of several, or was itself scored by another suite here.
    """
    tx.db.execute(
        "UPDATE runs SET spec = s.spec, spec_change = ?3 FROM src.runs s WHERE s.id = ?2 "
        "AND runs.id = ?1 AND runs.spec <> s.spec "
        "AND (SELECT count(*) FROM merged_runs WHERE run = ?1) = 1 "
        "AND NOT EXISTS (SELECT 1 FROM former_specs WHERE run = ?1)",
        (run, source.row.id, tx.change),
    )


def _take_base(db: sqlite3.Connection, source: SourceRun, run: int) -> None:
    """Have a run be compared with what the one was launched to be compared with.

    Another run is here already, as it is older, unless it was left out.
    """
    found = db.execute("SELECT base FROM src.run_bases WHERE run = ?", (source.row.id,)).fetchone()
    if found is None:
        return
    base = None
    if found[0] is not None:
        origin = origin_there(db, found[0])
        base = db.execute("SELECT run FROM merged_runs WHERE origin = ?", (origin,)).fetchone()
        if base is None:
            return
    name = "ifnull((SELECT name FROM main.runs WHERE id = ?3), s.name)"
    copy(
        db,
        "run_bases",
        "src.run_bases s WHERE s.run = ?2",
        {"run": "?1", "base": "?3", "name": name},
        how="INSERT OR IGNORE",
        parameters=(run, source.row.id, None if base is None else base[0]),
    )
    wanted = "SELECT file FROM src.run_bases WHERE run = ?1"
    copy(
        db,
        "baseline_files",
        f"src.baseline_files s WHERE s.digest IN ({wanted})",
        {},
        how="INSERT OR IGNORE",
        parameters=(source.row.id,),
    )


def _ended(row: RunRow, *, alone: bool) -> tuple[str, str | None, str | None]:
    """Return what a run is that has nothing left to do, why, and the word for that.

    A run that was cancelled is so here. One that is made of several is not, whichever of them was
    cancelled: it would rest on which came last.
    """
    if alone and str(row.state) == "cancelled":
        return str(row.state), row.reason, row.stopped_by
    return "done", None, None


def _narrowed(source: SourceRun) -> bool:
    """Whether the whole run, of which there may be parts, leaves something of its suite out."""
    row = source.row
    return row.partial if source.whole is None else bool(row.settings.keys() & _NARROWING)


_NARROWING: Final = {"targets", "cases", "tags", "only", "changed_dataset", "limit", "sample"}
"""Settings that leave something out beside `part`."""


def name_of(db: sqlite3.Connection, run: int) -> str:
    """Return the name of a run here."""
    return str(db.execute("SELECT name FROM runs WHERE id = ?", (run,)).fetchone()[0])
