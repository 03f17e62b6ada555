"""What became of one case over the runs of its suite."""

import hashlib
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.rows import TrialRow
from tui_eval.store.text import pack, unpack

RUNS: Final = 10
"""Full runs of a suite that are looked at where nobody says how many, from the newest on."""
RUNS_LOOKED_AT: Final = 50
"""As many of them at most."""
_OPENING = 300
"""Characters of an output that are read of it."""


# CROSS JOIN keeps the order written here: each step is one look into an index
_OF_CASE = (
    "SELECT r.id, r.name, r.partial, r.created_at, t.id, t.place, t.epoch, t.state, t.verdict, "
    "t.score, t.generation_key, t.output, "
    "o.text, t.error_kind, r.scorers, r.judges, c.data "
    "FROM (SELECT id, name, partial, created_at, json_extract(spec, '$.scorers') AS scorers, "
    "json_extract(spec, '$.judges') AS judges FROM runs "
    "WHERE {which} ORDER BY id DESC LIMIT ?4) r "
    "CROSS JOIN cases c ON c.run = r.id AND c.id = ?2 "
    "CROSS JOIN columns k ON k.run = r.id AND k.name = ?3 "
    "CROSS JOIN trials t ON t.run = r.id AND t.seq = c.seq AND t.col = k.idx "
    "LEFT JOIN outputs o ON o.id = t.output ORDER BY r.id DESC, t.epoch"
)


_IN_FULL_RUNS = _OF_CASE.format(which="suite = ?1 AND staged = 1 AND (partial = 0 OR id = ?5)")
_IN_RUN = _OF_CASE.format(which="id = ?1")

_BESIDE = (
    "SELECT k.name, t.state, t.verdict, o.text, t.error_kind FROM columns k "
    "CROSS JOIN trials t ON t.run = k.run AND t.seq = ?2 AND t.col = k.idx AND t.epoch = ?4 "
    "LEFT JOIN outputs o ON o.id = t.output "
    "WHERE k.run = ?1 AND k.idx != ?3 ORDER BY k.idx LIMIT ?5"
)


@dataclass(frozen=True, slots=True)
class OtherTrial:
    """A trial of the same case in another column of the run."""

    column: str
    state: TrialState
    verdict: Verdict | None
    opening: str | None
    """How its output begins; None: there is none, or it has no text."""
    error_kind: str | None


@dataclass(frozen=True, slots=True)
class PastTrial:
    """One trial of the case, in one of the runs."""

    run: int
    run_name: str
    partial: bool
    """Whether the run was made with a filter or a limit."""
    created_at: float
    """When the run was made."""
    trial: int
    place: int
    epoch: int
    state: TrialState
    verdict: Verdict | None
    score: float | None
    generation_key: bytes | None
    output: int | None
    opening: str | None
    """How its output begins; None: there is none, or it has no text."""
    error_kind: str | None
    text: bytes | None
    """Alike where the outputs' whole texts are; None: there is none."""
    rules: bytes
    """Alike where the case and the scorers and judges of its run are."""


def history(db: sqlite3.Connection, run: int, trial: TrialRow) -> list[PastTrial]:
    """Return what became of a trial's case and column over the last full runs of its suite.

    Newest run first, each with all its epochs; the trial's own run is among them even where it is
    partial.

    Args:
        db: The connection.
        run: The trial's run.
        trial: The trial.
    """
    (suite,) = db.execute("SELECT suite FROM runs WHERE id = ?", (run,)).fetchone()
    asked = (suite, pack(trial.case_id), pack(trial.column), RUNS_LOOKED_AT, run)
    return [_past(row) for row in db.execute(_IN_FULL_RUNS, asked)]


def history_of_case(
    db: sqlite3.Connection, suite: str, case_id: str, column: str, runs: int
) -> list[PastTrial]:
    """Return what became of a case in a column over so many full runs of a suite, newest first."""
    asked = (suite, pack(case_id), pack(column), runs, None)
    return [_past(row) for row in db.execute(_IN_FULL_RUNS, asked)]


def history_of_run(db: sqlite3.Connection, run: int, case_id: str, column: str) -> list[PastTrial]:
    """Return what became of a case in a column of one run, all its epochs."""
    asked = (run, pack(case_id), pack(column), 1)
    return [_past(row) for row in db.execute(_IN_RUN, asked)]


def in_other_columns(
    db: sqlite3.Connection, run: int, trial: TrialRow, most: int
) -> list[OtherTrial]:
    """Return the trials of a case in the other columns of its run, of the same epoch; in order.

    Args:
        db: The connection.
        run: The run.
        trial: The trial whose case it is.
        most: So many of them at most.
    """
    asked = (run, trial.seq, trial.col, trial.epoch, most)
    found = []
    for name, state, verdict, packed, error_kind in db.execute(_BESIDE, asked):
        column, text = unpack(name), unpack(packed)
        assert column is not None, "every column has a name"
        found.append(
            OtherTrial(
                column,
                TrialState(state),
                None if verdict is None else Verdict(verdict),
                None if text is None else text[:_OPENING],
                error_kind,
            )
        )
    return found


def _past(row: Sequence[Any]) -> PastTrial:
    values = list(row)
    values[2] = bool(row[2])
    values[7] = TrialState(row[7])
    values[8] = None if row[8] is None else Verdict(row[8])
    text = unpack(row[12])
    values[12] = None if text is None else text[:_OPENING]
    values[14:] = [None if text is None else _digest(text), _digest(*row[14:])]
    return PastTrial(*values)


def _digest(*parts: object) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()


def flaky(pasts: Sequence[PastTrial]) -> bool:
    """Return whether the verdict flips though the same was asked.

    The same is asked where two trials have one generation key, or are epochs of one run, and are
    held against one another only where the case and its scorers were the same. Where they gave the
    same text a flip is the scorers' or their judge's, and does not count.
    """
    for asked in _asked_alike(pasts):
        verdicts: dict[object, Verdict] = {}
        for past in asked:  # newest first: what counts of a text is its latest verdict
            if past.output is not None and past.verdict in (Verdict.PASS, Verdict.FAIL):
                said = past.output if past.text is None else past.text
                verdicts.setdefault(said, past.verdict)
        if len(set(verdicts.values())) > 1:
            return True
    return False


def _asked_alike(pasts: Sequence[PastTrial]) -> list[list[PastTrial]]:
    """Return the trials in groups of which each was asked and graded the same way; epochs aside."""
    key_of_run: dict[int, bytes] = {}
    found: dict[tuple[bytes, bytes], list[PastTrial]] = {}
    for past in sorted(pasts, key=lambda past: (-past.run, past.epoch)):
        if past.generation_key is not None:
            key = key_of_run.setdefault(past.run, past.generation_key)
            found.setdefault((key, past.rules), []).append(past)
    return list(found.values())
