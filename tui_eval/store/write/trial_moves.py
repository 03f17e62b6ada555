"""Where trials go, state by state, and what is written of them with that.

Each function is one fact and runs inside a transaction (`Tx`). Each says by its result whether it
still applied: a trial that was cancelled or retried in the meantime is left as it is. Whoever works
on a trial says how it was taken (`AsTaken`), or asks `stands` in the same transaction first: a
trial in the right state may have been cancelled and opened anew since.
"""

from dataclasses import dataclass

from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Tally
from tui_eval.model.states import TrialState
from tui_eval.store.text import pack
from tui_eval.store.tx import Tx

_RUNNING = (TrialState.RUNNING,)


_SCORING = (TrialState.SCORING,)


_OPEN = (TrialState.QUEUED, TrialState.RUNNING, TrialState.SCORING)


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


ANYWAY = AsTaken()
"""Nothing more than the state it is in."""


def stands(tx: Tx, trial: int, opening: int) -> bool:
    """Return whether a trial has not been opened anew since work on it was begun.

    Args:
        tx: The transaction.
        trial: The trial.
        opening: The opening that the work was begun on.
    """
    row = tx.db.execute("SELECT opening FROM trials WHERE id = ?", (trial,)).fetchone()
    return row is not None and row[0] == opening


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


def close(tx: Tx, trial: int, then: TrialMove, as_taken: AsTaken = ANYWAY) -> bool:
    """Have a trial that is being scored go on; False where it is not, or not as it was taken."""
    return tx.move(trial, then.to, _SCORING, then.columns, then.values, only=as_taken.condition)


def settle(tx: Tx, trial: int, tally: Tally) -> bool:
    """Close a scored trial with what its scores come to; False where it is not being scored."""
    return close(tx, trial, settled(tally))


def fail_trial(tx: Tx, trial: int, failure: Failure) -> bool:
    """Close a trial that cannot go on; False where it was settled already."""
    end = failed(failure)
    return tx.move(trial, end.to, _OPEN, end.columns, end.values)


def give_back(tx: Tx, trial: int) -> bool:
    """Put a running trial back into the queue because its engine stops or has gone."""
    return tx.move(trial, TrialState.QUEUED, _RUNNING)
