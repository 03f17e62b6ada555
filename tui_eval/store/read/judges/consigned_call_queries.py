"""Questions about judge calls that go out in bulk: what they ask, and what came of it."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tui_eval.model.json import JsonObject
from tui_eval.store.read.consignment_queries import GRADE_AWAITED, NAMED, NEVER_DONE, UNTOLD
from tui_eval.store.text import unpack_text
from tui_eval.store.write.judges.consigned_calls import UNSENT


@dataclass(frozen=True, slots=True)
class ConsignedItem:
    """One item of a judge call."""

    id: str
    """Its own in the request."""
    form: JsonObject
    """How the reply about it must look."""


@dataclass(frozen=True, slots=True)
class ConsignedCall:
    """A judge call of a consignment."""

    ordinal: int
    call: int
    request: JsonObject
    """Its messages, and the schema of the reply."""
    nonce: str
    line: bytes | None
    """Digest of what came for it; None: nothing has."""
    items: tuple[ConsignedItem, ...]
    waits: bool
    """Whether a trial still waits for an item."""


def calls(
    db: sqlite3.Connection, consignment: int, ordinals: Sequence[int]
) -> dict[int, ConsignedCall]:
    """Return calls of a consignment by their ordinals; those that it does not have are left out."""
    return _calls(db, NAMED, (consignment, json.dumps(list(ordinals))))


def nothing_came_for(
    db: sqlite3.Connection, consignment: int, after: int, limit: int
) -> dict[int, ConsignedCall]:
    """Return calls of a consignment for which no line came, in their order.

    Args:
        db: The connection.
        consignment: The consignment.
        after: An ordinal; -1: from the first on.
        limit: How many at most.
    """
    return _calls(db, UNTOLD, (consignment, after, limit))


def _calls(
    db: sqlite3.Connection, where: str, values: tuple[object, ...]
) -> dict[int, ConsignedCall]:
    rows = db.execute(
        f"SELECT c.ordinal, c.call, a.request, c.nonce, c.line, EXISTS ({GRADE_AWAITED}) "
        f"FROM consigned_calls c JOIN judge_calls a ON a.id = c.call WHERE {where}",
        values,
    ).fetchall()
    return {
        ordinal: ConsignedCall(
            ordinal, call, json.loads(request), nonce, line, _items(db, call), bool(waits)
        )
        for ordinal, call, request, nonce, line, waits in rows
    }


def _items(db: sqlite3.Connection, call: int) -> tuple[ConsignedItem, ...]:
    rows = db.execute(
        "SELECT item, form FROM consigned_questions WHERE call = ? AND item IS NOT NULL "
        "ORDER BY position",
        (call,),
    )
    return tuple(ConsignedItem(item, json.loads(form)) for item, form in rows)


AskedInBulk: TypeAlias = tuple[bytes, int, int, str]
"""A question: its key, its trial with that one's opening, and its scorer."""


@dataclass(frozen=True, slots=True)
class CallItem:
    """An item of a call."""

    call: int
    position: int


@dataclass(frozen=True, slots=True)
class BulkHistory:
    """What came of one question on the present opening of its trial, in bulk."""

    awaited: bool = False
    """Whether an answer is to come."""
    equal: CallItem | None = None
    """An equal question of another trial whose answer is to come."""
    asks: int = 0
    """How often it was asked on this opening, and not wholly answered, never done or lost."""
    made: tuple[JsonObject, ...] = ()
    """What was read, oldest first."""
    problem: str | None = None
    """Why the last answer is none, or is not whole."""
    never_done: bool = False
    """Whether the provider never did the last call, or lost it."""
    last: CallItem | None = None
    """The last that asked it, of those that came to an end."""
    told: bool = False
    """Whether a finding says already what came of it: another judge of the trial was waited for."""


def histories(
    db: sqlite3.Connection, run: int, asked: Sequence[AskedInBulk], shares: bool
) -> dict[AskedInBulk, BulkHistory]:
    """Return what came of some questions in bulk; of those that nothing is known of: nothing.

    Args:
        db: The connection.
        run: The run.
        asked: The questions.
        shares: Whether the answer to an equal question of another trial is taken.
    """
    found = {}
    for one in asked:
        history = _history(db, one)
        if history is None and (equal := _equal(db, run, one, shares)) is not None:
            history = BulkHistory(equal=equal)
        if history is not None:
            found[one] = history
    return found


def _history(db: sqlite3.Connection, asked: AskedInBulk) -> BulkHistory | None:
    """Return what came of a question; answers from earlier openings count that none has taken."""
    key, trial, _, scorer = asked
    rows = db.execute(
        "SELECT q.call, q.position, q.made, q.problem, c.state, c.error_kind, c.error_message, "
        "q.opening = ?3, k.taken_at IS NULL "
        "FROM consigned_questions q JOIN judge_calls c ON c.id = q.call "
        "JOIN consigned_calls w ON w.call = q.call JOIN consignments k ON k.id = w.consignment "
        "WHERE q.key = ?1 AND q.trial = ?2 AND q.scorer = ?4 AND (q.opening = ?3 "
        "OR q.made IS NOT NULL AND k.taken_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM findings f "
        "WHERE f.trial = q.trial AND f.call = q.call AND f.position = q.position)) "
        "ORDER BY q.call",
        asked,
    ).fetchall()
    if any(row[-1] for row in rows):
        return BulkHistory(awaited=True)
    over = [row for row in rows if row[4] != "sent" and row[5] != UNSENT]
    if not over:
        return None
    call, position, _, problem, state, kind, message, *_ = over[-1]
    why = problem if problem is not None else message
    told = db.execute(
        "SELECT EXISTS (SELECT 1 FROM findings WHERE trial = ? AND scorer = ? AND score_key = ? "
        "AND call = ? AND position = ? AND superseded = 0)",
        (trial, scorer, key, call, position),
    ).fetchone()[0]
    return BulkHistory(
        asks=sum(row[7] for row in over),
        made=tuple(json.loads(row[2]) for row in over if row[2] is not None),
        problem=None if why is None else unpack_text(why),
        never_done=state == "lost" or kind in NEVER_DONE,
        last=CallItem(call, position),
        told=bool(told),
    )


def _equal(db: sqlite3.Connection, run: int, asked: AskedInBulk, shares: bool) -> CallItem | None:
    """Return an open item that asks just this: of the same trial on an earlier opening, or any."""
    key, trial, *_ = asked
    row = db.execute(
        "SELECT q.call, q.position FROM consigned_questions q JOIN judge_calls c ON c.id = q.call "
        "JOIN consigned_calls w ON w.call = q.call JOIN consignments k ON k.id = w.consignment "
        "WHERE q.key = ?1 AND q.item IS NOT NULL AND k.run = ?2 AND (?3 OR q.trial = ?4) "
        "AND k.taken_at IS NULL AND c.state IN ('sent', 'answered') "
        "AND json_extract(q.form, '$.whole') ORDER BY q.call DESC LIMIT 1",
        (key, run, shares, trial),
    ).fetchone()
    return None if row is None else CallItem(*row)
