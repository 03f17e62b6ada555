"""What is counted of some consecutive cases of a run; a figure of the run is made of such chunks.

`cases` are their numbers, as the column `seq` has them.
"""

import json
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from tui_eval.model.case import cluster_of
from tui_eval.model.outputs.finish import Ending, ending
from tui_eval.model.states import Verdict
from tui_eval.store.text import unpack

_OF_PART = "t.run = ?1 AND t.seq >= ?2 AND t.seq < ?3"
_JOINED = "FROM trials t JOIN scores s ON s.trial = t.id "

StoredGrade: TypeAlias = tuple[
    int, int, float, str | None, str | None, str, str | None, float | None
]
"""A trial's case and column; its case's weight, tags (JSON; None: it has none) and cluster (None:
it has none, or nobody asked); its state, verdict and score, as they are stored."""


@dataclass(frozen=True, slots=True)
class ScorerRow:
    """How many current scores of one scorer in one column have one verdict."""

    col: int
    scorer: str
    verdict: Verdict
    n: int
    value: float
    """Sum of the values."""
    required: bool
    """Whether any of them is part of a verdict."""
    first: int = 0
    """The id of the first of them."""

    def plus(self, other: "ScorerRow") -> "ScorerRow":
        """Return it with further scores of the same scorer, column and verdict."""
        return replace(
            self,
            n=self.n + other.n,
            value=self.value + other.value,
            required=self.required or other.required,
            first=min(self.first, other.first),
        )


class CaseScoreRow(NamedTuple):
    """A current score of one scorer, with what its case weighs."""

    seq: int
    col: int
    id: int
    scorer: str
    verdict: str
    value: float | None
    required: int
    weight: float


def grades(
    db: sqlite3.Connection, run_id: int, cases: range, clusters: str | None = None
) -> Iterator[StoredGrade]:
    """Stream trials with what rates need of their cases, in the order of their places.

    Args:
        db: The connection.
        run_id: The run.
        cases: Which.
        clusters: The column of the dataset that says which cases belong together; None: none does.
    """
    cluster = "NULL"
    if clusters is not None:
        cluster = "case_cluster(data)"
        db.create_function("case_cluster", 1, partial(_cluster, column=clusters))
    # LIMIT keeps the inner query as it is: else each case would be read again for each trial of it
    return db.execute(
        "SELECT c.seq, t.col, c.weight, c.tags, c.cluster, t.state, t.verdict, t.score FROM ("
        "SELECT seq, iif(instr(data, '\"weight\"'), CAST(ifnull(json_extract(data, '$.weight'), 1) "
        "AS REAL), 1.0) AS weight, "
        "iif(instr(data, '\"tags\"'), json_extract(data, '$.tags'), NULL) AS tags, "
        f"{cluster} AS cluster FROM cases WHERE run = ?1 AND seq >= ?2 AND seq < ?3 ORDER BY seq "
        "LIMIT -1 OFFSET 0) c CROSS JOIN trials t INDEXED BY trials_case "
        "ON t.run = ?1 AND t.seq = c.seq",
        _bounds(run_id, cases),
    )


def several_epochs(db: sqlite3.Connection, run_id: int, cases: range) -> bool:
    """Return whether any case was asked more than once."""
    row = db.execute(
        f"SELECT 1 FROM trials t INDEXED BY trials_case WHERE {_OF_PART} AND t.epoch > 0 LIMIT 1",
        _bounds(run_id, cases),
    ).fetchone()
    return row is not None


def _cluster(data: str, column: str) -> str | None:
    return cluster_of(json.loads(data)["fields"], column)


def weighted(db: sqlite3.Connection, run_id: int, cases: range) -> bool:
    """Return whether any case has a weight of its own."""
    row = db.execute(
        "SELECT 1 FROM cases WHERE run = ?1 AND seq >= ?2 AND seq < ?3 "
        "AND json_extract(data, '$.weight') IS NOT NULL LIMIT 1",
        _bounds(run_id, cases),
    ).fetchone()
    return row is not None


