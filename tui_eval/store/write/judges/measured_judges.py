"""What is written and read of how far a judge is to be trusted: audits and gold."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.case import Case
from tui_eval.model.json import JsonObject
from tui_eval.model.judge_quality import Audit, GoldAgreement
from tui_eval.model.outputs.output import Output
from tui_eval.store.read.trials import output_queries
from tui_eval.store.text import dump, unpack_text
from tui_eval.store.tx import Tx

AUDIT = "audit"
GOLD = "gold"


@dataclass(frozen=True, slots=True)
class BatchedAnswer:
    """What a judge said of one item of a batch, in the first place."""

    trial: int
    key: bytes
    made: JsonObject
    call: int
    position: int
    """Its place in the batch, from 0."""


@dataclass(frozen=True, slots=True)
class JudgedTrial:
    """A trial whose output was judged."""

    trial: int
    col: int
    case: Case
    output: Output


@dataclass(frozen=True, slots=True)
class ItemTokens:
    """Tokens, read and produced, for an item; None: not told."""

    batched: float | None
    alone: float | None


def write_measure(
    tx: Tx,
    run: int,
    scorer: str,
    judge: str,
    key: bytes,
    measured: Audit | GoldAgreement,
) -> None:
    """Write down what a run's judge was measured at; it replaces what the run had measured.

    Args:
        tx: The transaction.
        run: The run.
        scorer: The scorer that asks the judge.
        judge: The judge.
        key: All that the measure depends on: the same key is the same measure.
        measured: The measure.
    """
    kind = AUDIT if isinstance(measured, Audit) else GOLD
    tx.db.execute(
        "INSERT INTO trust (run, scorer, judge, kind, key, result, at) VALUES (?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET key = excluded.key, result = excluded.result, at = excluded.at",
        (run, scorer, judge, kind, key, dump(measured.as_json()), tx.now),
    )


def audit(db: sqlite3.Connection, key: bytes) -> Audit | None:
    """Return the last audit with a key, whichever run made it."""
    row = db.execute(
        "SELECT result FROM trust WHERE key = ? AND kind = 'audit' ORDER BY at DESC LIMIT 1", (key,)
    ).fetchone()
    return None if row is None else Audit.from_json(json.loads(row[0]))


def gold(db: sqlite3.Connection, run: int, key: bytes) -> GoldAgreement | None:
    """Return a run's agreement with gold, where it has measured it by this key."""
    row = db.execute(
        "SELECT result FROM trust WHERE run = ? AND key = ? AND kind = 'gold'", (run, key)
    ).fetchone()
    return None if row is None else GoldAgreement.from_json(json.loads(row[0]))


def measured(
    db: sqlite3.Connection, run: int
) -> tuple[dict[tuple[str, str], Audit], dict[tuple[str, str], GoldAgreement]]:
    """Return a run's audits and its agreements with gold, by scorer and judge."""
    audits: dict[tuple[str, str], Audit] = {}
    golds: dict[tuple[str, str], GoldAgreement] = {}
    for scorer, judge, kind, result in db.execute(
        "SELECT scorer, judge, kind, result FROM trust WHERE run = ?", (run,)
    ):
        if kind == AUDIT:
            audits[scorer, judge] = Audit.from_json(json.loads(result))
        else:
            golds[scorer, judge] = GoldAgreement.from_json(json.loads(result))
    return audits, golds


