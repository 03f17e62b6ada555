"""What requests do: each verb as facts of one transaction, with a named outcome.

The engine applies them while it works; where no engine is needed the asker does (`submit`). Both
use these functions, so a request means the same whoever answers it.
"""

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from tui_eval.engine.control import hand_grades
from tui_eval.engine.control.refusal import Refusal
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.read.consignment_queries import awaited_words, left_behind
from tui_eval.store.read.run_counts import board
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.search.views import STANDS, TrialOutcome
from tui_eval.store.tx import Tx
from tui_eval.store.write import request_moves, run_writes, trial_verbs, undo
from tui_eval.store.write.people import human_scores

_WHICH: dict[str, str] = {
    "all": "1",
    **{
        which: STANDS[which]
        for which in TrialOutcome
        if which not in (TrialOutcome.PASSED, TrialOutcome.UNMET)
    },
}

PORTION: Final = 200
"""Trials that are moved in one transaction; others' facts come in between."""


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """How a request ended."""

    outcome: Outcome
    detail: str | None = None


def selected(db: sqlite3.Connection, run: int, args: JsonObject) -> Sequence[int]:
    """Return the ids of the trials a request is about, in dataset order.

    Args:
        db: The connection.
        run: The run.
        args: `trials`: ids; else `which`: one of the words above, or a list of them, narrowed by
            `cases` (ids); else `request`: a request whose work is to be taken back.

    Raises:
        ValueError: `which` is no such word.
    """
    if "request" in args:
        done = args["request"]
        return request_moves.not_taken_back(db, done) if isinstance(done, int) else []
    if "trials" in args:
        return _ids(
            db,
            "SELECT id FROM trials WHERE run = ?1 "
            "AND id IN (SELECT value FROM json_each(?2)) ORDER BY place",
            run,
            json.dumps(args["trials"]),
        )
    wanted = _words(args.get("which", "all"))
    unknown = [word for word in wanted if word not in _WHICH]
    if unknown:
        raise ValueError(f"no trials are called {unknown[0]!r}; there are {', '.join(_WHICH)}")
    condition = " OR ".join(_WHICH[word] for word in wanted)
    cases = _words(args.get("cases"))
    if cases:
        named = [trial.id for trial in trial_rows.trials_of_cases(db, run, cases)]
        return _ids(
            db,
            "SELECT t.id FROM json_each(?2) j "  # noqa: S608
            "CROSS JOIN trials t ON t.id = j.value "
            f"WHERE t.run = ?1 AND ({condition}) ORDER BY t.place",
            run,
            json.dumps(named),
        )
    return _ids(
        db,
        f"SELECT t.id FROM trials t WHERE t.run = ? AND ({condition}) ORDER BY t.place",  # noqa: S608
        run,
    )


@dataclass(slots=True)
class MoveResult:
    """What became of trials that a request is about."""

    moved: int = 0
    refused: Counter[Refusal] = field(default_factory=Counter)
    """How many were left as they are, by why."""

    def add(self, other: "MoveResult") -> None:
        """Count what became of further trials."""
        self.moved += other.moved
        self.refused += other.refused


def only_grades_missing(db: sqlite3.Connection, run: int) -> bool:
    """Return whether all trials of a run have ended, none in error, and some are ungraded."""
    counts, _ = board(db, run)
    return counts.settled == counts.total and not counts.error and bool(counts.ungraded)


Move: TypeAlias = Callable[[Tx, Sequence[int]], MoveResult]


def asks_anew(args: JsonObject) -> bool:
    """Return whether a rescore asks judges for what they have said already.

    What is only ungraded is asked for what it lacks, and so is what other scorers or judges are
    to grade: what does not change in the questions is arithmetic. Everything else is asked anew.
    """
    edited = "scorer_specs" in args or "judge_specs" in args
    return not edited and args.get("which") != "ungraded"


def move_trials(
    db: sqlite3.Connection,
    run: int,
    verb: Verb,
    args: JsonObject,
    *,
    request: int,
    replaced: Collection[str] = (),
) -> Move:
    """Return the function that applies a verb to trials and says what became of them.

    Args:
        db: The connection.
        run: The run.
        verb: What is asked.
        args: The request's, see `store.requests.ask`.
        request: Its id, by which what it does can be taken back.
        replaced: For a rescore, the scorers that it lets ask otherwise.

    Raises:
        ValueError: the verb is not about trials, or the work to take back is not there.
    """
    one = _one(db, run, verb, args, request, replaced)

    def move(tx: Tx, trials: Sequence[int]) -> MoveResult:
        found = MoveResult()
        for trial in trials:
            why = one(tx, trial)
            if why is True:
                found.moved += 1
            else:
                found.refused[_refusal(tx, verb, trial) if why is False else why] += 1
        return found

    return move


