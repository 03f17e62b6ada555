"""What is read of judge calls for a person: request, reply, and who stood in the same batch."""

import json
import sqlite3
from dataclasses import dataclass

from tui_eval.model.json import JsonObject
from tui_eval.store.sent_in_bulk import COLUMNS, SentInBulk, sent_in_bulk
from tui_eval.store.text import unpack
from tui_eval.store.write.judges.consigned_calls import CONSIGNED

_MOST = 12
"""Calls about one trial that are read for a screen, the newest."""


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One item of a judge call."""

    position: int
    """From 0."""
    trial: int | None
    """None: not of a trial, as gold."""
    case_id: str | None
    column: str | None
    problem: str | None
    """Why it was not graded, or not wholly; None: it was, or there is no reply yet."""
    here: bool
    """Whether it is the trial's that was asked for, or an equal one whose grade it has."""


@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One request to a judge, and what came of it."""

    id: int
    scorer: str
    judge: str
    model: str | None
    purpose: str
    """`grade`, `audit` or `gold`."""
    round: str
    """`first`, or how repair came to ask again."""
    attempt: int
    """From 1; more after faults on the wire."""
    state: str
    """`sent`, `answered`, `failed`, `cancelled` or `lost`."""
    sent_at: float
    """Unix seconds."""
    call_s: float | None
    error: str | None
    finish_reason: str | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    about_usd: float | None
    """An estimate, where the endpoint did not tell."""
    request: JsonObject
    """Its `messages` and the `schema` that was asked for."""
    reply: str | None
    items: tuple[BatchItem, ...]
    bulk: SentInBulk | None = None
    """The consignment that it went out with; None: it was a call of its own."""


def calls_about(db: sqlite3.Connection, trial: int, *, most: int = _MOST) -> tuple[JudgeCall, ...]:
    """Return the judge calls in which a trial stood, the newest first.

    Where the trial has a copy of what a judge said of an equal output, or waits for one in bulk,
    that call is among them.

    Args:
        db: The connection.
        trial: The trial.
        most: The newest so many; -1: all.
    """
    rows = db.execute(
        "SELECT c.id, c.scorer, c.judge, c.model, c.purpose, c.round, c.try, c.state, c.sent_at, "
        "c.call_s, c.error_kind, c.error_message, c.finish_reason, c.input_tokens, "
        f"c.output_tokens, c.cost_usd, c.about_usd, c.request, c.reply, {COLUMNS} "
        "FROM judge_calls c LEFT JOIN consigned_calls w ON w.call = c.id "
        "LEFT JOIN consignments k ON k.id = w.consignment WHERE c.id IN "
        "(SELECT call FROM judge_items WHERE trial = ?1 UNION SELECT ifnull(o.call, f.call) "
        "FROM findings f LEFT JOIN findings o ON o.id = f.origin "
        "WHERE f.trial = ?1 AND f.superseded = 0 "
        "UNION SELECT call FROM consigned_questions WHERE trial = ?1) "
        "ORDER BY c.id DESC LIMIT ?2",
        (trial, most),
    ).fetchall()
    return tuple(
        JudgeCall(
            id=row[0],
            scorer=row[1],
            judge=row[2],
            model=unpack(row[3]),
            purpose=row[4],
            round=row[5],
            attempt=row[6],
            state=row[7],
            sent_at=row[8],
            call_s=row[9],
            error=None if row[10] is None else f"{row[10]}: {unpack(row[11]) or ''}",
            finish_reason=unpack(row[12]),
            input_tokens=row[13],
            output_tokens=row[14],
            cost_usd=row[15],
            about_usd=row[16],
            request=json.loads(row[17]),
            reply=unpack(row[18]),
            items=_items(db, row[0], trial),
            bulk=sent_in_bulk(row[19:]),
        )
        for row in rows
    )


def _items(db: sqlite3.Connection, call: int, trial: int) -> tuple[BatchItem, ...]:
    rows = db.execute(
        "SELECT i.position, i.trial, c.id, k.name, i.problem, i.trial IS ?2 OR EXISTS ("
        "SELECT 1 FROM findings f LEFT JOIN findings o ON o.id = f.origin WHERE f.trial = ?2 "
        "AND f.superseded = 0 AND ifnull(o.call, f.call) = i.call "
        "AND ifnull(o.position, f.position) = i.position) OR EXISTS (SELECT 1 "
        "FROM consigned_questions q WHERE q.call = i.call AND q.position = i.position "
        "AND q.trial = ?2) FROM judge_items i "
        "LEFT JOIN trials t ON t.id = i.trial "
        "LEFT JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "LEFT JOIN columns k ON k.run = t.run AND k.idx = t.col "
        "WHERE i.call = ?1 ORDER BY i.position",
        (call, trial),
    )
    return tuple(
        BatchItem(row[0], row[1], unpack(row[2]), row[3], unpack(row[4]), bool(row[5]))
        for row in rows
    )


@dataclass(frozen=True, slots=True)
class JudgingNow:
    """What is asked of judges at this moment."""

    calls: int = 0
    """Calls in flight, but for those at a provider in bulk."""
    purpose: str | None = None
    """What the newest call is for: `grade`, `audit` or `gold`; None: there never was one."""


def judging_now(db: sqlite3.Connection, run: int) -> JudgingNow:
    """Say what is asked of a run's judges at this moment."""
    (n,) = db.execute(
        "SELECT count(*) FROM judge_calls INDEXED BY judge_calls_sent "
        f"WHERE run = ? AND state = 'sent' AND NOT EXISTS ({CONSIGNED})",
        (run,),
    ).fetchone()
    newest = db.execute(
        "SELECT purpose FROM judge_calls WHERE run = ? ORDER BY id DESC LIMIT 1", (run,)
    ).fetchone()
    return JudgingNow(n, None if newest is None else newest[0])
