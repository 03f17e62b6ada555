"""Doing what is asked of runs that no engine works on, in whose place the asker does it.

Each transaction sees to it that there is still no engine, and so holds the run for as long as it
takes. What is about many trials takes many of them: an engine that comes between two has the rest
to do, as after one that died (see `request_moves`).
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tui_eval.engine.control import previous_spec, verbs
from tui_eval.engine.control.verbs import Move, MoveResult, RequestAnswer
from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState
from tui_eval.store import lease, requests
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.read.consignment_queries import open_consignments
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import RequestRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import request_moves, run_writes, trial_verbs
from tui_eval.store.writer import transact

_OF_TRIALS: Final = frozenset({Verb.CANCEL, Verb.WITHDRAW, Verb.GRADE})
"""What is about trials, and asks nobody for anything."""
_OF_RUNS: Final = frozenset({Verb.CANCEL_RUN, Verb.STOP, Verb.PAUSE, Verb.CONTINUE, Verb.SET_LIMIT})
"""What an asker can settle beside that; everything else takes an engine."""
_LEFT_TO_OTHERS: Final = 0.2
"""Of the time that a portion took, what others get before the next: who waits for the store looks
only now and again whether it may write."""


def go_on(db: sqlite3.Connection, run_id: int) -> None:
    """Do the rest of what an asker had begun that was ended: it was asked before what is next.

    Args:
        db: A writable connection.
        run_id: The run.

    Raises:
        sqlite3.Error: the store cannot be written.
    """
    for request in request_queries.requests(db, run_id):
        if Verb(request.verb) in _OF_TRIALS and request_moves.moved_count(db, request.id):
            finish(db, transact(db, partial(begin, run_id=run_id, request_id=request.id)))


def begin(tx: Tx, run_id: int, request_id: int) -> "UnfinishedRequest | None":
    """Answer a request, or do its first portion, unless somebody has, or it takes an engine.

    Returns:
        What is left to be done, see `finish`; None: nothing.
    """
    if not _is_ours(tx, run_id, request_id):
        return None
    request = request_queries.request(tx.db, request_id)
    assert request is not None, "it is pending"
    verb = Verb(request.verb)
    if verb is Verb.CANCEL_RUN and open_consignments(tx.db, run_id):
        return None  # providers go on with some of it: an engine has them end
    if verb in _OF_TRIALS:
        try:
            whole = UnfinishedRequest.of(tx, run_id, request, verb)
        except ValueError as error:
            _say(tx, request_id, RequestAnswer(Outcome.CLOSED, str(error)))
            return None
        return whole.next_portion(tx)
    if verb in _OF_RUNS:
        run_writes.recover(tx, run_id)
        _say(tx, request_id, _of_run(tx, run_id, request_id, verb))
    return None


def finish(db: sqlite3.Connection, rest: "UnfinishedRequest | None") -> None:
    """Do what `begin` has left of a request, with others' writes in between.

    Args:
        db: A writable connection; this takes its thread.
        rest: What is left; None: nothing.

    Raises:
        sqlite3.Error: the store cannot be written; what is not done by then is left as after a
            dead engine.
    """
    took_s = 0.0
    while rest is not None:
        time.sleep(_LEFT_TO_OTHERS * took_s)
        began = time.monotonic()
        rest = transact(db, rest.next_portion)
        took_s = time.monotonic() - began


@dataclass(frozen=True, slots=True)
class UnfinishedRequest:
    """A request about trials, of which some portions are done; a new one after each of them."""

    run: int
    request: int
    verb: Verb
    args: JsonObject
    move: Move
    trials: Sequence[int]
    """What was still to be moved when this began, in dataset order."""
    begun: int
    """How many had been moved by then."""
    found: MoveResult
    done: int = 0
    """How many of `trials` were dealt with."""

    @classmethod
    def of(cls, tx: Tx, run: int, request: RequestRow, verb: Verb) -> "UnfinishedRequest":
        """Find out what a request is about, and what of it was done by who died with it.

        Raises:
            ValueError: it makes no sense.
        """
        begun = request_moves.moved_count(tx.db, request.id)
        trials = verbs.selected(tx.db, run, request.args)
        if begun:
            trials = request_moves.not_moved_yet(tx.db, request.id, trials)
        move = verbs.move_trials(tx.db, run, verb, request.args, request=request.id)
        return cls(run, request.id, verb, request.args, move, trials, begun, MoveResult(begun))

    def next_portion(self, tx: Tx) -> "UnfinishedRequest | None":
        """Move the next portion; None: all is done, or somebody else does it."""
        if not _is_ours(tx, self.run, self.request):
            return None
        run_writes.recover(tx, self.run)  # an engine may have come, and gone, since the last
        portion = self.trials[self.done : self.done + verbs.PORTION]
        # as may an asker have that goes on with the same request
        left = request_moves.not_moved_yet(tx.db, self.request, portion)
        found = MoveResult(self.found.moved + len(portion) - len(left), Counter(self.found.refused))
        found.add(self.move(tx, left))
        done = self.done + len(portion)
        if done < len(self.trials):
            return replace(self, found=found, done=done)
        answer = verbs.answer_for(tx, self.verb, self.trials, found, begun=self.begun)
        if self.verb is Verb.WITHDRAW and answer.outcome is Outcome.ACCEPTED:
            _score_as_before(tx, self.run, self.args)
        _say(tx, self.request, answer)
        return None


def _is_ours(tx: Tx, run_id: int, request_id: int) -> bool:
    """Return whether nobody has answered a request, and no engine will."""
    return request_queries.is_pending(tx.db, request_id) and not run_queries.run(tx.db, run_id).live


def _say(tx: Tx, request_id: int, answer: RequestAnswer) -> None:
    requests.answer(tx, request_id, answer.outcome, answer.detail)


def _score_as_before(tx: Tx, run_id: int, args: JsonObject) -> None:
    if previous_spec.put_back(tx, run_id, args) is not None:
        # some may be left that were being scored when the last engine went
        trial_verbs.unscore_open(tx, run_id)


def _of_run(tx: Tx, run_id: int, request_id: int, verb: Verb) -> RequestAnswer:
    """Settle a request about a run as a whole; the transaction is the lease."""
    match verb:
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


def _end(tx: Tx, run_id: int) -> None:
    """Let go of a run in place of an engine that went without doing so, or never was."""
    if run_queries.run(tx.db, run_id).ended_at is None:
        run_writes.end(tx, run_id)
    lease.release(tx, run_id)
