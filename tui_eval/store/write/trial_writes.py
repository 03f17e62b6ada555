"""What is written of a trial's life: attempts, outputs, scores, and the moves they mean.

Each function is one fact and runs inside a transaction (`Tx`). Each says by its result whether it
still applied: a trial that was cancelled or retried in the meantime is left as it is. Whoever works
on a trial asks `stands` in the same transaction first: a trial in the right state may have been
cancelled and opened anew since.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Score, Tally
from tui_eval.model.states import TrialState
from tui_eval.store.read import many_rows
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    attempt_writes,
    conversation_writes,
    output_writes,
    request_moves,
    spending_writes,
)
from tui_eval.store.write.spending_writes import SPENT

_RUNNING = (TrialState.RUNNING,)
_SCORING = (TrialState.SCORING,)
_OPEN = (TrialState.QUEUED, TrialState.RUNNING, TrialState.SCORING)
_SETTLED = (TrialState.DONE, TrialState.ERROR, TrialState.CANCELLED)
_NOT_BY_HAND = (
    "source <> 'human' AND NOT EXISTS (SELECT 1 FROM scores h WHERE h.trial = scores.trial "
    "AND h.scorer = scores.scorer AND h.source = 'human' AND h.superseded = 0)"
)
"""Scores that are no person's and that no person's outranks: a scorer is not asked again where one
does, and its last word counts again once that is withdrawn."""


@dataclass(frozen=True, slots=True)
class TrialMove:
    """Where a trial goes next, and what is written of it with that."""

    to: TrialState
    columns: str = ""
    """Assignments, as SQL."""
    values: tuple[object, ...] = ()


TO_SCORING = TrialMove(TrialState.SCORING)
"""Its output is to be scored; nothing else is known yet."""


def settled(tally: Tally) -> TrialMove:
    """Close a scored trial with what its scores come to."""
    return TrialMove(
        TrialState.DONE,
        "verdict = ?, score = ?, error_kind = NULL, error_message = NULL",
        (tally.verdict, tally.score),
    )


def awaits(why: str) -> TrialMove:
    """Say what a trial that is being scored still waits for."""
    return TrialMove(TrialState.SCORING, "waiting = ?", (pack(why),))


def failed(failure: Failure) -> TrialMove:
    """Close a trial that cannot go on."""
    return TrialMove(
        TrialState.ERROR,
        "verdict = NULL, score = NULL, error_kind = ?, error_message = ?",
        (failure.kind, pack(failure.message)),
    )


@dataclass(frozen=True, slots=True)
class AsTaken:
    """What must still hold of a trial for what was made of it to be written."""

    opening: int | None = None
    """The opening that the work was begun on; None: any."""
    scorers: int | None = None
    """The number of its run's scorers (`runs.spec_change`) that it was scored by; None: any."""

    @property
    def condition(self) -> tuple[str, tuple[object, ...]]:
        """The condition, as SQL over `trials`, with its parameters."""
        condition = (
            "opening = ifnull(?, opening) "
            "AND ifnull((SELECT spec_change FROM runs WHERE runs.id = trials.run) = ?, 1)"
        )
        return condition, (self.opening, self.scorers)


_ANYWAY = AsTaken()


def stands(tx: Tx, trial: int, opening: int) -> bool:
    """Return whether a trial has not been opened anew since work on it was begun.

    Args:
        tx: The transaction.
        trial: The trial.
        opening: The opening that the work was begun on.
    """
    row = tx.db.execute("SELECT opening FROM trials WHERE id = ?", (trial,)).fetchone()
    return row is not None and row[0] == opening


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
    attempt_writes.end_progress(tx, attempt)
    attempt_writes.add_record(tx, attempt, failure.record, failure.workspace)
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
    attempt_writes.end_progress(tx, attempt)


def wait(tx: Tx, trial: int, why: str, until: float | None) -> bool:
    """Say why a running trial does not run, and until when (Unix seconds) if one knows.

    Returns:
        False where it runs no more: nothing changed then.
    """
    cursor = tx.db.execute(
        "UPDATE trials SET waiting = ?, waiting_until = ?, change = ? "
        "WHERE id = ? AND state IN ('running', 'scoring')",
        (pack(why), until, tx.change, trial),
    )
    return cursor.rowcount == 1


