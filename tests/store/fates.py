"""Trials with fates."""

import sqlite3

from tests.support import Staged, do, key, output, score, staged
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Score, tally
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, score_writes, trial_moves, trial_verbs

PASSED, FAILED, UNGRADED, ERROR, CANCELLED, RUNNING, QUEUED = range(7)


def finish(db: sqlite3.Connection, trial: int, *scores: Score, **more: object) -> None:
    """Take a trial from the queue to its verdict."""

    def unit(tx: Tx) -> None:
        attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
        assert attempt is not None
        attempt_writes.answer(tx, attempt, trial, key(trial), output(**more), 0.5)  # type: ignore[arg-type]
        score_writes.add_scores(tx, trial, scores, fresh=False)
        trial_moves.settle(tx, trial, tally(list(scores)))

    do(db, unit)


def one_of_each(db: sqlite3.Connection) -> Staged:
    """Make seven trials, one of each fate, by place."""
    made = staged(db, 7)
    finish(db, made.trials[PASSED], score(), text="Paris", cost=0.3, latency_s=2.0)
    finish(db, made.trials[FAILED], score(False), text="100%_sure", cost=0.1, latency_s=1.0)
    finish(db, made.trials[UNGRADED], score(None), text="Lo", cost=None, finish_reason="length")
    failure = Failure("timeout", "no answer within 300 s")
    do(db, lambda tx: trial_moves.fail_trial(tx, made.trials[ERROR], failure))
    do(db, lambda tx: trial_verbs.cancel(tx, made.trials[CANCELLED]))
    do(
        db,
        lambda tx: attempt_writes.start_attempt(
            tx, made.trials[RUNNING], queue_s=None, wait_s=None
        ),
    )
    return made
