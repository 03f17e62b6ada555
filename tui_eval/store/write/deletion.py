"""Deleting a run: all that is known of it goes, but for outputs that other runs name.

It goes in portions, so that engines of other runs never wait long for their turn to write. Until
the last portion the run is there, without counts, and held by whoever deletes it; where that one
dies half way, deleting the run again does the rest.
"""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from tui_eval.store import lease, long_texts
from tui_eval.store.errors import StoreError
from tui_eval.store.files import FileStore
from tui_eval.store.opening.store_file import place_of
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.read.consignment_queries import AwaitedRequests, awaited_requests
from tui_eval.store.rows import RunRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import file_writes, run_writes
from tui_eval.store.writer import transact

_PORTION = 1000
"""Trials, or judge calls, of one transaction."""
_HALF = "half deleted; delete it again"

_NAMED = (
    "SELECT output FROM trials WHERE output IS NOT NULL AND {trials} "
    "UNION SELECT output FROM attempts WHERE output IS NOT NULL AND trial IN "
    "(SELECT id FROM trials WHERE {trials})"
)
_LISTED = "IN (SELECT value FROM json_each(?1))"
_ELSEWHERE = (
    f"(EXISTS (SELECT 1 FROM trials t WHERE t.output = o.id AND t.run NOT {_LISTED}) OR EXISTS ("
    "SELECT 1 FROM attempts a JOIN trials t ON t.id = a.trial WHERE a.output = o.id "
    f"AND t.run NOT {_LISTED}))"
)
_LONG_TEXTS_GONE = (
    "WITH gone (id) AS MATERIALIZED ({gone}) "
    "SELECT ifnull(sum(length(CAST(l.text AS BLOB))), 0) FROM long_texts l WHERE l.digest IN "
    "(SELECT x.digest FROM gone JOIN output_texts x ON x.output = gone.id) AND NOT EXISTS "
    "(SELECT 1 FROM output_texts x WHERE x.digest = l.digest AND x.output NOT IN gone)"
)
_FILES_GONE = (
    "WITH gone (id) AS MATERIALIZED ({gone}), workspaces (digest) AS MATERIALIZED ("
    "SELECT w.digest FROM (SELECT workspace AS digest FROM outputs WHERE id IN gone "
    "UNION SELECT r.workspace FROM trials t JOIN attempt_records r ON r.trial = t.id "
    f"WHERE t.run {_LISTED}) w WHERE w.digest IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM outputs o WHERE o.workspace = w.digest AND o.id NOT IN gone) "
    "AND NOT EXISTS (SELECT 1 FROM attempt_records r JOIN trials t ON t.id = r.trial "
    f"WHERE r.workspace = w.digest AND t.run NOT {_LISTED})) "
    "SELECT count(*), ifnull(sum(k.bytes), 0) FROM kept_files k WHERE k.digest IN "
    "(SELECT f.file FROM workspaces JOIN workspace_files f ON f.workspace = workspaces.digest) "
    "AND NOT EXISTS (SELECT 1 FROM workspace_files f WHERE f.file = k.digest "
    "AND f.workspace NOT IN workspaces)"
)


class RunLiveError(StoreError):
    """An engine works on the run."""


@dataclass(frozen=True, slots=True)
class DeletionExtent:
    """What deleting runs takes away."""

    trials: int
    outputs: int
    """Outputs that no other run names: they would be asked for again."""
    kept: int
    """Outputs that other runs name: they stay."""
    size: int
    """Bytes of text that go; what rows and indexes take beside it is not counted."""
    files: int = 0
    """Kept files that only these runs need."""
    file_bytes: int = 0
    baselines: tuple[str, ...] = ()
    """Suites whose baseline is one of these runs."""
    compared: int = 0
    """Other runs that were launched to be compared with one of these."""
    awaited: tuple[AwaitedRequests, ...] = ()
    """Requests that providers have in bulk: they go on with them, and nobody takes the results."""


def deletion_extent(db: sqlite3.Connection, run_ids: Collection[int]) -> DeletionExtent:
    """Count what deleting runs takes away; a second or so for each hundred thousand trials."""
    listed = json.dumps(list(run_ids))

    def count(what: str, of: str, run: str = "run") -> list[int]:
        query = f"SELECT {what} FROM {of} WHERE {run} {_LISTED}"
        return list(db.execute(query, (listed,)).fetchone())

    trials, errors = count(f"count(*), {_bytes('error_message')}", "trials")
    named = _NAMED.format(trials=f"run {_LISTED}")
    outputs, kept, texts = db.execute(
        "SELECT ifnull(sum(generation_key <> x''), 0), "
        "ifnull(sum(elsewhere), 0), ifnull(sum((1 - elsewhere) * size), 0) FROM ("
        f"SELECT o.generation_key, {_ELSEWHERE} AS elsewhere, "
        f"{_byte_count('o.text', 'o.reasoning', 'o.messages', 'o.fields')} AS size "
        f"FROM outputs o WHERE o.id IN ({named}))",
        (listed,),
    ).fetchone()
    size = errors + texts
    gone = f"SELECT o.id FROM outputs o WHERE o.id IN ({named}) AND NOT {_ELSEWHERE}"
    size += db.execute(_LONG_TEXTS_GONE.format(gone=gone), (listed,)).fetchone()[0]
    size += sum(count(_bytes("spec"), "runs", "id"))
    size += sum(count(_bytes("data"), "cases"))
    size += sum(count(_bytes("request", "reply"), "judge_calls"))
    for table, *columns in (
        ("attempts", "of.partial", "of.printed", "of.error_message"),
        ("scores", "of.raw", "of.reason"),
        ("findings", "of.made"),
        ("notes", "of.text"),
        ("grades", "of.grade", "of.note"),
    ):
        rows = f"trials t JOIN {table} of ON of.trial = t.id"
        size += sum(count(_bytes(*columns), rows, "t.run"))
    files, file_bytes = db.execute(_FILES_GONE.format(gone=gone), (listed,)).fetchone()
    return DeletionExtent(
        trials,
        outputs - kept,
        kept,
        size,
        files,
        file_bytes,
        baseline_queries.suites_of(db, run_ids),
        baseline_queries.compared_with(db, run_ids),
        awaited_requests(db, run_ids),
    )


