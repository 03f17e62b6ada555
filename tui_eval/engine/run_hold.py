"""What an engine writes of the run that it holds: that it takes it, finishes it, lets go of it.

Each is a unit of a transaction, for whatever writes then.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from typing import Final

from tui_eval.engine import departure
from tui_eval.engine.departure import Departure
from tui_eval.model.runs import endpoint_event
from tui_eval.model.states import RunState
from tui_eval.store import lease, requests
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.read.trials.open_trials import open_count
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, trial_moves

_ORDERS: Final = frozenset({Verb.STOP, Verb.PAUSE, Verb.CONTINUE, Verb.SET_LIMIT})
"""What is asked of an engine, not of its run."""

log = logging.getLogger(__name__)


def take(tx: Tx, run: int) -> int | None:
    """Take the lease of a run, and put back what was in flight when its last engine went.

    Returns:
        The lease's number; None: another engine holds it.
    """
    number = lease.acquire(tx, run)
    if number is None:
        log.info("run %d is held by another engine", run)
        return None
    lost = run_writes.recover(tx, run)
    _forget_orders(tx, run)
    run_writes.begin(tx, run)
    log.info("run %d taken by process %d, %d were in flight", run, os.getpid(), lost)
    return number


def _forget_orders(tx: Tx, run: int) -> None:
    """Close what was asked of an engine that has gone: it would stop or pause this one."""
    for request in request_queries.requests(tx.db, run):
        if request.verb in _ORDERS:
            requests.answer(tx, request.id, Outcome.CLOSED, "the engine it was meant for died")


def refuse(tx: Tx, run: int, why: Departure) -> None:
    """Leave a run as it is that may not begin here, or lacks what it needs."""
    log.warning("%s", why.reason)
    _close_requests(tx, run, why.reason)
    let_go(tx, run, why)


def start(tx: Tx, run: int, limits: Mapping[str, int], *, paused: bool) -> None:
    """Write down that a run is being worked on, and how many calls each endpoint may have."""
    run_writes.move(tx, run, RunState.RUNNING)
    if paused:  # somebody asked for it while the run was staged
        run_writes.move(tx, run, RunState.PAUSED, reason="paused", stopped_by="person")
    for endpoint, concurrency in limits.items():
        run_writes.add_limit(tx, run, endpoint, concurrency, endpoint_event.START)


def finish(tx: Tx, run: int, *, owes: bool = False) -> bool:
    """Let go if no trial is open and nothing is asked; the look and the act are one.

    Args:
        tx: The transaction.
        run: The run.
        owes: Whether an audit is not complete: a run that goes on waits for it.
    """
    cancelled = run_queries.run(tx.db, run).state is RunState.CANCELLED
    if owes and not cancelled:
        return False
    if open_count(tx.db, run) or request_queries.requests(tx.db, run):
        return False
    if not cancelled:
        run_writes.move(tx, run, RunState.RUNNING)  # it may have had nothing to do at all
    let_go(tx, run, departure.DONE)
    return True


def give_back(tx: Tx, run: int, why: Departure, trials: Sequence[int]) -> None:
    """Let go of a run that is not finished.

    Args:
        tx: The transaction.
        run: The run.
        why: Why the engine leaves it.
        trials: Those that back off; they go back to the queue.
    """
    for trial in trials:
        trial_moves.give_back(tx, trial)
    _close_requests(tx, run, requests.JUST_STOPPED)
    let_go(tx, run, why)


def let_go(tx: Tx, run: int, left: Departure) -> None:
    """Give the lease back, and leave the run in the state that the reason has."""
    if left.fact is not None:
        left.fact(tx)
    if run_queries.run(tx.db, run).state is not RunState.CANCELLED:
        run_writes.move(tx, run, left.state, reason=left.reason, stopped_by=left.stopped_by)
    run_writes.end(tx, run)
    lease.release(tx, run)
    reason = left.reason or "nothing is left to do"
    log.info("run %d let go as %s: %s", run, left.state, reason)


def _close_requests(tx: Tx, run: int, why: str | None) -> None:
    for request in request_queries.requests(tx.db, run):
        requests.answer(tx, request.id, Outcome.CLOSED, why)
