"""What people, and a run that is resumed, ask of trials: to cancel, to ask or to score them again.

Each function is one fact, like those of `trial_moves`.
"""

from collections.abc import Collection, Sequence

from tui_eval.model.outputs.output import Failure
from tui_eval.model.states import TrialState
from tui_eval.store.text import dump
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    conversation_writes,
    request_moves,
    trial_moves,
)

_OPEN = (TrialState.QUEUED, TrialState.RUNNING, TrialState.SCORING)

_SETTLED = (TrialState.DONE, TrialState.ERROR, TrialState.CANCELLED)


_NOT_BY_HAND = (
    "source <> 'human' AND NOT EXISTS (SELECT 1 FROM scores h WHERE h.trial = scores.trial "
    "AND h.scorer = scores.scorer AND h.source = 'human' AND h.superseded = 0)"
)
"""Scores that are no person's and that no person's outranks: a scorer is not asked again where one
does, and its last word counts again once that is withdrawn."""


def reject(tx: Tx, trial: int, failure: Failure) -> bool:
    """Close a trial as an error, also where its output was taken and scored: it is not relied on.

    Returns:
        False where it was cancelled, or is an error already; nothing changed then.
    """
    if _is_one_of(tx, trial, (TrialState.CANCELLED, TrialState.ERROR)):
        return False
    retry(tx, trial)
    return trial_moves.fail_trial(tx, trial, failure)


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
