"""What requests do: each verb as facts of one transaction, with a named outcome.

The engine applies them while it works; where no engine is needed the asker does (`asking`). Both
use these functions, so a request means the same whoever answers it.
"""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import RunState, TrialState
from tui_eval.store import reader, record, runs
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.tx import Tx

_WHICH = {
    "all": "1",
    "open": "t.state IN ('queued', 'running', 'scoring')",
    "errors": "t.state = 'error'",
    "failed": "t.verdict = 'fail'",
    "ungraded": "t.verdict = 'ungraded'",
    "cancelled": "t.state = 'cancelled'",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request ended."""

    outcome: Outcome
    detail: str | None = None


def selected(db: sqlite3.Connection, run: int, args: JsonObject) -> list[int]:
    """Give the ids of the trials a request is about, in dataset order.

    Args:
        db: The connection.
        run: The run.
        args: `trials`: ids; else `which`: one of the words above, or a list of them, narrowed by
            `cases` (ids).

    Raises:
        ValueError: `which` is no such word.
    """
    if "trials" in args:
        return [
            row[0]
            for row in db.execute(
                "SELECT id FROM trials WHERE run = ?1 "
                "AND id IN (SELECT value FROM json_each(?2)) ORDER BY place",
                (run, json.dumps(args["trials"])),
            )
        ]
    wanted = _words(args.get("which", "all"))
    unknown = [word for word in wanted if word not in _WHICH]
    if unknown:
        raise ValueError(f"no trials are called {unknown[0]!r}; there are {', '.join(_WHICH)}")
    condition = " OR ".join(_WHICH[word] for word in wanted)
    cases = _words(args.get("cases"))
    if cases:
        named = {trial.id for trial in reader.trials_of_cases(db, run, cases)}
        return [trial for trial in _those(db, run, condition) if trial in named]
    return _those(db, run, condition)


def _those(db: sqlite3.Connection, run: int, condition: str) -> list[int]:
    return [
        row[0]
        for row in db.execute(
            f"SELECT t.id FROM trials t WHERE t.run = ? AND ({condition}) ORDER BY t.place",  # noqa: S608
            (run,),
        )
    ]


def move_trials(verb: Verb, args: JsonObject) -> Callable[[Tx, Sequence[int]], int]:
    """Give the function that applies a verb to trials and says how many it moved."""
    if verb is Verb.CANCEL:
        return lambda tx, trials: sum(record.cancel(tx, trial) for trial in trials)
    if verb is Verb.RETRY:
        return lambda tx, trials: sum(record.retry(tx, trial) for trial in trials)
    if verb is Verb.RESCORE:
        scorers = _words(args.get("scorers"))
        # what is only ungraded is asked for what it lacks; everything else is asked anew
        keep = args.get("which") == "ungraded"
        return lambda tx, trials: sum(
            record.rescore(tx, trial, scorers, keep_findings=keep) for trial in trials
        )
    raise ValueError(f"{verb} is not about trials")


def answer_for(tx: Tx, verb: Verb, trials: Sequence[int], moved: int) -> Answer:
    """Say how a request about trials ended."""
    if not trials:
        return Answer(Outcome.CLOSED, "there are no such trials")
    if moved == len(trials):
        return Answer(Outcome.ACCEPTED, _many(moved))
    if moved:
        return Answer(Outcome.ACCEPTED, f"{moved} of {_many(len(trials))}")
    return _refusal(tx, verb, trials)


def _refusal(tx: Tx, verb: Verb, trials: Sequence[int]) -> Answer:
    """Say why nothing was moved, by the first trial."""
    row = tx.db.execute(
        "SELECT state, output IS NOT NULL FROM trials WHERE id = ?", (trials[0],)
    ).fetchone()
    state, has_output = TrialState(row[0]), bool(row[1])
    if verb is Verb.CANCEL:
        return Answer(Outcome.ALREADY, f"it is settled already ({state})")
    if verb is Verb.RETRY:
        return Answer(Outcome.ALREADY, f"it is on its way already ({state})")
    if state is TrialState.SCORING:
        return Answer(Outcome.ALREADY, "it is being scored")
    if not has_output and not state.settled:
        return Answer(Outcome.TOO_EARLY, f"it has no output yet ({state})")
    return Answer(Outcome.CLOSED, f"it has no output to score ({state})")


def reopen(tx: Tx, run: int, *, errored: bool = True) -> int:
    """Resume: errored trials run again, ungraded ones are judged again, cancelled ones stay.

    An output that was cut short or filtered is not judged again: nothing would change.

    Args:
        tx: The transaction.
        run: The run.
        errored: Whether errored trials run again; else they stay as they are.

    Returns:
        How many trials are open now that were not.
    """
    broken = _ids(tx, "SELECT id FROM trials WHERE run = ? AND state = 'error'", run)
    ungraded = _ids(
        tx,
        "SELECT id FROM trials WHERE run = ? AND state = 'done' AND verdict = 'ungraded' "
        "AND id IN (SELECT trial FROM scores WHERE current = 1 AND verdict = 'ungraded' "
        "AND source = 'judge')",
        run,
    )
    # what failed after its output was there needs no new one
    moved = sum(
        record.rescore(tx, trial, keep_findings=True) or record.retry(tx, trial)
        for trial in broken
        if errored
    )
    for trial in ungraded:
        names = _ids(
            tx,
            "SELECT scorer FROM scores WHERE trial = ? AND current = 1 AND verdict = 'ungraded'",
            trial,
        )
        moved += record.rescore(tx, trial, [str(name) for name in names], keep_findings=True)
    return moved


def resumed(left: int) -> Answer:
    """Say how a resume went after which so many trials are open."""
    if left:
        return Answer(Outcome.ACCEPTED, f"{_many(left)} to finish")
    return Answer(Outcome.ALREADY, "nothing is missing")


def cancel_run(tx: Tx, run: int) -> Answer:
    """Close every open trial of a run as cancelled, and the run with them."""
    cancelled = tx.db.execute(
        "UPDATE trials SET state = 'cancelled', since = ?, change = ?, waiting = NULL, "
        "waiting_until = NULL, verdict = NULL, score = NULL "
        "WHERE run = ? AND state IN ('queued', 'running', 'scoring')",
        (tx.now, tx.change, run),
    ).rowcount
    moved = runs.move(
        tx, run, RunState.CANCELLED, reason="cancelled by a person", stopped_by="person"
    )
    if moved:
        return Answer(Outcome.ACCEPTED, f"{_many(cancelled)} cancelled")
    return Answer(Outcome.ALREADY, "the run is finished")


def _ids(tx: Tx, sql: str, value: int) -> list[int]:
    return [row[0] for row in tx.db.execute(sql, (value,))]


def _words(value: Json) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _many(n: int) -> str:
    return "1 trial" if n == 1 else f"{n} trials"
