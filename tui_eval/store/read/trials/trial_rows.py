"""Trials with their attempts and scores, as rows, and the cases they are of."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any, TypeAlias

from tui_eval.model.case import Case
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.bulk_waiting import LEFT_AT, WAITING
from tui_eval.store.read.many_rows import batched, question_marks
from tui_eval.store.rows import (
    AttemptRow,
    ScoreRow,
    TrialRow,
)
from tui_eval.store.sent_in_bulk import COLUMNS, sent_in_bulk
from tui_eval.store.text import load, pack, unpack, unpack_text

_TRIAL = (
    "SELECT t.id, t.place, t.seq, t.col, t.epoch, c.id, k.name, t.state, t.verdict, t.score, "
    "t.generation_key, t.output, t.cached, t.attempts, t.error_kind, t.error_message, "
    f"{WAITING}, t.waiting_until, t.latency_s, t.input_tokens, t.output_tokens, t.cost_usd, "
    "t.about_usd, t.since, t.change, "
    "(SELECT n.text FROM notes n WHERE n.trial = t.id AND n.current = 1), "
    f"{LEFT_AT} "
    "FROM trials t JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "JOIN columns k ON k.run = t.run AND k.idx = t.col "
)


TrialName: TypeAlias = tuple[str, str, int]
"""Case, column and epoch: what a trial is called in every run of its suite."""


def trial(db: sqlite3.Connection, trial_id: int) -> TrialRow | None:
    """Return one trial by its id."""
    row = db.execute(f"{_TRIAL}WHERE t.id = ?", (trial_id,)).fetchone()
    return None if row is None else _trial(row)


def trials_from(db: sqlite3.Connection, run_id: int, place: int, limit: int) -> list[TrialRow]:
    """Return the trials at `place` and after, in dataset order."""
    rows = db.execute(
        f"{_TRIAL}WHERE t.run = ? AND t.place >= ? ORDER BY t.place LIMIT ?", (run_id, place, limit)
    )
    return [_trial(row) for row in rows]


def trials_at(db: sqlite3.Connection, run_id: int, places: Sequence[int]) -> list[TrialRow]:
    """Return the trials at these places, in the order asked; those not there are left out."""
    rows = db.execute(
        f"{_TRIAL}JOIN json_each(?2) j ON j.value = t.place WHERE t.run = ?1 ORDER BY j.key",
        (run_id, json.dumps(list(places))),
    )
    return [_trial(row) for row in rows]


def trials_changed(
    db: sqlite3.Connection, run_id: int, since: int, limit: int = -1
) -> list[TrialRow]:
    """Return the trials whose change number is above `since`, oldest change first."""
    rows = db.execute(
        f"{_TRIAL}WHERE t.run = ? AND t.change > ? ORDER BY t.change, t.place LIMIT ?",
        (run_id, since, limit),
    )
    return [_trial(row) for row in rows]


def trials_of_cases(db: sqlite3.Connection, run_id: int, case_ids: Sequence[str]) -> list[TrialRow]:
    """Return all trials of the cases named, in dataset order."""
    wanted = [pack(case_id) for case_id in dict.fromkeys(case_ids)]
    rows: list[Sequence[Any]] = []
    for few in batched(wanted):
        # bound, not as JSON: SQLite's JSON knows neither NUL nor lone surrogates
        rows += db.execute(
            f"{_TRIAL}WHERE t.run = ? AND c.id IN ({question_marks(few)})", (run_id, *few)
        )
    return sorted((_trial(row) for row in rows), key=lambda trial: trial.place)


def names_of_cases(db: sqlite3.Connection, run: int, case_ids: Sequence[str]) -> set[TrialName]:
    """Return the trials that a run has of some cases."""
    return {
        (unpack_text(row[0]), row[1], row[2])
        for few in batched([pack(case_id) for case_id in dict.fromkeys(case_ids)])
        for row in db.execute(
            "SELECT c.id, k.name, t.epoch FROM cases c "
            "JOIN trials t ON t.run = c.run AND t.seq = c.seq "
            "JOIN columns k ON k.run = c.run AND k.idx = t.col "
            f"WHERE c.run = ? AND c.id IN ({question_marks(few)})",
            (run, *few),
        )
    }


def case(db: sqlite3.Connection, run_id: int, seq: int) -> Case:
    """Return a case out of the run's frozen copy."""
    case_id, data = db.execute(
        "SELECT id, data FROM cases WHERE run = ? AND seq = ?", (run_id, seq)
    ).fetchone()
    return Case.from_json(seq, unpack_text(case_id), json.loads(data))


def attempts(db: sqlite3.Connection, trial_id: int) -> list[AttemptRow]:
    """Return a trial's attempts, oldest first."""
    return [
        _attempt(row)
        for row in db.execute(
            "SELECT a.id, a.number, a.state, a.sent_at, a.queue_s, a.wait_s, a.call_s, "
            "a.error_kind, a.error_message, a.status, a.retry_after_s, a.partial, a.printed, "
            "a.output, a.input_tokens, a.output_tokens, a.cost_usd, a.about_usd, "
            f"{COLUMNS} FROM attempts a LEFT JOIN consigned c ON c.attempt = a.id "
            "LEFT JOIN consignments k ON k.id = c.consignment "
            "WHERE a.trial = ? ORDER BY a.number",
            (trial_id,),
        )
    ]


def scores(db: sqlite3.Connection, trial_id: int) -> list[ScoreRow]:
    """Return a trial's whole score history, oldest first."""
    return [
        _score(row)
        for row in db.execute(
            "SELECT id, output, scorer, verdict, value, raw, reason, source, weight, required, "
            "current, superseded, withdrawn_at, superseded_by, (SELECT m.at FROM moves m "
            "WHERE m.request = scores.superseded_by AND m.trial = scores.trial), at FROM scores "
            "WHERE trial = ? ORDER BY id",
            (trial_id,),
        )
    ]


def reasons(db: sqlite3.Connection, trial_ids: Sequence[int]) -> dict[int, str]:
    """Give, for each trial that failed or is ungraded, what its first unmet scorer says."""
    found: dict[int, str] = {}
    for trial_id, scorer, reason in db.execute(
        "SELECT trial, scorer, reason FROM scores WHERE trial IN (SELECT value FROM json_each(?)) "
        "AND current = 1 AND required = 1 AND verdict <> 'pass' ORDER BY trial, id",
        (json.dumps(list(trial_ids)),),
    ):
        found.setdefault(trial_id, f"{scorer}: {unpack_text(reason)}")
    return found


def _trial(row: Sequence[Any]) -> TrialRow:
    values = list(row)
    values[5] = unpack_text(row[5])
    values[7] = TrialState(row[7])
    values[8] = None if row[8] is None else Verdict(row[8])
    values[12] = bool(row[12])
    values[15] = unpack(row[15])
    values[16] = unpack(row[16])
    values[25] = unpack(row[25])
    return TrialRow(*values)


def _attempt(row: Sequence[Any]) -> AttemptRow:
    values = list(row)
    values[8] = unpack(row[8])
    values[11:13] = [unpack(value) for value in row[11:13]]
    values[18:] = [sent_in_bulk(row[18:])]
    return AttemptRow(*values)


def _score(row: Sequence[Any]) -> ScoreRow:
    values = list(row)
    values[3] = Verdict(row[3])
    values[5] = load(row[5])
    values[6] = unpack_text(row[6])
    values[9:12] = [bool(value) for value in row[9:12]]
    return ScoreRow(*values)
