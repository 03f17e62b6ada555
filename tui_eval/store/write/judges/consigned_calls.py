"""What is written of judge calls that go out in bulk.

Each function is one fact inside a transaction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx

CONSIGNED: Final = "SELECT 1 FROM consigned_calls WHERE call = judge_calls.id"
"""A row (SQL) where one of `judge_calls` goes out, or went, in bulk."""

UNSENT: Final = "unsent"
"""The kind of failure of a call that its provider has not begun: nothing is paid for it."""
_NOT_DONE: Final = "its consignment was refused, or nobody waited for it any more"


@dataclass(frozen=True, slots=True)
class ConsignedQuestion:
    """Who waits for one item of a judge call."""

    position: int
    trial: int
    opening: int
    """The trial's."""
    scorer: str
    key: bytes
    form: JsonObject
    """How the reply about the item must look; `whole`: whether all of the question is asked."""
    item: str | None
    """The item's id in the request; None: it is the item of an equal question."""


def consign(
    tx: Tx,
    consignment: int,
    ordinal: int,
    call: int,
    nonce: str,
    questions: Sequence[ConsignedQuestion],
) -> None:
    """Put a judge call that was just written down into a consignment."""
    tx.db.execute(
        "INSERT INTO consigned_calls (consignment, ordinal, call, nonce) VALUES (?, ?, ?, ?)",
        (consignment, ordinal, call, nonce),
    )
    for question in questions:
        _wait_for(tx, call, question)


def join(tx: Tx, call: int, question: ConsignedQuestion) -> bool:
    """Let a trial wait for the item of a call that asks an equal question.

    What has come for the item counts for it, too. A trial that waited for it on an earlier
    opening waits on this one.

    Returns:
        False where nothing comes of the call any more.
    """
    open_ = tx.db.execute(
        "SELECT 1 FROM judge_calls c JOIN consigned_calls w ON w.call = c.id "
        "JOIN consignments k ON k.id = w.consignment WHERE c.id = ? "
        "AND c.state IN ('sent', 'answered') AND k.taken_at IS NULL",
        (call,),
    ).fetchone()
    if open_ is not None:
        _wait_for(tx, call, question)
        tx.db.execute(
            "UPDATE consigned_questions AS mine SET made = o.made, problem = o.problem "
            "FROM consigned_questions o WHERE o.call = mine.call AND o.position = mine.position "
            "AND o.item IS NOT NULL AND mine.call = ? AND mine.position = ? AND mine.trial = ? "
            "AND mine.scorer = ?",
            (call, question.position, question.trial, question.scorer),
        )
    return open_ is not None


def _wait_for(tx: Tx, call: int, question: ConsignedQuestion) -> None:
    tx.db.execute(
        "INSERT INTO consigned_questions "
        "(call, position, trial, opening, scorer, key, item, form) VALUES (?, ?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET opening = excluded.opening",
        (
            call,
            question.position,
            question.trial,
            question.opening,
            question.scorer,
            question.key,
            question.item,
            dump(question.form),
        ),
    )


def arrived(tx: Tx, call: int, line: bytes) -> bool:
    """Write down that a line of the results came; False where one came for the call before."""
    return (
        tx.db.execute(
            "UPDATE consigned_calls SET line = ? WHERE call = ? AND line IS NULL", (line, call)
        ).rowcount
        == 1
    )


def contradicted(tx: Tx, call: int, mark: bytes) -> None:
    """Write down, in the place of a line's digest, that another line says otherwise."""
    tx.db.execute("UPDATE consigned_calls SET line = ? WHERE call = ?", (mark, call))


def read(tx: Tx, call: int, made: Mapping[int, JsonObject], problems: Sequence[str | None]) -> None:
    """Keep what a reply says of its items, for all who wait for them.

    Args:
        tx: The transaction.
        call: The call.
        made: The parts that were read, by the item's position.
        problems: For each item why it is not answered, or not wholly; None: it is.
    """
    tx.db.executemany(
        "UPDATE consigned_questions SET made = ?, problem = ? WHERE call = ? AND position = ?",
        [
            (dump(made[place]) if place in made else None, pack(problem), call, place)
            for place, problem in enumerate(problems)
        ],
    )


def unread(tx: Tx, call: int, problem: str) -> None:
    """Say of all items of a call why they are not answered."""
    tx.db.execute(
        "UPDATE consigned_questions SET made = NULL, problem = ? WHERE call = ?",
        (pack(problem), call),
    )


def dropped(tx: Tx, call: int, *, lost: bool) -> None:
    """Say of a call that nothing comes of it: it was not done, or its provider forgot it.

    Args:
        tx: The transaction.
        call: The call.
        lost: Whether it may have been done, and may have to be paid.
    """
    tx.db.execute(
        "UPDATE judge_calls SET state = ?, error_kind = ?, error_message = ? "
        "WHERE id = ? AND state = 'sent'",
        (*(("lost", None, None) if lost else ("failed", UNSENT, pack(_NOT_DONE))), call),
    )


def keep_unawaited(tx: Tx, consignment: int) -> None:
    """Let whole answers of a consignment that nobody waits for be found by their keys.

    They satisfy no trial: theirs was cancelled, or is asked otherwise by now. One that was opened
    anew meanwhile may have another output, so that the answer names none.
    """
    waits = "t.opening = q.opening AND t.state = 'scoring'"
    tx.db.execute(
        "INSERT INTO findings (trial, output, scorer, judge, purpose, repeat, numbers, score_key, "
        "made, call, position, superseded, at) "
        "SELECT q.trial, iif(t.opening = q.opening, t.output, NULL), q.scorer, c.judge, c.purpose, "
        "i.repeat, json_extract(q.form, '$.numbers'), q.key, q.made, q.call, q.position, 1, ? "
        "FROM consigned_calls w JOIN consigned_questions q ON q.call = w.call "
        "JOIN judge_calls c ON c.id = q.call JOIN trials t ON t.id = q.trial "
        "JOIN judge_items i ON i.call = q.call AND i.position = q.position "
        "WHERE w.consignment = ? AND q.item IS NOT NULL AND q.made IS NOT NULL "
        "AND q.problem IS NULL AND json_extract(q.form, '$.whole') AND NOT EXISTS ("
        "SELECT 1 FROM consigned_questions q JOIN trials t ON t.id = q.trial "
        f"WHERE q.call = w.call AND q.position = i.position AND {waits}) "
        "AND NOT EXISTS (SELECT 1 FROM findings f WHERE f.trial = q.trial AND f.call = q.call "
        "AND f.position = q.position)",
        (tx.now, consignment),
    )