def batched(
    db: sqlite3.Connection,
    run: int,
    scorer: str,
    judge: str,
    after: BatchedAnswer | None,
    limit: int,
) -> list[BatchedAnswer]:
    """Return what a run's judge said wholly at the first asking in a batch of 2 or more, in order.

    Of each output that still counts the first of its repeats; copies from the store are left out.

    Args:
        db: The connection.
        run: The run.
        scorer: The scorer.
        judge: The judge.
        after: The last that is known already; None: none is.
        limit: How many at most.
    """
    rows = db.execute(
        "SELECT f.trial, f.score_key, f.made, c.id, i.position FROM judge_calls c "
        "CROSS JOIN judge_items i ON i.call = c.id "  # CROSS: in this order, so nothing is sorted
        "CROSS JOIN findings f ON f.trial = i.trial AND f.call = c.id AND f.position = i.position "
        "CROSS JOIN trials t ON t.id = f.trial AND t.output = f.output "
        "WHERE c.run = ?1 AND c.id >= ?4 AND (c.id, i.position) > (?4, ?5) "
        "AND c.scorer = ?2 AND c.judge = ?3 AND c.purpose = 'grade' AND c.round = 'first' "
        "AND c.items > 1 AND t.run = ?1 AND f.repeat = 0 AND f.problem IS NULL "
        "AND f.origin IS NULL AND f.superseded = 0 ORDER BY c.id, i.position LIMIT ?6",
        (run, scorer, judge, *((0, -1) if after is None else (after.call, after.position)), limit),
    )
    return [BatchedAnswer(trial, key, json.loads(made), *at) for trial, key, made, *at in rows]


def subjects(db: sqlite3.Connection, trials: Sequence[int]) -> list[JudgedTrial]:
    """Return trials with their cases and outputs; those without an output are left out."""
    rows = db.execute(
        "SELECT t.id, t.col, t.output, t.seq, c.id, c.data FROM trials t "
        "JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "WHERE t.id IN (SELECT value FROM json_each(?)) AND t.output IS NOT NULL",
        (dump(list(trials)),),
    ).fetchall()
    return [
        JudgedTrial(trial, col, Case.from_json(seq, unpack_text(name), json.loads(data)), output)
        for trial, col, made, seq, name, data in rows
        if (output := output_queries.output(db, made)) is not None
    ]


def audited(
    db: sqlite3.Connection, run: int, keys: Sequence[bytes]
) -> dict[bytes, JsonObject | None]:
    """Return what a run's audit has found for some keys; None: it was asked and not answered."""
    found: dict[bytes, JsonObject | None] = {}
    for key in keys:
        row = db.execute(
            "SELECT f.made, f.problem FROM findings f JOIN judge_calls c ON c.id = f.call "
            "WHERE f.score_key = ? AND f.purpose = 'audit' AND f.superseded = 0 AND c.run = ? "
            "ORDER BY f.problem IS NOT NULL, f.id DESC LIMIT 1",
            (key, run),
        ).fetchone()
        if row is not None:
            found[key] = json.loads(row[0]) if row[1] is None else None
    return found


def gold_findings(
    db: sqlite3.Connection, run: int, keys: Sequence[bytes], reuse: bool
) -> dict[bytes, JsonObject]:
    """Return the whole findings that the store has for some questions about gold.

    Args:
        db: The connection.
        run: The run that asks.
        keys: The questions' keys.
        reuse: Whether findings of other runs may be used; a run's own always are.
    """
    found: dict[bytes, JsonObject] = {}
    for key in keys:
        row = db.execute(
            "SELECT f.made FROM findings f WHERE f.score_key = ?1 AND f.superseded = 0 "
            "AND f.problem IS NULL "
            "AND (?3 OR EXISTS (SELECT 1 FROM judge_calls c WHERE c.id = f.call AND c.run = ?2)) "
            "ORDER BY f.id DESC LIMIT 1",
            (key, run, reuse),
        ).fetchone()
        if row is not None:
            found[key] = json.loads(row[0])
    return found


def tokens(db: sqlite3.Connection, run: int, scorer: str, judge: str) -> ItemTokens:
    """Return the tokens an item took in a run: in a batch of 2 or more, and alone for the audit."""
    query = (
        "SELECT sum(ifnull(input_tokens, 0) + ifnull(output_tokens, 0)) * 1.0 / sum(items) "
        "FROM judge_calls WHERE run = ? AND scorer = ? AND judge = ? AND state = 'answered' "
        "AND round = 'first' AND (input_tokens IS NOT NULL OR output_tokens IS NOT NULL) AND "
    )
    of = (run, scorer, judge)
    (in_batch,) = db.execute(query + "purpose = 'grade' AND items > 1", of).fetchone()
    (alone,) = db.execute(query + "purpose = 'audit' AND items = 1", of).fetchone()
    return ItemTokens(in_batch, alone)
