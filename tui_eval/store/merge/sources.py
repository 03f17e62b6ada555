"""Another store beside the one that takes, and which of its runs is which run here."""

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tui_eval.model.states import RunState
from tui_eval.model.visible import visible_line
from tui_eval.store.connection import explain, open_readable
from tui_eval.store.errors import StoreDamagedError, StoreError
from tui_eval.store.merge.soundness import refuse_unsound
from tui_eval.store.read import run_queries
from tui_eval.store.read.consignment_queries import AwaitedRequests, awaited_requests
from tui_eval.store.rows import RunRow
from tui_eval.store.text import unpack_text


@dataclass(frozen=True, slots=True)
class SourceRun:
    """A run of another store."""

    row: RunRow
    origin: bytes
    """What tells it from all other runs, also in a copy of its store (32 bytes)."""
    whole: bytes | None
    """The digest of the whole run that it is parts of; None: it is no part."""
    change: int
    """The newest change of its trials."""
    trials: int
    """How many it has."""
    awaited: tuple[AwaitedRequests, ...]
    """What is asked in bulk, and nothing has come for."""

    @property
    def refusal(self) -> str | None:
        """Why it cannot be merged now; None: it can.

        Trials that wait for a provider would be queued in the store that takes, and asked and paid
        twice. In a run that has ended nothing waits, whatever a provider still has.
        """
        if self.row.live:
            return "is live: merge it again when it has ended"
        if not self.row.staged:
            return "has no trials yet: resume it first"
        if self.awaited and self.row.state not in (RunState.DONE, RunState.CANCELLED):
            at = visible_line(", ".join(one.words for one in self.awaited), 200)
            return f"has {at}: resume it first"
        return None


def origin_of(row: RunRow) -> bytes:
    """Return what tells a run from all others: its name and the moment it was made."""
    return _origin(row.name, row.created_at, row.suite)


def origin_there(db: sqlite3.Connection, run: int) -> bytes | None:
    """Return the same of a run of the store that is attached; None: there is no such run."""
    row = db.execute("SELECT name, created_at, suite FROM src.runs WHERE id = ?", (run,)).fetchone()
    return None if row is None else _origin(*row)


def _origin(name: str, created_at: float, suite: str) -> bytes:
    made = f"{name}\0{created_at!r}\0{suite}"
    return hashlib.sha256(made.encode("utf-8", "surrogatepass")).digest()


def source_runs(path: Path) -> list[SourceRun]:
    """Return the runs of a store, the oldest first.

    Raises:
        StoreError: it cannot be read, is older or newer than this version, or is not sound.
    """
    with closing(open_readable(path)) as db:
        try:
            refuse_unsound(db, path)
            return [_source_run(db, row) for row in reversed(run_queries.runs(db))]
        except sqlite3.Error as error:
            raise explain(path, error) from error


def _source_run(db: sqlite3.Connection, row: RunRow) -> SourceRun:
    whole = db.execute("SELECT whole FROM run_parts WHERE run = ?", (row.id,)).fetchone()
    change, trials = db.execute(
        "SELECT ifnull(max(change), 0), count(*) FROM trials WHERE run = ?", (row.id,)
    ).fetchone()
    awaited = awaited_requests(db, [row.id])
    part_of = None if whole is None else whole[0]
    return SourceRun(row, origin_of(row), part_of, change, trials, awaited)


def target_of(db: sqlite3.Connection, source: SourceRun) -> int | None:
    """Return the run here that a run of another store belongs to; None: there is none yet.

    It was merged into it before, or it is that very run, or both are of one whole.
    """
    row = db.execute("SELECT run FROM merged_runs WHERE origin = ?", (source.origin,)).fetchone()
    if row is None:
        row = db.execute(
            "SELECT id FROM runs WHERE name = ? AND created_at = ? AND suite = ?",
            (source.row.name, source.row.created_at, source.row.suite),
        ).fetchone()
    if row is None and source.whole is not None:
        row = db.execute("SELECT run FROM run_parts WHERE whole = ?", (source.whole,)).fetchone()
    return None if row is None else int(row[0])


