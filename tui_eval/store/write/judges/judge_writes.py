"""What is written of judges: their calls, the items in them, what they found."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx


@dataclass(frozen=True, slots=True)
class SentItem:
    """One item of a judge call."""

    trial: int | None
    """None: not of a trial, as gold."""
    repeat: int


@dataclass(frozen=True, slots=True)
class SentCall:
    """A request that is about to leave for a judge."""

    run: int
    scorer: str
    judge: str
    model: str | None
    purpose: str
    """`grade`, `audit` or `gold`."""
    round: str
    """`first`, or how repair came to ask again."""
    attempt: int
    """From 1; more after faults on the wire."""
    request: JsonObject
    items: tuple[SentItem, ...]


@dataclass(frozen=True, slots=True)
class NewFinding:
    """What a judge said of one output, or failed to say."""

    trial: int | None
    """None: not of a trial, as gold. Otherwise it is about the trial's present output."""
    scorer: str
    judge: str
    purpose: str
    repeat: int
    numbers: tuple[int, ...]
    key: bytes
    made: JsonObject
    """The parts that were read."""
    problem: str | None
    """Why it is not whole; None: it is."""
    call: int | None = None
    position: int | None = None
    origin: int | None = None
    """The finding it is copied from."""


def send(tx: Tx, call: SentCall) -> int:
    """Write down that a request is about to leave for a judge; return the call's id."""
    cursor = tx.db.execute(
        "INSERT INTO judge_calls (run, scorer, judge, model, purpose, round, try, items, request, "
        "state, sent_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'sent', ?)",
        (
            call.run,
            call.scorer,
            call.judge,
            call.model,
            call.purpose,
            call.round,
            call.attempt,
            len(call.items),
            dump(call.request),
            tx.now,
        ),
    )
    assert cursor.lastrowid is not None
    tx.db.executemany(
        "INSERT INTO judge_items (call, position, trial, repeat) VALUES (?, ?, ?, ?)",
        [(cursor.lastrowid, i, item.trial, item.repeat) for i, item in enumerate(call.items)],
    )
    return cursor.lastrowid


def answered(
    tx: Tx, call: int, output: Output, call_s: float | None, problems: Sequence[str | None]
) -> None:
    """Write down a judge's reply.

    Args:
        tx: The transaction.
        call: The call.
        output: What came back.
        call_s: Seconds of the call itself; None: nobody knows.
        problems: For each item why it was not graded, or not wholly; None: it was.
    """
    usage = output.usage
    tx.db.execute(
        "UPDATE judge_calls SET state = 'answered', reply = ?, finish_reason = ?, call_s = ?, "
        "input_tokens = ?, output_tokens = ?, cost_usd = ?, model = ifnull(?, model), "
        "about_tokens = ?, about_usd = ? WHERE id = ?",
        (
            pack(output.text),
            pack(output.finish_reason),
            call_s,
            usage.input,
            usage.output,
            output.cost_usd,
            pack(output.model),
            None if output.estimate is None else output.estimate.tokens,
            None if output.estimate is None else output.estimate.cost_usd,
            call,
        ),
    )
    tx.db.executemany(
        "UPDATE judge_items SET problem = ? WHERE call = ? AND position = ?",
        [(pack(why), call, i) for i, why in enumerate(problems) if why is not None],
    )


def failed(tx: Tx, call: int, failure: Failure, call_s: float | None) -> None:
    """Write down that a judge gave no reply."""
    tx.db.execute(
        "UPDATE judge_calls SET state = 'failed', call_s = ?, error_kind = ?, error_message = ?, "
        "input_tokens = ?, output_tokens = ?, cost_usd = ?, about_tokens = ?, about_usd = ? "
        "WHERE id = ?",
        (
            call_s,
            failure.kind,
            pack(failure.message),
            failure.usage.input,
            failure.usage.output,
            None if failure.usage.output is None else failure.cost_usd,
            None if failure.estimate is None else failure.estimate.tokens,
            None if failure.estimate is None else failure.estimate.cost_usd,
            call,
        ),
    )


def dropped(tx: Tx, call: int, call_s: float) -> None:
    """Write down that nobody waits for a judge's reply any more."""
    tx.db.execute(
        "UPDATE judge_calls SET state = 'cancelled', call_s = ? WHERE id = ? AND state = 'sent'",
        (call_s, call),
    )


def add_finding(tx: Tx, finding: NewFinding) -> int:
    """Keep what a judge said of an output; return the finding's id."""
    cursor = tx.db.execute(
        "INSERT INTO findings (trial, output, scorer, judge, purpose, repeat, numbers, score_key, "
        "made, problem, call, position, origin, at) "
        "VALUES (?1, (SELECT output FROM trials WHERE id = ?1), "
        "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            finding.trial,
            finding.scorer,
            finding.judge,
            finding.purpose,
            finding.repeat,
            dump(list(finding.numbers)),
            finding.key,
            dump(finding.made),
            pack(finding.problem),
            finding.call,
            finding.position,
            finding.origin,
            tx.now,
        ),
    )
    assert cursor.lastrowid is not None
    return cursor.lastrowid
