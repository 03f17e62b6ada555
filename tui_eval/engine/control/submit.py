"""Asking something of a run, whether an engine works on it or not."""

import sqlite3
from pathlib import Path

from tui_eval.engine.control import previous_spec, verbs
from tui_eval.engine.control.verbs import MoveResult, RequestAnswer
from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState
from tui_eval.store import lease, requests
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.read.consignment_queries import open_consignments
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.tx import Tx
from tui_eval.store.write import request_moves, run_writes
from tui_eval.store.writer import once

_WITHOUT_ENGINE = frozenset(
    {
        Verb.CANCEL,
        Verb.CANCEL_RUN,
        Verb.STOP,
        Verb.PAUSE,
        Verb.CONTINUE,
        Verb.SET_LIMIT,
        Verb.WITHDRAW,
        Verb.GRADE,
    }
)
"""What an asker can settle where no engine works on the run; the others start one."""


def ask(store: Path, run_id: int, verb: Verb, args: JsonObject | None = None) -> int:
    """Write a request down; where no engine is alive and none is needed, do it.

    Args:
        store: The store's file.
        run_id: The run.
        verb: What is asked.
        args: See `store.requests.ask`.

    Returns:
        The request's id. It is answered already, or an engine answers it, or (see
        `needs_engine`) one must be started.

    Raises:
        StoreError: the store cannot be used; nothing is asked then.
    """
    return once(store, lambda tx: _ask(tx, run_id, verb, args or {}))


def settle(store: Path, run_id: int, request_id: int) -> None:
    """Do what was asked of an engine that went without an answer, where no engine is needed.

    The request itself is answered: asked anew, the first one would meet the run's next engine.
    """
    once(store, lambda tx: _settle(tx, run_id, request_id))


def needs_engine(db: sqlite3.Connection, run_id: int, request_id: int) -> bool:
    """Whether an engine must be started for a request to be answered."""
    request = request_queries.request(db, request_id)
    return request is not None and request.outcome is None and not run_queries.run(db, run_id).live


def _ask(tx: Tx, run_id: int, verb: Verb, args: JsonObject) -> int:
    request = requests.ask(tx, run_id, verb, args)
    _settle(tx, run_id, request)
    return request


def _settle(tx: Tx, run_id: int, request_id: int) -> None:
    """Answer a request, unless somebody has, or it takes an engine."""
    request = request_queries.request(tx.db, request_id)
    if request is None or request.outcome is not None or run_queries.run(tx.db, run_id).live:
        return
    verb = Verb(request.verb)
    if verb is Verb.CANCEL_RUN and open_consignments(tx.db, run_id):
        return  # providers go on with some of it: an engine has them end
    if verb in _WITHOUT_ENGINE:
        answer = _without_engine(tx, run_id, request_id, verb, request.args)
        requests.answer(tx, request_id, answer.outcome, answer.detail)


def _without_engine(
    tx: Tx, run_id: int, request_id: int, verb: Verb, args: JsonObject
) -> RequestAnswer:
    """Settle a request on a run nobody works on; the transaction is the lease."""
    run_writes.recover(tx, run_id)
    match verb:
        case Verb.CANCEL:
            return _move(tx, run_id, request_id, verb, args)
        case Verb.GRADE:
            return _move_if_it_makes_sense(tx, run_id, request_id, verb, args)
        case Verb.WITHDRAW:
            answer = _move_if_it_makes_sense(tx, run_id, request_id, verb, args)
            if answer.outcome is Outcome.ACCEPTED:
                previous_spec.put_back(tx, run_id, args)
            return answer
        case Verb.CANCEL_RUN:
            if run_queries.run(tx.db, run_id).state is RunState.CANCELLED:
                return RequestAnswer(Outcome.ALREADY, "the run is cancelled")
            answer = verbs.cancel_run(tx, run_id, request_id)
            if answer.outcome is Outcome.ACCEPTED:
                _end(tx, run_id)
            return answer
        case Verb.STOP:
            if run_writes.move(
                tx, run_id, RunState.INTERRUPTED, reason="stopped", stopped_by="person"
            ):
                _end(tx, run_id)
                return RequestAnswer(Outcome.ACCEPTED, "its engine was gone")
            return RequestAnswer(Outcome.ALREADY, "the run is not running")
        case _:
            return RequestAnswer(Outcome.CLOSED, "no engine works on this run; resume it first")


def _move_if_it_makes_sense(
    tx: Tx, run_id: int, request_id: int, verb: Verb, args: JsonObject
) -> RequestAnswer:
    try:
        return _move(tx, run_id, request_id, verb, args)
    except ValueError as error:
        return RequestAnswer(Outcome.CLOSED, str(error))


def _move(tx: Tx, run_id: int, request_id: int, verb: Verb, args: JsonObject) -> RequestAnswer:
    begun = request_moves.moved_count(tx.db, request_id)  # by an engine that died
    trials = verbs.selected(tx.db, run_id, args)
    if begun:
        trials = request_moves.not_moved_yet(tx.db, request_id, trials)
    found = MoveResult(begun)
    found.add(verbs.move_trials(tx.db, run_id, verb, args, request=request_id)(tx, trials))
    return verbs.answer_for(tx, verb, trials, found, begun=begun)


def _end(tx: Tx, run_id: int) -> None:
    """Let go of a run in place of an engine that went without doing so, or never was."""
    if run_queries.run(tx.db, run_id).ended_at is None:
        run_writes.end(tx, run_id)
    lease.release(tx, run_id)