def unlike(db: sqlite3.Connection, source: SourceRun, run: int) -> str | None:
    """Say why a run does not go with those that a run here is made of; None: it does."""
    return scored_otherwise(db, source, run) or numbered_otherwise(db, source, run)


def scored_otherwise(db: sqlite3.Connection, source: SourceRun, run: int) -> str | None:
    """Say why a run does not go with those that a run here is made of; None: it does.

    Parts of one whole were launched with the same scorers; one may have been scored anew since.
    """
    row = db.execute(
        "SELECT 1 FROM main.runs r, src.runs s WHERE r.id = ?1 AND s.id = ?2 "
        "AND (json_extract(r.spec, '$.scorers') <> json_extract(s.spec, '$.scorers') "
        "OR json_extract(r.spec, '$.judges') <> json_extract(s.spec, '$.judges')) "
        "AND (EXISTS (SELECT 1 FROM main.merged_runs WHERE run = ?1 AND origin <> ?3) "
        "OR NOT EXISTS (SELECT 1 FROM main.merged_runs WHERE run = ?1) AND r.name <> ?4)",
        (run, source.row.id, source.origin, source.row.name),
    ).fetchone()
    if row is None:
        return None
    return "was scored by another suite than the run here: rescore one of them as the other was"


def numbered_otherwise(db: sqlite3.Connection, source: SourceRun, run: int) -> str | None:
    """Say why the cases of a run cannot stand among those of a run here; None: they can.

    Both number them as the whole run does, unless the numbers of one of them are damaged.
    """
    row = db.execute(
        # MATERIALIZED: cases have no index by number, and so SQLite makes one of these
        "WITH s AS MATERIALIZED "
        "(SELECT ifnull(number, seq) AS n, id FROM src.cases WHERE run = ?2) "
        "SELECT s.n, s.id, d.id FROM main.cases d CROSS JOIN s "
        "ON s.n = ifnull(d.number, d.seq) AND s.id <> d.id WHERE d.run = ?1 LIMIT 1",
        (run, source.row.id),
    ).fetchone()
    if row is None:
        return None
    number, there, here = row
    return (
        f"has the case {unpack_text(there)} with the number {number} of the whole run, which is "
        f"{unpack_text(here)} here: the numbers of one of them are damaged; run that part again"
    )


def taken(db: sqlite3.Connection, run: int, source: SourceRun) -> int:
    """Return the newest change of a run of another store that was taken; 0: nothing was."""
    row = db.execute(
        "SELECT taken FROM merged_runs WHERE run = ? AND origin = ?", (run, source.origin)
    ).fetchone()
    return 0 if row is None else int(row[0])


@contextmanager
def attached(db: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Let statements read another store as `src` meanwhile.

    Raises:
        StoreError: it is the store itself, or cannot be read, or its tables are not a store's.
    """
    into = Path(db.execute("PRAGMA database_list").fetchone()[2])
    if path.exists() and path.samefile(into):
        raise StoreError(f"{path}: a store is not merged into itself")
    how = "mode=ro" if os.access(path.parent, os.W_OK) else "mode=ro&immutable=1"
    try:
        db.execute("ATTACH ? AS src", (f"{path.absolute().as_uri()}?{how}",))
    except sqlite3.Error as error:
        raise explain(path, error) from error
    try:
        _refuse_other_tables(db, path)
        yield
    finally:
        db.execute("DETACH src")


def _refuse_other_tables(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a store whose tables are not those of the one that takes."""
    described = (
        "SELECT type, name FROM {}.sqlite_master WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite_%' ORDER BY 2"
    )
    there, here = (db.execute(described.format(name)).fetchall() for name in ("src", "main"))
    if there != here:
        raise StoreDamagedError(f"{path}: its tables are not those of a store of tui-eval")
