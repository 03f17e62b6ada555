"""What is known of attempts beside their outputs: their records, and how far they are."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from tui_eval.model.outputs.attempt_record import (
    NO_RECORD,
    AttemptProgress,
    AttemptRecord,
    ChangeCounts,
    PhaseStart,
    ProgramExit,
    ResourceFigures,
    UsageSample,
)
from tui_eval.store.text import unpack

T = TypeVar("T")

_FIGURES = (
    "r.exit_code, r.exit_signal, r.isolation, r.cpu_s, r.wall_s, r.peak_rss_bytes, "
    "r.peak_processes, r.disk_bytes, r.output_bytes, r.added, r.changed, r.removed, r.bytes, "
    "r.workspace, r.steps, r.tool_calls"
)
_PROGRESS = (
    "p.trial, p.phase, p.turn, p.tool, p.cpu_s, p.rss_bytes, p.processes, p.disk_bytes, "
    "p.output_bytes"
)


@dataclass(frozen=True, slots=True)
class StoredRecord:
    """What an attempt left beside its output."""

    record: AttemptRecord
    workspace: bytes | None
    """The digest of what it changed in its workspace; None: it had none."""


NOTHING = StoredRecord(NO_RECORD, None)
"""What an attempt left that ran no program."""


def of_trial(db: sqlite3.Connection, trial: int) -> StoredRecord:
    """Return what was left beside a trial's output; as in `of_trials`."""
    return of_trials(db, [trial]).get(trial, NOTHING)


def of_trials(db: sqlite3.Connection, trials: Sequence[int]) -> dict[int, StoredRecord]:
    """Return what was left beside the outputs of trials, whichever run's attempts made them.

    Of a trial without an output, what its last attempt left. Where the run that made an output is
    deleted, only the workspace is known. Trials of which nothing was left are not in it.
    """
    rows = db.execute(
        f"SELECT t.id, o.workspace, {_FIGURES} FROM json_each(?) j JOIN trials t ON t.id = j.value "
        "LEFT JOIN outputs o ON o.id = t.output LEFT JOIN attempt_records r ON r.attempt = "
        "CASE WHEN t.output IS NULL "
        "THEN (SELECT a.id FROM attempts a WHERE a.trial = t.id ORDER BY a.number DESC LIMIT 1) "
        "ELSE coalesce((SELECT max(a.id) FROM attempts a WHERE a.output = t.output "
        "AND a.trial = t.id), (SELECT max(a.id) FROM attempts a WHERE a.output = t.output)) END "
        "WHERE o.workspace IS NOT NULL OR r.attempt IS NOT NULL",
        (json.dumps(list(trials)),),
    )
    found = {}
    for trial, workspace, *record in rows:
        stored = _stored(record)
        found[trial] = stored if workspace is None else replace(stored, workspace=workspace)
    return found


def with_history(db: sqlite3.Connection, trial: int) -> dict[int, StoredRecord]:
    """Return what each of a trial's own attempts left, with its phases and samples, by its id."""
    rows = db.execute(
        f"SELECT {_FIGURES}, r.attempt, r.phases, r.samples, r.turns FROM attempt_records r "
        "WHERE r.trial = ?",
        (trial,),
    )
    return {row[16]: _with_history(_stored(row), *row[17:]) for row in rows}


def _with_history(
    found: StoredRecord, phases: str | None, samples: str | None, turns: str | None
) -> StoredRecord:
    record = replace(
        found.record,
        phases=tuple(PhaseStart(*one) for one in json.loads(phases or "[]")),
        samples=tuple(UsageSample(*one) for one in json.loads(samples or "[]")),
        turns=tuple(json.loads(turns or "[]")),
    )
    return replace(found, record=record)


def any_records(db: sqlite3.Connection, run: int | None = None) -> bool:
    """Say whether any attempt left anything beside its output: of the store, or behind a run."""
    if db.execute("SELECT 1 FROM attempt_records LIMIT 1").fetchone() is None:
        return False
    return run is None or (
        db.execute(
            "SELECT 1 FROM trials t WHERE t.run = ? AND (EXISTS "
            "(SELECT 1 FROM attempt_records r WHERE r.trial = t.id) OR EXISTS "
            "(SELECT 1 FROM attempts a JOIN attempt_records r ON r.attempt = a.id "
            "WHERE a.output = t.output)) LIMIT 1",
            (run,),
        ).fetchone()
        is not None
    )


def progress(db: sqlite3.Connection, trials: Sequence[int]) -> dict[int, AttemptProgress]:
    """Return how far the running attempts of trials are, by trial; the others are not in it."""
    rows = db.execute(
        f"SELECT {_PROGRESS} FROM trial_progress p "
        f"WHERE p.trial IN ({','.join('?' * len(trials))})",
        [*trials],
    )
    return dict(map(_progress, rows))


def progress_of_run(db: sqlite3.Connection, run: int) -> dict[int, AttemptProgress]:
    """Return how far the running attempts of a run are, by trial, of those that tell."""
    rows = db.execute(
        # few rows: those of the programs that run now
        f"SELECT {_PROGRESS} FROM trial_progress p CROSS JOIN trials t ON t.id = p.trial "
        "WHERE t.run = ?",
        (run,),
    )
    return dict(map(_progress, rows))


def _progress(row: Sequence[Any]) -> tuple[int, AttemptProgress]:
    return row[0], AttemptProgress(row[1], row[2], unpack(row[3]), *row[4:])


def _stored(row: Sequence[Any]) -> StoredRecord:
    code, signal, isolation = row[:3]
    ended = None if isolation is None and code is None and signal is None else (code, signal)
    return StoredRecord(
        AttemptRecord(
            exit=None if ended is None else ProgramExit(*ended),
            isolation=isolation,
            resources=_known(ResourceFigures, row[3:9]),
            changes=_known(ChangeCounts, row[9:13]),
            steps=row[14],
            tool_calls=row[15],
        ),
        row[13],
    )


def _known(made: Callable[..., T], values: Sequence[Any]) -> T | None:
    return None if all(value is None for value in values) else made(*values)