def scorers(db: sqlite3.Connection, run_id: int, cases: range) -> list[ScorerRow]:
    """Count the current scores of the trials that are done, in the order scorers first graded."""
    rows = db.execute(
        "SELECT t.col, s.scorer, s.verdict, count(*), ifnull(sum(s.value), 0), max(s.required), "
        f"min(s.id) {_JOINED} WHERE {_OF_PART} AND t.state = 'done' AND s.current = 1 "
        "AND s.superseded = 0 GROUP BY t.col, s.scorer, s.verdict ORDER BY min(s.id)",
        _bounds(run_id, cases),
    )
    return [
        ScorerRow(col, scorer, Verdict(verdict), n, value, bool(required), first)
        for col, scorer, verdict, n, value, required, first in rows
    ]


def case_scores(db: sqlite3.Connection, run_id: int, cases: range) -> Iterator[CaseScoreRow]:
    """Stream the current scores of the trials that are done, those of a case's column together."""
    rows = db.execute(
        "SELECT t.seq, t.col, s.id, s.scorer, s.verdict, s.value, s.required, "
        "ifnull(json_extract(c.data, '$.weight'), 1.0) FROM trials t "
        "JOIN cases c ON c.run = t.run AND c.seq = t.seq JOIN scores s ON s.trial = t.id "
        f"WHERE {_OF_PART} AND t.state = 'done' AND s.current = 1 AND s.superseded = 0 "
        "ORDER BY t.seq, t.col",
        _bounds(run_id, cases),
    )
    return map(CaseScoreRow._make, rows)


def copied_scores(db: sqlite3.Connection, run_id: int, cases: range) -> int:
    """Count the scores that count and that judges or programs gave before, to another trial."""
    row = db.execute(
        f"SELECT count(*) {_JOINED} WHERE {_OF_PART} AND s.current = 1 AND s.cached = 1",
        _bounds(run_id, cases),
    ).fetchone()
    return int(row[0])


def judged(db: sqlite3.Connection, run_id: int, cases: range) -> bool:
    """Return whether any verdict rests on what a judge said of something required."""
    row = db.execute(
        f"SELECT 1 {_JOINED} WHERE {_OF_PART} AND s.current = 1 AND s.superseded = 0 "
        "AND s.required = 1 AND s.source = 'judge' AND s.verdict <> 'ungraded' LIMIT 1",
        _bounds(run_id, cases),
    ).fetchone()
    return row is not None


def failing(db: sqlite3.Connection, run_id: int, cases: range) -> Counter[str]:
    """Count, for each required scorer, the failed trials it says fail of."""
    rows = db.execute(
        f"SELECT s.scorer, count(*) {_JOINED} WHERE {_OF_PART} AND t.verdict = 'fail' "
        "AND s.current = 1 AND s.required = 1 AND s.verdict = 'fail' GROUP BY s.scorer",
        _bounds(run_id, cases),
    )
    return Counter(dict(rows.fetchall()))


def latencies(db: sqlite3.Connection, run_id: int, cases: range) -> dict[int, "array[float]"]:
    """Return, for each column, the call times in seconds of outputs that are done with, ascending.

    Also of outputs that came from the cache: it is the call that made them which is measured.
    """
    rows = db.execute(
        f"SELECT col, latency_s FROM trials t WHERE {_OF_PART} AND state = 'done' "
        "AND latency_s IS NOT NULL ORDER BY 1, 2",
        _bounds(run_id, cases),
    )
    return {
        col: array("d", map(itemgetter(1), of_column))
        for col, of_column in groupby(rows, itemgetter(0))
    }


