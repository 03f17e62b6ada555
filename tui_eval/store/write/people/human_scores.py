"""Verdicts by hand: a person's score outranks every other of its scorer until it is withdrawn.

Each function is one fact inside a transaction, like those of `trial_moves`. They move verdict and
score of a trial that is done, and nothing else: its state and its output stay.
"""

from tui_eval.model.score import Score, tally
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import ScoreRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import request_moves, score_writes
from tui_eval.store.write.undo import MOVED_SINCE, NOT_YET

NOT_DONE = "is not scored yet"
"""Why a trial that is still open cannot be graded."""
NOT_SCORED = "has no verdict to change"
"""Why an errored or cancelled trial cannot be graded."""
REPLACED = "has another output by now"
"""Why a grade of an earlier output decides nothing."""
SAME = "has that grade by hand already"
NONE_BY_HAND = "has no grade by hand"


def grade(tx: Tx, trial: int, output: int, score: Score, request: int) -> str | None:
    """Let a person's score be the one that counts of its scorer.

    Args:
        tx: The transaction.
        trial: The trial.
        output: The output that the person graded.
        score: The person's.
        request: The request that asks for it, by which it can be taken back.

    Returns:
        None where it is done, else why nothing was changed.
    """
    if (why := _why_not(tx, trial, output)) is not None:
        return why
    before = _by_hand(tx, trial, score.scorer)
    if before is not None and before.as_score().grade == score.grade:
        return SAME
    request_moves.record(tx, request, trial, scores=True)
    _supersede(tx, trial, score.scorer, request)
    score_writes.add_scores(tx, trial, [score], fresh=False)
    _decide(tx, trial)
    return None


def withdraw(tx: Tx, trial: int, scorer: str, request: int) -> str | None:
    """Withdraw a person's score: the last word of the scorer itself counts again.

    Args:
        tx: The transaction.
        trial: The trial.
        scorer: The scorer.
        request: The request that asks for it, by which it can be taken back.

    Returns:
        None where it is done, else why nothing was changed.
    """
    if (why := _why_not(tx, trial, None)) is not None:
        return why
    if _by_hand(tx, trial, scorer) is None:
        return NONE_BY_HAND
    request_moves.record(tx, request, trial, scores=True)
    tx.db.execute(
        "UPDATE scores SET withdrawn_at = ? WHERE trial = ? AND scorer = ? AND source = 'human' "
        "AND superseded = 0",
        (tx.now, trial, scorer),
    )
    _supersede(tx, trial, scorer, request)
    _let_newest_count(tx, trial, scorer)
    _decide(tx, trial)
    return None


def take_back(tx: Tx, trial: int, request: int, by: int) -> str | None:
    """Undo what a request graded or withdrew by hand.

    Args:
        tx: The transaction.
        trial: A trial that the request moved.
        request: The request.
        by: The request to take that back.

    Returns:
        None where it is done, else why nothing was changed.
    """
    if (why := _why_not(tx, trial, None)) is not None:
        return NOT_YET if why == NOT_DONE else MOVED_SINCE
    move = request_moves.last(tx.db, trial)
    if move is None or move.request != request:
        return MOVED_SINCE
    while move is not None and move.request == request:  # one for each scorer
        tx.db.execute(
            "UPDATE scores SET withdrawn_at = ?, superseded = 1, current = 0 WHERE trial = ? "
            "AND source = 'human' AND superseded = 0 AND id > ?",
            (tx.now, trial, move.last_score),
        )
        tx.db.execute(
            "UPDATE scores SET superseded = 0, superseded_by = NULL, withdrawn_at = NULL "
            "WHERE trial = ? AND superseded_by = ?",
            (trial, request),
        )
        request_moves.take_back(tx, move, by)
        move = request_moves.last(tx.db, trial)
    for scorer in {score.scorer for score in trial_rows.scores(tx.db, trial)}:
        _let_newest_count(tx, trial, scorer)
    _decide(tx, trial)
    return None


def _why_not(tx: Tx, trial: int, output: int | None) -> str | None:
    row = tx.db.execute("SELECT state, output FROM trials WHERE id = ?", (trial,)).fetchone()
    if row is None or not TrialState(row[0]).settled:
        return NOT_DONE
    if TrialState(row[0]) is not TrialState.DONE or row[1] is None:
        return NOT_SCORED
    return REPLACED if output is not None and row[1] != output else None


def _by_hand(tx: Tx, trial: int, scorer: str) -> ScoreRow | None:
    rows = [
        score
        for score in trial_rows.scores(tx.db, trial)
        if score.scorer == scorer and score.source == "human" and not score.superseded
    ]
    return rows[-1] if rows else None


def _supersede(tx: Tx, trial: int, scorer: str, request: int) -> None:
    """Let a person's score of a scorer count no more."""
    tx.db.execute(
        "UPDATE scores SET superseded = 1, superseded_by = ?, current = 0 WHERE trial = ? "
        "AND scorer = ? AND source = 'human' AND superseded = 0",
        (request, trial, scorer),
    )


def _let_newest_count(tx: Tx, trial: int, scorer: str) -> None:
    """Let a person's score count where there is one, else the scorer's own last word."""
    tx.db.execute(
        "UPDATE scores SET current = ifnull(id = (SELECT id FROM scores WHERE trial = ?1 "
        "AND scorer = ?2 AND superseded = 0 AND withdrawn_at IS NULL "
        "ORDER BY source = 'human' DESC, id DESC LIMIT 1), 0) WHERE trial = ?1 AND scorer = ?2",
        (trial, scorer),
    )


def _decide(tx: Tx, trial: int) -> None:
    """Give a trial the verdict that the scores which count come to."""
    counting = [score for score in trial_rows.scores(tx.db, trial) if score.current]
    found = tally([score.as_score() for score in counting])
    tx.db.execute(
        "UPDATE trials SET verdict = ?, score = ?, change = ? WHERE id = ?",
        (found.verdict, found.score, tx.change, trial),
    )
