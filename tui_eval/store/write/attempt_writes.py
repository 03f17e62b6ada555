"""What is written of attempts: that one leaves, what came of it, and how far it is."""

from collections.abc import Sequence

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.attempt_record import NO_RECORD, AttemptProgress, AttemptRecord
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.states import TrialState
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    conversation_writes,
    file_writes,
    output_writes,
    spending_writes,
)
from tui_eval.store.write.spending_writes import SPENT
from tui_eval.store.write.trial_moves import ANYWAY, TO_SCORING, AsTaken, TrialMove

_RUNNING = (TrialState.RUNNING,)


def start_attempt(
    tx: Tx,
    trial: int,
    *,
    queue_s: float | None,
    wait_s: float | None,
    opening: int | None = None,
) -> int | None:
    """Write down that a request is about to leave.

    Args:
        tx: The transaction.
        trial: A trial that is queued, or running and about to be tried again.
        queue_s: Seconds it was ready but had no slot, in the engine that sends it.
        wait_s: Seconds it backed off.
        opening: The opening that it was taken in; None: any.

    Returns:
        The attempt's id; None where the trial is neither queued nor running any more, or was opened
        anew since it was taken.
    """
    cursor = tx.db.execute(
        "UPDATE trials SET state = 'running', since = ?, change = ?, attempts = attempts + 1, "
        "waiting = NULL, waiting_until = NULL WHERE id = ? AND state IN ('queued', 'running') "
        "AND opening = ifnull(?, opening)",
        (tx.now, tx.change, trial, opening),
    )
    if cursor.rowcount == 0:
        return None
    return tx.db.execute(
        "INSERT INTO attempts (trial, number, state, sent_at, queue_s, wait_s) "
        "SELECT id, attempts, 'sent', ?, ?, ? FROM trials WHERE id = ?",
        (tx.now, queue_s, wait_s, trial),
    ).lastrowid


def fail_attempt(tx: Tx, attempt: int, failure: Failure, call_s: float | None) -> None:
    """Write down that an attempt gave no output; what follows is another fact.

    What it took all the same, as an answer that was broken off does, is counted. `call_s` is None
    where nobody knows how long the call took.
    """
    tx.db.execute(
        "UPDATE attempts SET state = 'failed', call_s = ?, error_kind = ?, error_message = ?, "
        "status = ?, retry_after_s = ?, partial = ?, unsent = ? WHERE id = ?",
        (
            call_s,
            failure.kind,
            pack(failure.message),
            failure.status,
            failure.retry_after_s,
            pack(failure.partial),
            int(failure.unsent),
            attempt,
        ),
    )
    end_progress(tx, attempt)
    add_record(tx, attempt, failure.record, failure.workspace)
    output_writes.add_conversation(tx, attempt, failure.messages)
    if failure.was_paid:
        beside = None if failure.estimate is None else failure.estimate.tokens
        spending_writes.add(tx, attempt, failure.usage, failure.price, beside)


def drop_attempt(
    tx: Tx,
    attempt: int,
    state: str,
    call_s: float | None,
    partial: str | None = None,
    messages: Sequence[JsonObject] = (),
    why: Failure | None = None,
) -> None:
    """Write down that nobody waits for an attempt any more (`cancelled` or `lost`).

    Args:
        tx: The transaction.
        attempt: The attempt.
        state: What becomes of it.
        call_s: Seconds of the call; None: it never left.
        partial: What it had produced.
        messages: The conversation by then.
        why: What has ended it; None: its state says all.
    """
    kind, message = (None, None) if why is None else (why.kind, pack(why.message))
    dropped = tx.db.execute(
        "UPDATE attempts SET state = ?, call_s = ?, partial = ?, error_kind = ?, error_message = ? "
        "WHERE id = ? AND state = 'sent'",
        (state, call_s, pack(partial), kind, message, attempt),
    )
    if dropped.rowcount:
        output_writes.add_conversation(tx, attempt, messages)
    end_progress(tx, attempt)


def take_back_start(tx: Tx, attempt: int) -> None:
    """Forget an attempt that was written down and did not leave: nobody was asked.

    It stays, as cancelled, where its trial has a later one by now.
    """
    taken_back = tx.db.execute(
        "DELETE FROM attempts WHERE id = ? AND state = 'sent' "
        "AND number = (SELECT attempts FROM trials WHERE id = trial) RETURNING trial",
        (attempt,),
    ).fetchone()
    if taken_back is None:
        drop_attempt(tx, attempt, "cancelled", None)
        return
    end_progress(tx, attempt)
    tx.db.execute(
        "UPDATE trials SET attempts = attempts - 1, change = ? WHERE id = ?",
        (tx.change, taken_back[0]),
    )


def answer(
    tx: Tx,
    attempt: int,
    trial: int,
    key: bytes,
    output: Output,
    call_s: float | None,
    *,
    then: TrialMove = TO_SCORING,
    as_taken: AsTaken = ANYWAY,
) -> bool:
    """Write down an attempt's output; a trial that still runs takes it and goes on.

    The output is kept in any case, and counted: it was paid for. A trial that was opened anew since
    it was taken does not take it. One whose run has other scorers by now takes it, to be scored by
    them.

    Args:
        tx: The transaction.
        attempt: The attempt.
        trial: Its trial.
        key: The generation key.
        output: What came back.
        call_s: Seconds of the call; None: nobody knows.
        then: Where the trial goes with it.
        as_taken: What must still hold of it for that.

    Returns:
        Whether the trial went there.
    """
    output_id = output_writes.add_output(tx, key, output)
    taking, took, spent = spending_writes.of_output(output)
    tx.db.execute(
        f"UPDATE attempts SET {taking}state = 'answered', call_s = ?, output = ? WHERE id = ?",
        (*took, call_s, output_id, attempt),
    )
    end_progress(tx, attempt)
    add_record(tx, attempt, output.record, output.workspace)
    taking_it = f"output = ?, cached = 0, latency_s = ?, {SPENT}"
    values = (output_id, output.latency_s, *spent)

    def takes(then: TrialMove, as_taken: AsTaken) -> bool:
        columns = f"{taking_it}, {then.columns}" if then.columns else taking_it
        return tx.move(
            trial, then.to, _RUNNING, columns, (*values, *then.values), only=as_taken.condition
        )

    went = takes(then, as_taken)
    taken = went or takes(TO_SCORING, AsTaken(as_taken.opening))
    if not taken:
        tx.db.execute(
            f"UPDATE trials SET {SPENT}, change = ? WHERE id = ?", (*spent, tx.change, trial)
        )
    elif output.counted:  # else they are what the trial goes on with
        conversation_writes.forget_replies(tx, trial)
    return went


def supersede_output_of(tx: Tx, attempt: int) -> None:
    """Let what an attempt gave satisfy no key any more: it is not to be relied on."""
    tx.db.execute(
        "UPDATE outputs SET superseded = 1 WHERE id = (SELECT output FROM attempts WHERE id = ?)",
        (attempt,),
    )


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