def endings(db: sqlite3.Connection, run_id: int, cases: range) -> dict[int, Counter[Ending]]:
    """Count, for each column, how the outputs of its trials that are done ended."""
    found: defaultdict[int, Counter[Ending]] = defaultdict(Counter)
    for col, reason, n in db.execute(
        "SELECT t.col, o.finish_reason, count(*) FROM trials t JOIN outputs o ON o.id = t.output "
        f"WHERE {_OF_PART} AND t.state = 'done' GROUP BY 1, 2",
        _bounds(run_id, cases),
    ):
        found[col][ending(unpack(reason))] += n
    return dict(found)


def tags(db: sqlite3.Connection, run_id: int, cases: range) -> list[tuple[str, int]]:
    """Count trials by the tags of their cases: lists of tags (JSON), each with its trials."""
    return db.execute(
        "SELECT json_extract(c.data, '$.tags') AS tags, count(*) FROM cases c "
        f"JOIN trials t ON t.run = c.run AND t.seq = c.seq WHERE c.run = ?1 AND {_OF_PART} "
        "AND tags IS NOT NULL GROUP BY 1",
        _bounds(run_id, cases),
    ).fetchall()


def backing_off(db: sqlite3.Connection, run_id: int, cases: range) -> int:
    """Count the running trials that wait for their next attempt."""
    row = db.execute(
        f"SELECT count(*) FROM trials t WHERE {_OF_PART} AND state = 'running' "
        "AND waiting IS NOT NULL",
        _bounds(run_id, cases),
    ).fetchone()
    return int(row[0])


def findings(
    db: sqlite3.Connection, run_id: int, cases: range
) -> list[tuple[str, str, int, int, int, int]]:
    """Count the last word on each question about the outputs that count now.

    By scorer and judge: all, those that are not whole, those made for another trial, those that
    are whole because what a reply left out was asked again.
    """
    return db.execute(
        "SELECT scorer, judge, count(*), sum(problem IS NOT NULL), sum(made_for_another), "
        "sum(problem IS NULL AND NOT made_for_another AND ifnull(round, 'first') <> 'first') FROM ("
        "SELECT f.scorer, f.judge, f.problem, c.round, max(f.id), f.origin IS NOT NULL "
        "OR ifnull(i.trial, f.trial) <> f.trial AS made_for_another FROM trials t "
        "JOIN findings f ON f.trial = t.id AND f.output = t.output "
        "LEFT JOIN judge_calls c ON c.id = f.call "
        "LEFT JOIN judge_items i ON i.call = f.call AND i.position = f.position "
        f"WHERE {_OF_PART} AND f.purpose = 'grade' AND f.superseded = 0 "
        "GROUP BY f.trial, f.scorer, f.judge, f.repeat, f.numbers) GROUP BY scorer, judge",
        _bounds(run_id, cases),
    ).fetchall()


def spread(
    db: sqlite3.Connection, run_id: int, cases: range
) -> list[tuple[str, str, int, float, int, int]]:
    """Add up what judges' scores say of themselves, by scorer and judge; of a jury, each member's.

    How many their repeats disagree about, the sum of the variances of repeats and how many there
    are, and the requirements that count as not met.
    """
    return db.execute(
        "SELECT s.scorer, json_extract(o.value, '$.judge') AS judge, "
        "ifnull(sum(json_extract(o.value, '$.flaky') = 1), 0) AS flaky, "
        "total(json_extract(o.value, '$.sd') * json_extract(o.value, '$.sd')), "
        "count(json_extract(o.value, '$.sd')) AS repeated, "
        "ifnull(sum(json_extract(o.value, '$.counted_unmet')), 0) AS unmet "
        f"{_JOINED} "
        "JOIN json_each(ifnull(json_extract(s.raw, '$.jury'), json_array(json(s.raw)))) o "
        f"WHERE {_OF_PART} AND s.source = 'judge' AND s.current = 1 AND s.superseded = 0 "
        "GROUP BY 1, 2 HAVING judge IS NOT NULL AND (flaky OR repeated OR unmet)",
        _bounds(run_id, cases),
    ).fetchall()


def _bounds(run_id: int, cases: range) -> tuple[Any, ...]:
    return run_id, cases.start, cases.stop
