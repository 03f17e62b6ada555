"""What screens and scripts ask of a run: rows that its engine answers with a named outcome."""

import json
import os
from enum import StrEnum
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState
from tui_eval.store.text import pack
from tui_eval.store.tx import Tx


class Verb(StrEnum):
    """What can be asked."""

    CANCEL = "cancel"
    RETRY = "retry"
    RESCORE = "rescore"
    PAUSE = "pause"
    CONTINUE = "continue"
    STOP = "stop"
    """Stop the run, leave it resumable."""
    CANCEL_RUN = "cancel-run"
    RESUME = "resume"
    SET_LIMIT = "set-limit"
    UNCANCEL = "uncancel"
    """Take up again what a request has cancelled."""
    WITHDRAW = "withdraw"
    """Withdraw the scores that a rescore or a person has made: those before count again."""
    GRADE = "grade"
    """Let a person's grade be a score that outranks others, or withdraw one."""

    @property
    def takes_back(self) -> "frozenset[Verb]":
        """The verbs whose work it takes back."""
        match self:
            case Verb.UNCANCEL:
                return frozenset({Verb.CANCEL, Verb.CANCEL_RUN})
            case Verb.WITHDRAW:
                return frozenset({Verb.RESCORE, Verb.GRADE})
            case _:
                return frozenset()

    @property
    def called(self) -> str:
        """What it is called where a person asks for it."""
        match self:
            case Verb.UNCANCEL | Verb.WITHDRAW:
                return "undo"
            case Verb.CANCEL_RUN:
                return "cancel"
            case Verb.SET_LIMIT:
                return "another concurrency"
            case _:
                return self.value


JUST_STOPPED: Final = "the run has just stopped; ask again"
"""What an engine says that was leaving when it was asked."""


class Outcome(StrEnum):
    """How a request ended; asking twice is harmless."""

    ACCEPTED = "accepted"
    ALREADY = "already"
    """It is so already."""
    TOO_EARLY = "too-early"
    """It makes no sense yet: no output to score, say."""
    CLOSED = "closed"
    """It makes no sense any more, or nobody is there to do it."""


def ask(tx: Tx, run: int, verb: Verb, args: JsonObject | None = None) -> int:
    """Write a request down for the run's engine; return its id.

    Args:
        tx: The transaction.
        run: The run.
        verb: What is asked.
        args: `trials` (ids), or a selector: `which` = `all`, `errors`, `failed`, `ungraded`,
            `open`, with `cases` (ids) and `scorers` (names) where they narrow it; for
            `set-limit`: `endpoint` and `by` or `to`; for `resume`: caps in place of those in
            force (`max_cost_usd`, `max_tokens`, `max_errors`), `errored` = `leave` where
            errored trials are to stay as they are, and `collect` where nobody is to wait for what
            is asked in bulk; for `rescore`: `at_workers` where the run's executor is to have its
            workers decide what runs something; for `uncancel` and `withdraw`: `request`, the id
            of the request whose work is taken back; for `grade`: `grades`, see
            `engine.control.hand_grades`, with the `trials` they are about.
    """
    cursor = tx.db.execute(
        "INSERT INTO requests (run, verb, args, asked_by, asked_at) VALUES (?, ?, ?, ?, ?)",
        (run, verb, json.dumps(args or {}), f"process {os.getpid()}", tx.now),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid


def answer(tx: Tx, request: int, outcome: Outcome, detail: str | None = None) -> None:
    """Write down how a request ended.

    Args:
        tx: The transaction.
        request: Its id.
        outcome: The named outcome.
        detail: For a person: how many, or why not.
    """
    tx.db.execute(
        "UPDATE requests SET outcome = ?, detail = ?, answered_at = ? WHERE id = ?",
        (outcome, pack(detail), tx.now, request),
    )


def forget(tx: Tx, run: int) -> None:
    """Delete what was asked of a run; a request's id may be given to another one then."""
    tx.db.execute(
        "DELETE FROM moves WHERE request IN (SELECT id FROM requests WHERE run = ?)", (run,)
    )
    tx.db.execute("DELETE FROM requests WHERE run = ?", (run,))


def why_not_resumed(state: RunState, run_name: str, *, live: bool, unfinished: bool) -> str | None:
    """Say why a run cannot be resumed, on every screen and in every command; None: it can.

    Args:
        state: Its state.
        run_name: Its name.
        live: Whether an engine works on it.
        unfinished: Whether any of it is missing.
    """
    if live:
        return None if state is RunState.PAUSED else "the run is running"
    return why_cancelled(state, run_name) or (None if unfinished else "everything is finished")


def why_cancelled(state: RunState, run_name: str) -> str | None:
    """Say that a run was cancelled as a whole and what takes it up again; None: it was not."""
    if state is not RunState.CANCELLED:
        return None
    return (
        f"the run was cancelled; `tui-eval undo {run_name}` takes it up where it was left, "
        f"`tui-eval retry {run_name}` asks anew"
    )
