"""Conditions about whole cases: what their columns come to, and what they came to in another run.

What the epochs of a case come to is a rule of reports: whoever lists by these conditions teaches
the connection `case_value` and `case_row` first, see `reports.comparison.case_values.teach`.
"""

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tui_eval.store.read import run_queries
from tui_eval.store.text import pack

SqlCondition: TypeAlias = tuple[str, list[object]]
"""A condition on a trial `t`, and what is bound in it."""


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """The run with whose verdicts those of a run are compared."""

    id: int
    name: str
    is_base: bool
    """Whether it is what the run is compared with at all; else the last full run before it."""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """What a case came to in a column of another run, where that is not what it comes to now."""

    passed: int
    """Of its epochs there."""
    graded: int
    worse: bool
    """Whether it comes to less now."""


EarlierResults: TypeAlias = Mapping[tuple[int, int], EarlierResult]
"""By the case's number and the column's index."""


def _value(trials: str, run: int) -> str:
    """Return what trials that are grouped by case and column come to, by the rules of their run.

    NULL while one of them is open: what the others come to is not yet what the case does.
    """
    return (
        f"iif(sum({trials}.state IN ('queued', 'running', 'scoring')) = 0, "
        f"case_value(sum({trials}.verdict IS 'pass'), sum({trials}.verdict IS 'fail'), "
        f"sum({trials}.state IS 'error'), (SELECT json_array(json_extract(spec, '$.run.errors'), "
        f"json_extract(spec, '$.run.reduce')) FROM runs WHERE id = {run})), NULL)"
    )


def _cases(run: int, having: str) -> str:
    """Return the condition that a case's columns, with their values, are so."""
    return (
        f"t.seq IN (SELECT seq FROM (SELECT u.seq AS seq, u.col AS col, {_value('u', run)} AS "
        f"value FROM trials u WHERE u.run = {run} GROUP BY u.seq, u.col) "
        f"GROUP BY seq HAVING {having})"
    )


def differ(run: int) -> SqlCondition:
    """Return the condition that a case's columns do not come to the same."""
    return _cases(run, "min(value) < max(value)"), []


def all_fail(run: int) -> SqlCondition:
    """Return the condition that a case passes in no column, and every column has a result."""
    return _cases(run, "max(value) = 0 AND count(value) = count(*)"), []


def passes_fails(run: int, passes: str, fails: str) -> SqlCondition:
    """Return the condition that a case comes to less in one column than in another.

    Args:
        run: The run.
        passes: The name of the column with more.
        fails: The name of the one with less.
    """
    value = (
        f"max(iif(col = (SELECT k.idx FROM columns k WHERE k.run = {run} AND k.name = ?), "
        "value, NULL))"
    )
    return _cases(run, f"{value} > {value}"), [pack(passes), pack(fails)]


def changed_since(
    db: sqlite3.Connection, run: int, other: str, *, worse: bool = False
) -> SqlCondition:
    """Return the condition that a trial's case came to something else in another run.

    Args:
        db: The connection.
        run: The run.
        other: The other run's name; where there is none, nothing has changed.
        worse: Whether only those are meant that came to more in it.
    """
    row = db.execute("SELECT id FROM runs WHERE name = ?", (pack(other),)).fetchone()
    if row is None:
        return "0", []
    changed = f"{_changes(run, row[0])} HAVING value {'<' if worse else '<>'} earlier"
    # whoever keeps the list knows it by its text: it is another once the other run has changed
    as_of = f"/* as of {run_queries.last_change(db, row[0])} */"
    return f"(t.seq, t.col) IN (SELECT seq, col FROM ({changed})) {as_of}", []


def _changes(run: int, other: int, cases: str = "", told: Sequence[str] = ()) -> str:
    """Return the query for what cases come to in a run and came to in another, by column.

    Its columns are `seq`, `col`, `value` and `earlier`, the value in the other run. Cases whose
    rows differ are left out; columns of one name belong together, and where each run has but one,
    these (as in `reports.comparison.pairing`).

    Args:
        run: The run.
        other: The other run.
        cases: A condition on `u.seq`; empty: all cases.
        told: What of the trials `w` of the other run is told in further columns.
    """
    there = f"FROM trials w WHERE w.run = {other} AND w.seq = d.seq AND w.col = m.idx"
    sole = f"(SELECT count(*) FROM columns WHERE run IN ({run}, {other})) = 2"
    more = "".join(f", (SELECT {one} {there}) " for one in told)
    # CROSS JOIN keeps the order written here: each step is one look into an index
    return (
        f"SELECT u.seq AS seq, u.col AS col, {_value('u', run)} AS value, "
        f"(SELECT {_value('w', other)} {there}) AS earlier {more}"
        f"FROM trials u CROSS JOIN cases c ON c.run = {run} AND c.seq = u.seq "
        f"CROSS JOIN cases d ON d.run = {other} AND d.id = c.id "
        f"CROSS JOIN columns k ON k.run = {run} AND k.idx = u.col "
        f"CROSS JOIN columns m ON m.run = {other} AND (m.name = k.name OR {sole}) "
        f"WHERE u.run = {run} {f'AND {cases}' if cases else ''} "
        "AND (c.data = d.data OR case_row(c.data) = case_row(d.data)) GROUP BY u.seq, u.col"
    )


def earlier_results(
    db: sqlite3.Connection, run: int, other: int, cases: Collection[int]
) -> EarlierResults:
    """Return what cases came to in another run where that was something else.

    Args:
        db: The connection.
        run: The run.
        other: The other run.
        cases: The cases by their numbers in the run.
    """
    query = _changes(
        run,
        other,
        cases="u.seq IN (SELECT value FROM json_each(?))",
        told=("sum(w.verdict IS 'pass')", "sum(w.verdict IN ('pass', 'fail'))"),
    )
    rows = db.execute(f"{query} HAVING value <> earlier", (json.dumps(sorted(cases)),))
    return {
        (seq, col): EarlierResult(passed, graded, value < earlier)
        for seq, col, value, earlier, passed, graded in rows
    }