def answer(
    tx: Tx,
    attempt: int,
    trial: int,
    key: bytes,
    output: Output,
    call_s: float | None,
    *,
    then: TrialMove = TO_SCORING,
    as_taken: AsTaken = _ANYWAY,
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
    attempt_writes.end_progress(tx, attempt)
    attempt_writes.add_record(tx, attempt, output.record, output.workspace)
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


def close(tx: Tx, trial: int, then: TrialMove, as_taken: AsTaken = _ANYWAY) -> bool:
    """Have a trial that is being scored go on; False where it is not, or not as it was taken."""
    return tx.move(trial, then.to, _SCORING, then.columns, then.values, only=as_taken.condition)


def add_scores(tx: Tx, trial: int, scores: Sequence[Score], *, fresh: bool) -> None:
    """Append scores to a trial's history; each becomes the current one of its scorer.

    A person's grade that is not withdrawn stays the current one.

    Args:
        tx: The transaction.
        trial: The trial; its present output is what was scored.
        scores: One for each scorer.
        fresh: Whether the trial is known to have no scores yet, which saves looking.
    """
    for score in scores:
        current = 1
        if not fresh:
            by_hand = tx.db.execute(
                "SELECT 1 FROM scores WHERE trial = ? AND scorer = ? AND source = 'human' "
                "AND withdrawn_at IS NULL AND superseded = 0",
                (trial, score.scorer),
            ).fetchone()
            current = 1 if by_hand is None or score.source == "human" else 0
            if current:
                tx.db.execute(
                    "UPDATE scores SET current = 0 WHERE trial = ? AND scorer = ? AND current = 1",
                    (trial, score.scorer),
                )
        tx.db.execute(
            f"INSERT INTO scores ({', '.join(_SCORE)}, current, at, trial, output) "
            f"SELECT {many_rows.question_marks(_SCORE)}, ?, ?, id, output FROM trials WHERE id = ?",
            (*_score_values(score), current, tx.now, trial),
        )


def add_first_scores(tx: Tx, scores: Iterable[tuple[int, int, Score]]) -> None:
    """Keep scores of trials that have none yet, each with its trial and output."""
    many_rows.insert(
        tx.db,
        "scores",
        (*_SCORE, "at", "trial", "output"),
        ((*_score_values(score), tx.now, trial, output) for trial, output, score in scores),
    )


_SCORE = (
    "scorer",
    "verdict",
    "value",
    "raw",
    "reason",
    "source",
    "weight",
    "required",
    "cached",
    "score_key",
)


def _score_values(score: Score) -> tuple[object, ...]:
    grade = score.grade
    return (
        score.scorer,
        grade.verdict.value,
        grade.value,
        None if grade.raw is None else dump(grade.raw),
        pack(grade.reason),
        score.source,
        score.weight,
        int(score.required),
        int(score.cached),
        score.key,
    )


def settle(tx: Tx, trial: int, tally: Tally) -> bool:
    """Close a scored trial with what its scores come to; False where it is not being scored."""
    return close(tx, trial, settled(tally))


def fail_trial(tx: Tx, trial: int, failure: Failure) -> bool:
    """Close a trial that cannot go on; False where it was settled already."""
    end = failed(failure)
    return tx.move(trial, end.to, _OPEN, end.columns, end.values)


def reject(tx: Tx, trial: int, failure: Failure) -> bool:
    """Close a trial as an error, also where its output was taken and scored: it is not relied on.

    Returns:
        False where it was cancelled, or is an error already; nothing changed then.
    """
    if _is_one_of(tx, trial, (TrialState.CANCELLED, TrialState.ERROR)):
        return False
    retry(tx, trial)
    return fail_trial(tx, trial, failure)


def cancel(tx: Tx, trial: int, request: int | None = None) -> bool:
    """Close a trial because a person asked; what it has produced stays.

    Args:
        tx: The transaction.
        trial: The trial.
        request: The request that asks for it, by which it can be undone.

    Returns:
        False where it is settled; nothing changed then.
    """
    if not _is_one_of(tx, trial, _OPEN):
        return False
    request_moves.record(tx, request, trial, scores=False)
    return tx.move(trial, TrialState.CANCELLED, _OPEN, "verdict = NULL, score = NULL")


def retry(tx: Tx, trial: int, request: int | None = None, *, afresh: bool = True) -> bool:
    """Take a settled trial back to the queue; its output and scores satisfy no key any more.

    Args:
        tx: The transaction.
        trial: The trial.
        request: The request that asks for it.
        afresh: Whether a conversation begins anew; else it goes on after its last reply.

    Returns:
        False where it is not settled; nothing changed then.
    """
    if not _is_one_of(tx, trial, _SETTLED):
        return False
    request_moves.record(tx, request, trial, scores=True)
    tx.move(
        trial,
        TrialState.QUEUED,
        _SETTLED,
        "verdict = NULL, score = NULL, error_kind = NULL, error_message = NULL, cached = 0",
    )
    tx.db.execute(
        "UPDATE outputs SET superseded = 1 WHERE id = (SELECT output FROM trials WHERE id = ?)",
        (trial,),
    )
    # also a person's scores: they were given to the output that is being replaced
    tx.db.execute(
        "UPDATE scores SET superseded = 1, superseded_by = ?, current = 0 "
        "WHERE trial = ? AND superseded = 0",
        (request, trial),
    )
    _supersede_findings(tx, trial, request)
    tx.db.execute("UPDATE findings SET spent = 1 WHERE trial = ? AND spent = 0", (trial,))
    tx.db.execute("UPDATE trials SET output = NULL, latency_s = NULL WHERE id = ?", (trial,))
    if afresh:
        conversation_writes.forget_replies(tx, trial)
    return True


def rescore(
    tx: Tx,
    trial: int,
    scorers: Sequence[str] = (),
    *,
    keep_findings: bool = False,
    replaced: Collection[str] = (),
    request: int | None = None,
) -> bool:
    """Take a settled trial that has an output back to scoring.

    The scores of the scorers named (none: of all) satisfy no key any more; a person's stay, and so
    do those that a person's outranks.

    Args:
        tx: The transaction.
        trial: The trial.
        scorers: The names of the scorers; none: all.
        keep_findings: Whether what judges said wholly still counts, so that they are asked only
            for what is missing. Otherwise they are asked anew.
        replaced: The scorers that may ask otherwise from now on, where findings are kept: what was
            said for them is the trial's no more, and answers whoever asks the same.
        request: The request that asks for it, by which it can be undone.

    Returns:
        False where it is not settled or has no output; nothing changed then.
    """
    if not _is_one_of(tx, trial, _SETTLED, "output IS NOT NULL"):
        return False
    request_moves.record(tx, request, trial, scores=True)
    tx.move(
        trial,
        TrialState.SCORING,
        _SETTLED,
        "verdict = NULL, score = NULL, error_kind = NULL, error_message = NULL",
    )
    tx.db.execute(
        "UPDATE scores SET superseded = 1, superseded_by = ?3, current = 0 "
        f"WHERE trial = ?1 AND superseded = 0 AND {_NOT_BY_HAND} "
        "AND (?2 = '[]' OR scorer IN (SELECT value FROM json_each(?2)))",
        (trial, dump(list(scorers)), request),
    )
    if not keep_findings:
        # by key: an equal question that another trial asked would answer this one
        tx.db.execute(
            "UPDATE findings SET spent = 1 WHERE spent = 0 AND score_key IN (SELECT score_key "
            "FROM findings WHERE trial = ?1 AND superseded = 0 "
            "AND (?2 = '[]' OR scorer IN (SELECT value FROM json_each(?2))))",
            (trial, dump(list(scorers))),
        )
        _supersede_findings(tx, trial, request, scorers)
    elif replaced:
        _supersede_findings(tx, trial, request, replaced)
    return True


def unscore_open(tx: Tx, run: int) -> None:
    """Let the scores count no more that trials have which are being scored; a person's stay.

    What is being made of those trials rests on these scores, so their openings are over, too. A
    score from before the request that took its trial back to scoring counts again with that
    request undone, as those do that the request itself has replaced.
    """
    tx.db.execute(
        "UPDATE scores SET superseded = 1, current = 0, superseded_by = ("
        "SELECT m.request FROM moves m WHERE m.trial = scores.trial AND m.undone_by IS NULL "
        "AND m.last_score >= scores.id ORDER BY m.id DESC LIMIT 1) "
        f"WHERE superseded = 0 AND {_NOT_BY_HAND} "
        "AND trial IN (SELECT id FROM trials WHERE run = ? AND state = 'scoring')",
        (run,),
    )
    tx.db.execute(
        "UPDATE trials SET opening = opening + 1 WHERE run = ? AND state = 'scoring'", (run,)
    )


def supersede_output_of(tx: Tx, attempt: int) -> None:
    """Let what an attempt gave satisfy no key any more: it is not to be relied on."""
    tx.db.execute(
        "UPDATE outputs SET superseded = 1 WHERE id = (SELECT output FROM attempts WHERE id = ?)",
        (attempt,),
    )


def give_back(tx: Tx, trial: int) -> bool:
    """Put a running trial back into the queue because its engine stops or has gone."""
    return tx.move(trial, TrialState.QUEUED, _RUNNING)


def _is_one_of(tx: Tx, trial: int, states: Sequence[TrialState], condition: str = "1") -> bool:
    """Return whether a trial is in one of some states, and a condition (SQL) holds of it."""
    row = tx.db.execute(
        f"SELECT state FROM trials WHERE id = ? AND {condition}",
        (trial,),
    ).fetchone()
    return row is not None and TrialState(row[0]) in states


def _supersede_findings(
    tx: Tx, trial: int, request: int | None, scorers: Collection[str] = ()
) -> None:
    """Let findings be a trial's no more: those for the scorers named; none: all."""
    tx.db.execute(
        "UPDATE findings SET superseded = 1, superseded_by = ?3 WHERE trial = ?1 "
        "AND superseded = 0 AND (?2 = '[]' OR scorer IN (SELECT value FROM json_each(?2)))",
        (trial, dump(list(scorers)), request),
    )