def _one(
    db: sqlite3.Connection,
    run: int,
    verb: Verb,
    args: JsonObject,
    request: int,
    replaced: Collection[str],
) -> Callable[[Tx, int], bool | Refusal]:
    """Return the function that moves one trial, and says whether it did, or why not."""
    match verb:
        case Verb.CANCEL:
            return partial(trial_verbs.cancel, request=request)
        case Verb.RETRY:
            return partial(trial_verbs.retry, request=request)
        case Verb.RESCORE:
            scorers = _words(args.get("scorers"))
            return partial(
                trial_verbs.rescore,
                scorers=scorers,
                keep_findings=not asks_anew(args),
                replaced=[name for name in replaced if not scorers or name in scorers],
                request=request,
            )
        case Verb.UNCANCEL | Verb.WITHDRAW:
            done = request_to_undo(db, run, verb, args)
            take_back = _TAKES_BACK[done.verb]

            def one(tx: Tx, trial: int) -> bool | Refusal:
                why = take_back(tx, trial, done.id, request)
                if why is None:
                    return True
                early = why == undo.NOT_YET
                return Refusal(Outcome.TOO_EARLY if early else Outcome.CLOSED, why)

            return one
        case Verb.GRADE:
            return partial(hand_grades.apply, hand_grades.read(args), request)
    raise ValueError(f"{verb} is not about trials")


_TAKES_BACK: dict[Verb, Callable[[Tx, int, int, int], str | None]] = {
    Verb.CANCEL: undo.uncancel,
    Verb.CANCEL_RUN: undo.uncancel,
    Verb.RESCORE: undo.withdraw,
    Verb.GRADE: human_scores.take_back,
}
"""How a trial is put back to where it was before a request moved it."""


@dataclass(frozen=True, slots=True)
class UndoableRequest:
    """A request whose work is to be taken back."""

    id: int
    verb: Verb

    @property
    def undone_by(self) -> Verb:
        """The verb that takes it back."""
        return next(verb for verb in Verb if self.verb in verb.takes_back)


def request_to_undo(
    db: sqlite3.Connection, run: int, verb: Verb, args: JsonObject
) -> UndoableRequest:
    """Find the request whose work another one is to take back.

    Raises:
        ValueError: the run has no such request, it has done nothing, or nothing that the verb takes
            back.
    """
    row = db.execute(
        "SELECT id, verb FROM requests WHERE run = ? AND id = ? AND outcome = 'accepted'",
        (run, args.get("request")),
    ).fetchone()
    if row is None:
        raise ValueError("there is no such request that has done anything")
    done = UndoableRequest(row[0], Verb(row[1]))
    if done.verb not in verb.takes_back:
        raise ValueError(f"{verb} does not undo {done.verb}")
    return done


def last_done(db: sqlite3.Connection, run: int) -> UndoableRequest | None:
    """Find the last request whose work can be taken back, and has not been; None: there is none."""
    verbs = [taken.value for verb in Verb for taken in verb.takes_back]
    row = db.execute(
        "SELECT r.id, r.verb FROM requests r WHERE r.run = ?1 AND r.outcome = 'accepted' "
        "AND r.verb IN (SELECT value FROM json_each(?2)) "
        "AND NOT EXISTS (SELECT 1 FROM requests u WHERE u.run = r.run AND u.outcome = 'accepted' "
        "AND u.verb IN ('uncancel', 'withdraw') AND json_extract(u.args, '$.request') = r.id) "
        "AND EXISTS (SELECT 1 FROM moves m WHERE m.request = r.id AND m.undone_by IS NULL "
        "AND NOT EXISTS (SELECT 1 FROM moves n WHERE n.trial = m.trial AND n.id > m.id "
        "AND n.undone_by IS NULL)) ORDER BY r.id DESC LIMIT 1",
        (run, json.dumps(verbs)),
    ).fetchone()
    return None if row is None else UndoableRequest(row[0], Verb(row[1]))


def answer_for(
    tx: Tx, verb: Verb, trials: Sequence[int], found: MoveResult, *, begun: int = 0
) -> RequestAnswer:
    """Say how a request about trials ended, and what cancelled ones leave with providers.

    Args:
        tx: The transaction that closes it.
        verb: What was asked.
        trials: The ids of those that it is about, but for those an engine that died has moved.
        found: What became of all.
        begun: How many those were.
    """
    answer = _moved_words(verb, begun + len(trials), found)
    if verb is not Verb.CANCEL or answer.outcome is not Outcome.ACCEPTED:
        return answer
    left = left_behind(tx.db, trials)
    if not left:
        return answer
    return RequestAnswer(answer.outcome, f"{answer.detail}; {awaited_words(left)}")


def _moved_words(verb: Verb, total: int, found: MoveResult) -> RequestAnswer:
    if not total and verb in (Verb.UNCANCEL, Verb.WITHDRAW):
        return RequestAnswer(Outcome.CLOSED, "nothing of it is left to undo")
    if not total:
        return RequestAnswer(Outcome.CLOSED, "there are no such trials")
    if found.moved == total:
        return RequestAnswer(Outcome.ACCEPTED, _many(total))
    reasons = found.refused.most_common()
    if total == 1:
        return RequestAnswer(reasons[0][0].outcome, f"it {reasons[0][0].why}")
    # of one reason the number stands before it already
    whys = [f"{n:,} {_short(one)}" if len(reasons) > 1 else _short(one) for one, n in reasons]
    left = f"{total - found.moved:,} of {total:,} not: {', '.join(whys)}"
    if found.moved:
        return RequestAnswer(Outcome.ACCEPTED, f"{_many(found.moved)}; {left}")
    return RequestAnswer(reasons[0][0].outcome, left)


