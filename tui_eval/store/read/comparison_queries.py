"""What comparisons ask of a run: its cases, and what came of each trial; streamed."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tui_eval.model.states import TrialState, Verdict


class ComparedTrial(NamedTuple):
    """What a comparison needs of a trial."""

    seq: int
    col: int
    state: TrialState
    verdict: Verdict | None
    score: float | None
    output: int | None


class ComparedRow(NamedTuple):
    """What a comparison needs of a case."""

    seq: int
    id: str
    fields: str
    """The row of the dataset, JSON as it is stored."""
    weight: float
    tags: tuple[str, ...]


_TRIALS = "SELECT t.seq, t.col, t.state, t.verdict, t.score, t.output FROM trials t "
_SCORES = (
    "SELECT t.seq, t.col, t.state, s.verdict, s.value, t.output FROM trials t "
    "JOIN scores s ON s.trial = t.id AND s.scorer = ?2 AND s.current = 1 AND s.superseded = 0 "
)
_STATES = {str(state): state for state in TrialState}
_VERDICTS = {str(verdict): verdict for verdict in Verdict}


def trials(
    db: sqlite3.Connection, run_id: int, scorer: str | None = None
) -> Iterator[ComparedTrial]:
    """Yield a run's trials in dataset order.

    Args:
        db: The connection.
        run_id: The run.
        scorer: Verdict and score are this scorer's, and trials that it says nothing of are left
            out; None: the trial's own.
    """
    what = _TRIALS if scorer is None else _SCORES
    asked: Sequence[object] = (run_id,) if scorer is None else (run_id, scorer)
    for seq, col, state, verdict, score, output in db.execute(
        what + "WHERE t.run = ?1 ORDER BY t.place", asked
    ):
        known = None if verdict is None else _VERDICTS[verdict]
        yield ComparedTrial(seq, col, _STATES[state], known, score, output)


def rows(db: sqlite3.Connection, run_id: int) -> Iterator[ComparedRow]:
    """Yield a run's cases in dataset order."""
    for seq, case_id, fields, weight, tags in db.execute(
        "SELECT seq, id, json_extract(data, '$.fields'), json_extract(data, '$.weight'), "
        "json_extract(data, '$.tags') FROM cases WHERE run = ? ORDER BY seq",
        (run_id,),
    ):
        yield ComparedRow(
            seq, case_id, fields, weight or 1.0, tuple(json.loads(tags)) if tags else ()
        )


def row_of(db: sqlite3.Connection, run_id: int, case_id: str) -> str:
    """Return a case's row of the dataset, JSON as it is stored."""
    row = db.execute(
        "SELECT json_extract(data, '$.fields') FROM cases WHERE run = ? AND id = ?",
        (run_id, case_id),
    ).fetchone()
    return str(row[0])
