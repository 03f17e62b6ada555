"""Taking back what a request did: trials it cancelled go on, scores it made count no more.

What a request did is what it wrote down of each trial it moved (`request_moves`). Only the last
move of a trial is taken back: where another request has moved it since, it is left as it is. Each
function is one fact inside a transaction, like those of `trial_moves`.
"""

from tui_eval.model.score import tally
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.text import pack
from tui_eval.store.tx import Tx
from tui_eval.store.write import consignment_writes, request_moves, trial_moves
from tui_eval.store.write.request_moves import RequestMove

_CANCELLED = (TrialState.CANCELLED,)
_SETTLED = (TrialState.DONE, TrialState.ERROR, TrialState.CANCELLED)

NOT_YET = "is being scored, or asked again"
"""Why the scores of a trial cannot be withdrawn just now."""
MOVED_SINCE = "was cancelled, scored or asked again since"
"""Why a move is not the trial's last."""
NOT_KNOWN = "had no grade before"
"""Why a move of an earlier version cannot be taken back that wrote down too little."""


def uncancel(tx: Tx, trial: int, request: int, by: int) -> str | None:
    """Take a trial that a request cancelled up again where it was left.

    An output that came, even too late for the trial to take it, is not asked for again; the scores
    that it has still count.

    Args:
        tx: The transaction.
        trial: The trial.
        request: The request that cancelled it.
        by: The request to take that back.

    Returns:
        None where it is done, else why nothing was changed.
    """
    move = request_moves.last(tx.db, trial)
    if move is None or move.request != request:
        return MOVED_SINCE
    row = tx.db.execute(
        "SELECT o.id, o.latency_s FROM trials t LEFT JOIN attempts a ON a.trial = t.id "
        "LEFT JOIN outputs o ON o.id = ifnull(t.output, a.output) AND o.superseded = 0 "
        "WHERE t.id = ? ORDER BY o.id IS NULL, a.number DESC LIMIT 1",
        (trial,),
    ).fetchone()
    if row[0] is None:
        moved = tx.move(trial, TrialState.QUEUED, _CANCELLED)
        consignment_writes.await_again(tx, trial)
    else:
        moved = tx.move(
            trial, TrialState.SCORING, _CANCELLED, "output = ?, latency_s = ?", tuple(row)
        )
    if not moved:
        return MOVED_SINCE
    request_moves.take_back(tx, move, by)
    return None


def withdraw(tx: Tx, trial: int, request: int, by: int) -> str | None:
    """Withdraw the scores that a rescore has made, so that those it superseded count again.

    The history keeps both. A person's scores stay as they are. A trial that had not been done, and
    may lack scores therefore, is put back to where it stood.

    Args:
        tx: The transaction.
        trial: A trial that the rescore took back to scoring.
        request: The rescore.
        by: The request to take that back.

    Returns:
        None where it is done, else why nothing was changed.
    """
    row = trial_rows.trial(tx.db, trial)
    if row is None or not row.state.settled:
        return NOT_YET
    move = request_moves.last(tx.db, trial)
    if move is None or move.request != request:
        return MOVED_SINCE
    if move.state is None:
        return NOT_KNOWN
    tx.move(
        trial,
        TrialState.SCORING,
        _SETTLED,
        "verdict = NULL, score = NULL, error_kind = NULL, error_message = NULL",
    )
    tx.db.execute(
        "UPDATE scores SET withdrawn_at = ?, current = 0 WHERE trial = ? AND source <> 'human' "
        "AND superseded = 0 AND withdrawn_at IS NULL AND id > ?",
        (tx.now, trial, move.last_score),
    )
    _let_count_again(tx, trial, move)
    _give_findings_back(tx, trial, move)
    request_moves.take_back(tx, move, by)
    if move.state is not TrialState.DONE:
        tx.move(
            trial,
            move.state,
            (TrialState.SCORING,),
            "since = ?, error_kind = ?, error_message = ?",  # of two assignments the last counts
            (move.since, pack(move.error_kind), pack(move.error_message)),
        )
        return None
    counting = [score for score in trial_rows.scores(tx.db, trial) if score.current]
    trial_moves.settle(tx, trial, tally([score.as_score() for score in counting]))
    return None


def _let_count_again(tx: Tx, trial: int, move: RequestMove) -> None:
    scores = trial_rows.scores(tx.db, trial)
    former = [score for score in scores if score.superseded_by == move.request]
    newest = {score.scorer: score for score in former if score.withdrawn_at is None}
    counting = {score.scorer for score in scores if score.current}
    for score in former:
        counts = newest.get(score.scorer) is score and score.scorer not in counting
        tx.db.execute(
            "UPDATE scores SET superseded = 0, superseded_by = NULL, current = ? WHERE id = ?",
            (counts, score.id),
        )


def _give_findings_back(tx: Tx, trial: int, move: RequestMove) -> None:
    """Let what judges said before a rescore be what the scores are made of again.

    What they said since answers equal questions no more where it was a second answer; a first one,
    to a question that only the edited scorers ask, is still known to the store.
    """
    tx.db.execute(
        "UPDATE findings SET superseded = 1, "
        "spent = max(spent, EXISTS (SELECT 1 FROM findings b WHERE b.trial = ?1 "
        "AND b.score_key = findings.score_key AND b.id <= ?2)) "
        "WHERE trial = ?1 AND superseded = 0 AND id > ?2",
        (trial, move.last_finding),
    )
    tx.db.execute(
        "UPDATE findings SET superseded = 0, superseded_by = NULL "
        "WHERE trial = ? AND superseded_by = ?",
        (trial, move.request),
    )
