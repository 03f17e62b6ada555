"""What is written of an attempt beside its output: its record, and how far it is."""

from tui_eval.model.outputs.attempt_record import NO_RECORD, AttemptProgress, AttemptRecord
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx
from tui_eval.store.write import file_writes


def add_record(tx: Tx, attempt: int, record: AttemptRecord, workspace: bytes | None) -> None:
    """Keep what an attempt left beside its output; nothing, where it left nothing.

    Args:
        tx: The transaction.
        attempt: The attempt.
        record: What it left.
        workspace: The digest of what it changed in its workspace; None: it had none.
    """
    if record == NO_RECORD and workspace is None:
        return
    if workspace is not None:
        file_writes.name_files(tx, workspace, record.files)
    if record.printed is not None:
        tx.db.execute(
            "UPDATE attempts SET printed = ? WHERE id = ?", (pack(record.printed), attempt)
        )
    ended, took, changes = record.exit, record.resources, record.changes
    tx.db.execute(
        "INSERT OR REPLACE INTO attempt_records SELECT id, trial, "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM attempts WHERE id = ?",
        (
            None if ended is None else ended.code,
            None if ended is None else ended.signal,
            record.isolation,
            *(
                (None,) * 6
                if took is None
                else (
                    took.cpu_s,
                    took.wall_s,
                    took.peak_rss_bytes,
                    took.peak_processes,
                    took.disk_bytes,
                    took.output_bytes,
                )
            ),
            *(
                (None,) * 4
                if changes is None
                else (changes.added, changes.changed, changes.removed, changes.bytes)
            ),
            workspace,
            record.steps,
            record.tool_calls,
            dump([[one.name, one.at_s] for one in record.phases]) if record.phases else None,
            dump([[one.at_s, one.cpu_s, one.rss_bytes] for one in record.samples])
            if record.samples
            else None,
            dump(record.turns) if record.turns else None,
            attempt,
        ),
    )


def keep_partial(tx: Tx, attempt: int, text: str) -> None:
    """Keep what an attempt had produced by the time it was lost."""
    tx.db.execute(
        "UPDATE attempts SET partial = ? WHERE id = ? AND state = 'lost'", (pack(text), attempt)
    )


def tell_progress(tx: Tx, attempt: int, progress: AttemptProgress) -> None:
    """Say how far an attempt is; nothing is said of one that has ended."""
    tx.db.execute(
        "INSERT OR REPLACE INTO trial_progress SELECT id, trial, ?, ?, ?, ?, ?, ?, ?, ?, ? "
        "FROM attempts WHERE id = ? AND state = 'sent'",
        (
            progress.phase,
            progress.turn,
            pack(progress.tool),
            progress.cpu_s,
            progress.rss_bytes,
            progress.processes,
            progress.disk_bytes,
            progress.output_bytes,
            tx.now,
            attempt,
        ),
    )


def end_progress(tx: Tx, attempt: int) -> None:
    """Forget how far an attempt was: it has ended."""
    tx.db.execute("DELETE FROM trial_progress WHERE attempt = ?", (attempt,))
