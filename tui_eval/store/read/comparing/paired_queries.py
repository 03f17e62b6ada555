"""The cases of two columns side by side: joined in SQL and streamed, so that no side is held.

Whoever asks teaches the connection `case_row` and `case_cluster` first, see
`reports.comparison.case_rows`.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from tui_eval.store.text import pack

_BITS: Final = 15
_MASK: Final = (1 << _BITS) - 1
_PASSED, _FAILED, _ERRORS, _OPEN = (1 << _BITS * part for part in range(4))


class Fates(NamedTuple):
    """How many epochs of a case came to what; others were left ungraded, or cancelled."""

    passed: int
    failed: int
    errors: int
    open: int

    @classmethod
    def of_number(cls, told: int) -> "Fates":
        """Return those that a query tells as one number."""
        return cls(*(told >> _BITS * part & _MASK for part in range(4)))


@dataclass(frozen=True, slots=True)
class RunColumn:
    """A column of a run."""

    run: int
    index: int
    several: bool
    """Whether its cases have more than one epoch."""


MetCase: TypeAlias = tuple[
    int | None,
    str | bytes | None,
    int,
    int,
    int | None,
    int,
    float | None,
    str | None,
    str | None,
]
"""What two columns have of a case:

- where it stands in A and its id, as it is packed; None where its fates are alike and nobody wants
  to know;
- its fates in A and in B (`Fates.of_number`);
- whether both rest on the very same outputs (NULL: there are none), and whether its rows are one;
- its weight in B (None: 1), its cluster there (None: none), its tags there (JSON; None: none).
"""
ColumnCase: TypeAlias = tuple[str | bytes, int, str | None, str]
"""A case of a column: its id as it is packed, its fates, its outputs, its frozen copy (JSON)."""


def run_column(db: sqlite3.Connection, run: int, index: int) -> RunColumn:
    """Return a column; how many epochs a case has is seen at the last one."""
    row = db.execute(
        "SELECT epoch FROM trials WHERE run = ? ORDER BY place DESC LIMIT 1", (run,)
    ).fetchone()
    return RunColumn(run, index, row is not None and row[0] > 0)


def count(db: sqlite3.Connection, of: RunColumn) -> int:
    """Count the cases of a column."""
    row = db.execute(
        "SELECT count(*) FROM trials INDEXED BY trials_case "
        "WHERE run = ? AND col = ? AND epoch = 0",
        (of.run, of.index),
    ).fetchone()
    return int(row[0])


def met_cases(
    db: sqlite3.Connection,
    a: RunColumn,
    b: RunColumn,
    *,
    scorer: str | None = None,
    named: bool = False,
    tagged: bool = False,
    clustered: bool = False,
) -> Iterator[MetCase]:
    """Yield the cases that both columns have, in the order they have in A.

    Args:
        db: The connection.
        a: The one column.
        b: The other.
        scorer: Fates are what this scorer says; None: the trials' own.
        named: Whether each has its place and id, also where fates are alike.
        tagged: Whether their tags are told.
        clustered: Whether their clusters are.
    """
    one_run = a.run == b.run
    data, other = "c.data", "c" if one_run else "d"
    (fates_a, outputs_a, from_a), (fates_b, outputs_b, from_b) = (
        _told(a, "t", "c.seq", scorer),
        _told(b, "u", f"{other}.seq", scorer),
    )
    same, meets = "1", ""
    if not one_run:
        data, meets = "d.data", f"CROSS JOIN cases d ON d.run = {b.run} AND d.id = c.id "
        same = "CASE WHEN c.data = d.data THEN 1 ELSE case_row(c.data) = case_row(d.data) END"
    tags = f"iif(instr({data}, '\"tags\"'), json_extract({data}, '$.tags'), NULL)"
    cluster = f"case_cluster({data})"
    # LIMIT keeps the inner query as it is: else each of its values would be found twice
    return db.execute(
        f"SELECT iif({'1' if named else 'a <> b'}, seq, NULL), "
        f"iif({'1' if named else 'a <> b'}, id, NULL), a, b, shared, same, weight, cluster, tags "
        f"FROM (SELECT c.seq AS seq, c.id AS id, {fates_a} AS a, {fates_b} AS b, "
        f"{outputs_a} = {outputs_b} AS shared, {same} AS same, "
        f"iif(instr({data}, '\"weight\"'), json_extract({data}, '$.weight'), NULL) AS weight, "
        f"{cluster if clustered else 'NULL'} AS cluster, {tags if tagged else 'NULL'} AS tags "
        f"FROM cases c {meets}{from_a}{from_b}WHERE c.run = {a.run} ORDER BY c.seq "
        "LIMIT -1 OFFSET 0) WHERE a IS NOT NULL AND b IS NOT NULL",
        {"scorer": pack(scorer)},
    )


def column_cases(
    db: sqlite3.Connection, of: RunColumn, scorer: str | None = None, *, by_id: bool = False
) -> Iterator[ColumnCase]:
    """Yield the cases of a column (see `met_cases`), in dataset order or in that of their ids."""
    fates, outputs, trials = _told(of, "t", "c.seq", scorer)
    return db.execute(
        f"SELECT * FROM (SELECT c.id, {fates} AS fates, CAST({outputs} AS TEXT), c.data "
        f"FROM cases c {trials}WHERE c.run = {of.run} ORDER BY {'c.id' if by_id else 'c.seq'} "
        "LIMIT -1 OFFSET 0) WHERE fates IS NOT NULL",
        {"scorer": pack(scorer)},
    )


def _told(of: RunColumn, t: str, seq: str, scorer: str | None) -> tuple[str, str, str]:
    """Return a case's fates and outputs in SQL, and what is joined for them."""
    here = f"{t}.run = {of.run} AND {t}.seq = {seq} AND {t}.col = {of.index}"
    verdict, scored = f"{t}.verdict", ""
    if scorer is not None:
        verdict = f"s{t}.verdict"
        scored = (
            f"LEFT JOIN scores s{t} ON s{t}.trial = {t}.id AND s{t}.scorer = :scorer "
            f"AND s{t}.current = 1 AND s{t}.superseded = 0 "
        )
    fate = (
        f"CASE {t}.state WHEN 'done' THEN CASE {verdict} WHEN 'pass' THEN {_PASSED} "
        f"WHEN 'fail' THEN {_FAILED} ELSE 0 END WHEN 'error' THEN {_ERRORS} "
        f"WHEN 'cancelled' THEN 0 ELSE {_OPEN} END"
    )
    if not of.several:
        trials = f"CROSS JOIN trials {t} INDEXED BY trials_case ON {here} {scored}"
        return fate, f"{t}.output", trials
    trials = f"FROM trials {t} INDEXED BY trials_case {scored}WHERE {here}"
    return f"(SELECT sum({fate}) {trials})", f"(SELECT group_concat({t}.output) {trials})", ""