def refusal(run: RunRow) -> str | None:
    """Say why a run cannot be deleted now; None: it can."""
    return f"{run.name} is live: stop it first" if run.live else None


def delete(
    db: sqlite3.Connection, run_id: int, told: Callable[[int], None] = lambda _: None
) -> None:
    """Delete a run and everything that only it has.

    Args:
        db: A writable connection; this takes its thread.
        run_id: The run.
        told: Told after each portion how many trials have gone.

    Raises:
        UnknownRunError: there is no such run.
        RunLiveError: an engine works on it; nothing was changed.
        LeaseLostError: another process deletes it, too.
    """
    held = transact(db, lambda tx: _take(tx, run_id))
    files = FileStore.beside(place_of(db))
    gone = 0
    while (portion := transact(db, lambda tx: _delete_trials(tx, run_id), run_id, held)).trials:
        if portion.files:
            files.remove_unnamed(db, portion.files)
        gone += portion.trials
        told(gone)
    while transact(db, lambda tx: _delete_judge_calls(tx, run_id), run_id, held):
        pass
    transact(db, lambda tx: run_writes.forget(tx, run_id), run_id, held)


def _take(tx: Tx, run_id: int) -> int:
    run = run_queries.run(tx.db, run_id)
    number = lease.acquire(tx, run_id)
    if number is None:
        raise RunLiveError(refusal(run) or f"{run.name} is held by another process")
    tx.db.execute("DELETE FROM tallies WHERE run = ?", (run_id,))
    tx.db.execute(
        "UPDATE runs SET total = 0, reason = ?, stopped_by = 'deletion', change = ? WHERE id = ?",
        (_HALF, tx.change, run_id),
    )
    return number


@dataclass(frozen=True, slots=True)
class _Portion:
    """What one transaction took away."""

    trials: int
    files: Collection[bytes]
    """Digests of kept files that nobody names any more."""


def _delete_trials(tx: Tx, run_id: int) -> _Portion:
    """Delete some trials with all that came of them."""
    trials = _ids(
        tx.db.execute(
            "SELECT id FROM trials WHERE run = ? ORDER BY place LIMIT ?", (run_id, _PORTION)
        )
    )
    chosen = json.dumps(trials)
    outputs = _ids(tx.db.execute(_NAMED.format(trials=f"id {_LISTED}"), (chosen,)))
    workspaces = file_writes.workspaces_of(tx.db, trials, outputs)
    for table in (
        "trial_progress",
        "attempt_records",
        "attempt_calls",
        "conversation_calls",
        "consigned",
        "consigned_questions",
        "attempts",
        "scores",
        "findings",
        "judge_items",
        "notes",
        "grades",
        "moves",
    ):
        tx.db.execute(f"DELETE FROM {table} WHERE trial {_LISTED}", (chosen,))
    tx.db.execute(f"DELETE FROM trials WHERE id {_LISTED}", (chosen,))
    gone = tx.db.execute(
        f"DELETE FROM outputs WHERE id {_LISTED} "
        "AND NOT EXISTS (SELECT 1 FROM trials t WHERE t.output = outputs.id) "
        "AND NOT EXISTS (SELECT 1 FROM attempts a WHERE a.output = outputs.id) RETURNING id",
        (json.dumps(outputs),),
    )
    long_texts.forget(tx.db, _ids(gone))
    unnamed = file_writes.forget_unused(tx, workspaces)
    lease.beat(tx, run_id)
    return _Portion(len(trials), unnamed)


def _delete_judge_calls(tx: Tx, run_id: int) -> int:
    """Delete some judge calls with what they said of no trial (gold); return how many."""
    calls = _ids(
        tx.db.execute("SELECT id FROM judge_calls WHERE run = ? LIMIT ?", (run_id, _PORTION))
    )
    chosen = (json.dumps(calls),)
    tx.db.execute(f"DELETE FROM findings WHERE trial IS NULL AND call {_LISTED}", chosen)
    tx.db.execute(f"DELETE FROM judge_items WHERE call {_LISTED}", chosen)
    tx.db.execute(f"DELETE FROM consigned_calls WHERE call {_LISTED}", chosen)
    tx.db.execute(f"DELETE FROM judge_calls WHERE id {_LISTED}", chosen)
    lease.beat(tx, run_id)
    return len(calls)


def _ids(rows: sqlite3.Cursor) -> Sequence[int]:
    return [row[0] for row in rows]


def _byte_count(*columns: str) -> str:
    return " + ".join(f"ifnull(length(CAST({column} AS BLOB)), 0)" for column in columns)


def _bytes(*columns: str) -> str:
    return f"ifnull(sum({_byte_count(*columns)}), 0)"
