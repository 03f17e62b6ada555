"""What comparisons ask of a run: its cases, and what came of each trial; streamed.

Rows come as they are read: a comparison looks at hundreds of thousands.
"""

import json
import sqlite3
from collections.abc import Collection, Iterator
from typing import NamedTuple, TypeAlias

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.text import pack, unpack_text

_STATES = {str(state): state for state in TrialState}
_VERDICTS = {str(verdict): verdict for verdict in Verdict}
_OF_RUN = (
    "SELECT c.id, t.col, t.state, t.verdict, t.score, t.output, c.data FROM trials t "
    "JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE t.run = ? ORDER BY t.place"
)
_OF_COLUMN = (
    "SELECT c.id, t.state, t.verdict, t.score, t.output, c.data FROM trials t "
    "JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "WHERE t.run = ? AND t.col = ? ORDER BY t.place"
)
_OF_COLUMN_BY_ID = (
    "SELECT c.id, t.state, t.verdict, t.score, t.output, c.data FROM cases c "
    "CROSS JOIN trials t INDEXED BY trials_case ON t.run = c.run AND t.seq = c.seq AND t.col = ?2 "
    "WHERE c.run = ?1 ORDER BY c.id, t.epoch"
)
_OF_SCORER = (
    "SELECT c.id, t.state, s.verdict, s.value, t.output, c.data FROM trials t "
    "JOIN cases c ON c.run = t.run AND c.seq = t.seq "
    "LEFT JOIN scores s ON s.trial = t.id AND s.scorer = ?3 AND s.current = 1 "
    "AND s.superseded = 0 WHERE t.run = ?1 AND t.col = ?2 ORDER BY t.place"
)

StoredTrial: TypeAlias = tuple[str, int, str, str | None, float | None, int | None, str]
"""Case, column, state, verdict, score, output, and the case's frozen copy (JSON)."""
ColumnTrial: TypeAlias = tuple[str | bytes, str, str | None, float | None, int | None, str]
"""Likewise, without the column; the case as it is packed."""


class ComparedTrial(NamedTuple):
    """What a comparison needs of a trial."""

    state: TrialState
    verdict: Verdict | None
    score: float | None


def trials(db: sqlite3.Connection, run_id: int) -> Iterator[StoredTrial]:
    """Yield a run's trials in dataset order."""
    return db.execute(_OF_RUN, (run_id,))


def column_trials(
    db: sqlite3.Connection, run_id: int, col: int, scorer: str | None = None
) -> Iterator[ColumnTrial]:
    """Yield the trials of one column of a run in dataset order, a case's epochs together.

    Args:
        db: The connection.
        run_id: The run.
        col: The column's index.
        scorer: Verdict and score are this scorer's, and there are none where it says nothing;
            None: the trial's own.
    """
    if scorer is None:
        return db.execute(_OF_COLUMN, (run_id, col))
    return db.execute(_OF_SCORER, (run_id, col, scorer))


def column_trials_by_id(db: sqlite3.Connection, run_id: int, col: int) -> Iterator[ColumnTrial]:
    """Yield the trials of one column in the order of their cases' ids (see `column_trials`)."""
    return db.execute(_OF_COLUMN_BY_ID, (run_id, col))


def cases_by_hand(
    db: sqlite3.Connection, run_id: int, col: int, scorer: str | None = None
) -> Iterator[str]:
    """Yield the cases of a column of whose verdict a person decides a part, each once.

    Cheap: scores by hand have an index of their own.

    Args:
        db: The connection.
        run_id: The run.
        col: The column's index.
        scorer: Of this scorer's verdicts; None: of the trials' own, which rest on required scores.
    """
    rows = db.execute(
        "SELECT DISTINCT c.id FROM scores s CROSS JOIN trials t ON t.id = s.trial "
        "CROSS JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE s.source = 'human' "
        "AND s.current = 1 AND s.superseded = 0 AND t.run = ?1 AND t.col = ?2 "
        "AND CASE WHEN ?3 IS NULL THEN s.required ELSE s.scorer = ?3 END",
        (run_id, col, scorer),
    )
    return (unpack_text(row[0]) for row in rows)


def case_copies(db: sqlite3.Connection, run_id: int) -> Iterator[str]:
    """Yield the frozen copies of a run's cases (JSON) in dataset order."""
    rows = db.execute("SELECT data FROM cases WHERE run = ? ORDER BY seq", (run_id,))
    return (row[0] for row in rows)


def compared(state: str, verdict: str | None, score: float | None = None) -> ComparedTrial:
    """Return a trial of stored words."""
    return ComparedTrial(_STATES[state], None if verdict is None else _VERDICTS[verdict], score)


def tags(
    db: sqlite3.Connection, run_id: int, among: Collection[str] | None = None
) -> dict[str, tuple[str, ...]]:
    """Return the tags of those of a run's cases that have any, by the case's id.

    Args:
        db: The connection.
        run_id: The run.
        among: Only these tags, and cases that have one of them; None: all.
    """
    rows = db.execute(
        "SELECT id, json_extract(data, '$.tags') FROM cases WHERE run = ? "
        "AND instr(data, '\"tags\"') AND json_extract(data, '$.tags') IS NOT NULL",
        (run_id,),
    )
    known: dict[str, tuple[str, ...]] = {}
    found = {}
    for case_id, listed in rows:
        if listed not in known:
            known[listed] = tuple(
                tag for tag in json.loads(listed) if among is None or tag in among
            )
        if known[listed]:
            found[unpack_text(case_id)] = known[listed]
    return found


def count(db: sqlite3.Connection, run_id: int) -> int:
    """Count a run's cases."""
    row = db.execute("SELECT count(*) FROM cases WHERE run = ?", (run_id,)).fetchone()
    return int(row[0])


def row_of(db: sqlite3.Connection, run_id: int, case_id: str) -> str:
    """Return a case's row of the dataset, JSON as it is stored."""
    row = db.execute(
        "SELECT json_extract(data, '$.fields') FROM cases WHERE run = ? AND id = ?",
        (run_id, pack(case_id)),
    ).fetchone()
    return str(row[0])


def trial_ids(db: sqlite3.Connection, run_id: int, column: str, case_id: str) -> list[int]:
    """Return the trials of a case in a column, by their epochs; none: they are not there."""
    rows = db.execute(
        "SELECT t.id FROM cases c JOIN trials t ON t.run = c.run AND t.seq = c.seq "
        "JOIN columns k ON k.run = t.run AND k.idx = t.col "
        "WHERE c.run = ? AND c.id = ? AND k.name = ? ORDER BY t.epoch",
        (run_id, pack(case_id), pack(column)),
    )
    return [row[0] for row in rows]