def _short(refusal: Refusal) -> str:
    """Return a reason without its verb, as beside a number of trials."""
    first, _, rest = refusal.why.partition(" ")
    return rest if first in ("is", "was", "has") else refusal.why


def _refusal(tx: Tx, verb: Verb, trial: int) -> Refusal:
    """Say why a trial was not moved."""
    row = tx.db.execute(
        "SELECT state, output IS NOT NULL FROM trials WHERE id = ?", (trial,)
    ).fetchone()
    state, has_output = TrialState(row[0]), bool(row[1])
    if verb is Verb.CANCEL:
        return Refusal(Outcome.ALREADY, f"is settled already ({state})")
    if verb is Verb.RETRY:
        return Refusal(Outcome.ALREADY, f"is on its way already ({state})")
    if state is TrialState.SCORING:
        return Refusal(Outcome.ALREADY, "is being scored")
    if not has_output and not state.settled:
        return Refusal(Outcome.TOO_EARLY, f"has no output yet ({state})")
    return Refusal(Outcome.CLOSED, f"has no output to score ({state})")


def to_reopen(
    db: sqlite3.Connection, run: int, request: int, *, errored: bool = True
) -> Sequence[int]:
    """Return the trials that a resume opens (`reopen`), in dataset order, and has not yet.

    An output that was cut short or filtered is not judged again: nothing would change.

    Args:
        db: The connection.
        run: The run.
        request: The request to resume it: an engine that died may have begun.
        errored: Whether errored trials run again; else they stay as they are.
    """
    chosen = _ids(
        db,
        f"SELECT t.id FROM trials t WHERE t.run = ? AND {STANDS[TrialOutcome.UNGRADED]} "  # noqa: S608
        "AND t.state = 'done' AND EXISTS (SELECT 1 FROM scores s INDEXED BY scores_unmet "
        "WHERE s.trial = t.id AND s.current = 1 AND s.verdict <> 'pass' "
        "AND s.verdict = 'ungraded' AND s.source = 'judge') ORDER BY t.place",
        run,
    )
    if errored:
        chosen = array("q", [*selected(db, run, {"which": TrialOutcome.ERRORS}), *chosen])
    if request_moves.moved_count(db, request):
        return request_moves.not_moved_yet(db, request, chosen)
    return chosen


def reopen(tx: Tx, trials: Sequence[int], request: int) -> None:
    """Resume: errored trials run again, ungraded ones are judged again, cancelled ones stay.

    Args:
        tx: The transaction.
        trials: Some of those that `to_reopen` has found.
        request: The request to resume their run.
    """
    for trial in trials:
        row = tx.db.execute("SELECT state FROM trials WHERE id = ?", (trial,)).fetchone()
        if TrialState(row[0]) is TrialState.ERROR:
            # what failed after its output was there needs no new one
            if not trial_verbs.rescore(tx, trial, keep_findings=True, request=request):
                trial_verbs.retry(tx, trial, request, afresh=False)
            continue
        names = tx.db.execute(
            "SELECT scorer FROM scores WHERE trial = ? AND current = 1 AND verdict = 'ungraded'",
            (trial,),
        ).fetchall()
        if names:  # of none, all would be made anew
            lacking = [str(name) for (name,) in names]
            trial_verbs.rescore(tx, trial, lacking, keep_findings=True, request=request)


def resumed(left: int) -> RequestAnswer:
    """Say how a resume went after which so many trials are open."""
    if left:
        return RequestAnswer(Outcome.ACCEPTED, f"{_many(left)} to finish")
    return RequestAnswer(Outcome.ALREADY, "nothing is missing")


def cancel_run(tx: Tx, run: int, request: int) -> RequestAnswer:
    """Close every open trial of a run as cancelled, and the run with them."""
    request_moves.record_open(tx, request, run)
    cancelled = tx.db.execute(
        "UPDATE trials SET state = 'cancelled', since = ?, change = ?, waiting = NULL, "
        "waiting_until = NULL, verdict = NULL, score = NULL "
        "WHERE run = ? AND state IN ('queued', 'running', 'scoring')",
        (tx.now, tx.change, run),
    ).rowcount
    moved = run_writes.move(
        tx, run, RunState.CANCELLED, reason="cancelled by a person", stopped_by="person"
    )
    if moved:
        return RequestAnswer(Outcome.ACCEPTED, f"{_many(cancelled)} cancelled")
    return RequestAnswer(Outcome.ALREADY, "the run is finished")


def _ids(db: sqlite3.Connection, sql: str, *values: object) -> Sequence[int]:
    """Return what a query finds, eight bytes a row: all trials of a run are millions."""
    return array("q", (row[0] for row in db.execute(sql, values)))


def _words(value: Json) -> list[str]:
    if value is None:
        return []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _many(n: int) -> str:
    return "1 trial" if n == 1 else f"{n:,} trials"
