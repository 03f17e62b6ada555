"""What a screen asks of a run beside its rows: which trials match, where the next failure is.

Lists of trials are lists of their places, so that a million of them take a few megabytes.
"""

import json
import sqlite3
from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from tui_eval.model.case import Case
from tui_eval.model.output import Output
from tui_eval.store import reader
from tui_eval.store.board import board
from tui_eval.store.judge_calls import JudgeCall, calls_about
from tui_eval.store.rows import (
    ANSWERED_OTHERS,
    ANSWERS_AGAIN,
    NOTHING_REMAINS,
    REFUSES_ALL,
    AttemptRow,
    LimitRow,
    ScoreRow,
    TrialRow,
)
from tui_eval.store.text import pack

Places: TypeAlias = Sequence[int]
"""Places of trials, in the order they are shown; an array, so four bytes each."""


class Which(StrEnum):
    """The trials a list may be narrowed to by how they stand."""

    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"
    ERRORS = "errors"
    CANCELLED = "cancelled"
    CUT = "cut short"
    OPEN = "open"
    """Queued, running or being scored."""
    UNMET = "not passed"
    """Failed, ungraded or in error: what one looks at next."""


class Order(StrEnum):
    """What a list may be sorted by; ties stay in dataset order."""

    PLACE = "dataset"
    VERDICT = "verdict"
    SCORE = "score"
    LATENCY = "latency"
    COST = "cost"
    CHANGED = "last changed"


_WHICH: dict[Which, str] = {
    Which.PASSED: "t.verdict = 'pass'",
    Which.FAILED: "t.verdict = 'fail'",
    Which.UNGRADED: "t.verdict = 'ungraded'",
    Which.ERRORS: "t.state = 'error'",
    Which.CANCELLED: "t.state = 'cancelled'",
    Which.CUT: "EXISTS (SELECT 1 FROM outputs o WHERE o.id = t.output "
    "AND o.finish_reason = 'length')",
    Which.OPEN: "t.state IN ('queued', 'running', 'scoring')",
    Which.UNMET: "(t.verdict IN ('fail', 'ungraded') OR t.state = 'error')",
}
_FATE = (  # failures first: what one came for
    "CASE WHEN t.state = 'error' THEN 0 WHEN t.verdict = 'fail' THEN 1 "
    "WHEN t.verdict = 'ungraded' THEN 2 WHEN t.state = 'cancelled' THEN 3 "
    "WHEN t.verdict = 'pass' THEN 5 ELSE 4 END"
)
_ORDER: dict[Order, tuple[str, str]] = {
    Order.PLACE: ("t.place", "t.place DESC"),
    Order.VERDICT: (f"{_FATE}, t.place", f"{_FATE} DESC, t.place"),
    Order.SCORE: (
        "t.score IS NULL, t.score, t.place",
        "t.score IS NULL, t.score DESC, t.place",
    ),
    Order.LATENCY: (
        "t.latency_s IS NULL, t.latency_s DESC, t.place",
        "t.latency_s IS NULL, t.latency_s, t.place",
    ),
    Order.COST: (
        "t.cost_usd IS NULL, t.cost_usd DESC, t.place",
        "t.cost_usd IS NULL, t.cost_usd, t.place",
    ),
    Order.CHANGED: ("t.change DESC, t.place", "t.change, t.place"),
}


@dataclass(frozen=True, slots=True)
class View:
    """Which trials of a run are listed, and in which order."""

    which: Which | None = None
    """None: however they stand."""
    column: int | None = None
    """Only of this column; None: of all."""
    scorer: str | None = None
    """Only where this scorer says fail; None: whatever they say."""
    error: str | None = None
    """Only errors of this kind; None: whatever they are."""
    tag: str | None = None
    """Only of cases with this tag; None: of all."""
    noted: bool = False
    """Only trials with a note."""
    text: str = ""
    """Only where the case's id, the error or the output has it, whatever its ASCII case."""
    order: Order = Order.PLACE
    reverse: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether it leaves any trial out."""
        return replace(self, order=Order.PLACE, reverse=False) != View()

    @property
    def plain(self) -> bool:
        """Whether it is all trials in dataset order: then a trial's place is its index."""
        return self == View()


def places(db: sqlite3.Connection, run: int, view: View) -> Places:
    """Give the places of the trials of a view, in its order."""
    condition, values = _condition(run, view)
    order = _ORDER[view.order][view.reverse]
    rows = db.execute(f"SELECT t.place FROM trials t WHERE {condition} ORDER BY {order}", values)
    return array("I", (row[0] for row in rows))


def count(db: sqlite3.Connection, run: int, view: View) -> int:
    """Count the trials of a view."""
    condition, values = _condition(run, view)
    row = db.execute(f"SELECT count(*) FROM trials t WHERE {condition}", values).fetchone()
    return int(row[0])


def next_place(
    db: sqlite3.Connection, run: int, view: View, after: int, *, back: bool = False
) -> int | None:
    """Give the nearest place of a view in dataset order, after a place (or before it).

    Goes round at the end. None: no trial matches.
    """
    condition, values = _condition(run, view)
    direction = "DESC" if back else ""
    beyond = "<" if back else ">"
    for where, more in ((f"AND t.place {beyond} ?", (after,)), ("", ())):
        row = db.execute(
            f"SELECT t.place FROM trials t WHERE {condition} {where} "
            f"ORDER BY t.place {direction} LIMIT 1",
            (*values, *more),
        ).fetchone()
        if row is not None:
            return int(row[0])
    return None


def epochs(db: sqlite3.Connection, run: int) -> int:
    """Give how often each case is asked, by the last trial there is; 0: there is none yet."""
    row = db.execute(
        "SELECT epoch + 1 FROM trials WHERE run = ? ORDER BY place DESC LIMIT 1", (run,)
    ).fetchone()
    return 0 if row is None else int(row[0])


def ids_at(db: sqlite3.Connection, run: int, wanted: Sequence[int]) -> list[int]:
    """Give the ids of the trials at these places."""
    rows = db.execute(
        "SELECT t.id FROM trials t JOIN json_each(?2) j ON j.value = t.place WHERE t.run = ?1",
        (run, json.dumps(list(wanted))),
    )
    return [row[0] for row in rows]


def median_latency(db: sqlite3.Connection, run: int, column: int) -> float | None:
    """Give the median call time in seconds of a column's finished trials; None: there is none.

    Exact. Counted by the millisecond first, so that of a million only a few are sorted.
    """
    chosen = "FROM trials WHERE run = ? AND col = ? AND state = 'done' AND latency_s IS NOT NULL"
    part = "cast(latency_s * 1000 AS INTEGER)"
    parts = db.execute(
        f"SELECT {part}, count(*) {chosen} GROUP BY 1 ORDER BY 1", (run, column)
    ).fetchall()
    n = sum(count for _, count in parts)
    if n == 0:
        return None
    middle = []
    for wanted in {(n - 1) // 2, n // 2}:
        millisecond, within = _part_with(parts, wanted)
        middle.append(
            db.execute(
                f"SELECT latency_s {chosen} AND {part} = ? ORDER BY latency_s LIMIT 1 OFFSET ?",
                (run, column, millisecond, within),
            ).fetchone()[0]
        )
    return float(sum(middle) / len(middle))


def _part_with(parts: Sequence[tuple[int, int]], wanted: int) -> tuple[int, int]:
    """Give the part that holds the value at a place, and its place within that part."""
    before = 0
    for part, count in parts:
        if wanted < before + count:
            return part, wanted - before
        before += count
    raise IndexError(wanted)


def weighted(db: sqlite3.Connection, run: int) -> bool:
    """Say whether any case of a run has a weight of its own."""
    row = db.execute(
        "SELECT 1 FROM cases WHERE run = ? AND json_extract(data, '$.weight') IS NOT NULL LIMIT 1",
        (run,),
    ).fetchone()
    return row is not None


def left_alone(db: sqlite3.Connection, run: int) -> dict[str, LimitRow]:
    """Give the endpoints that are left alone, with since when and why."""
    rows = db.execute(
        "SELECT endpoint, concurrency, reason, at, max(id) FROM limits WHERE run = ? AND ("
        "reason = 'start' OR reason LIKE ? || '%' OR reason LIKE ? || '%' OR reason LIKE ? || '%' "
        "OR reason LIKE ? || '%') GROUP BY endpoint",
        (run, REFUSES_ALL, NOTHING_REMAINS, ANSWERS_AGAIN, ANSWERED_OTHERS),
    )
    return {
        row[0]: LimitRow(*row[:4])
        for row in rows
        if row[2].startswith((REFUSES_ALL, NOTHING_REMAINS))
    }


def backing_off(db: sqlite3.Connection, run: int) -> int:
    """Count the running trials that wait for their next attempt."""
    row = db.execute(
        "SELECT count(*) FROM trials WHERE run = ? AND state = 'running' AND waiting IS NOT NULL",
        (run,),
    ).fetchone()
    return int(row[0])


def failing(db: sqlite3.Connection, run: int) -> list[tuple[str, int]]:
    """Count, for each required scorer, the failed trials it says fail of; the most first."""
    rows = db.execute(
        "SELECT s.scorer, count(*) FROM trials t JOIN scores s ON s.trial = t.id "
        "WHERE t.run = ? AND t.verdict = 'fail' AND s.current = 1 AND s.required = 1 "
        "AND s.verdict = 'fail' GROUP BY s.scorer ORDER BY 2 DESC, 1",
        (run,),
    )
    return [(row[0], row[1]) for row in rows]


def tags(db: sqlite3.Connection, run: int, most: int) -> list[tuple[str, int]]:
    """Count a run's trials by tag, the most first; no more than so many tags."""
    counts: Counter[str] = Counter()
    for listed, n in db.execute(
        "SELECT json_extract(c.data, '$.tags'), count(*) FROM cases c "
        "JOIN trials t ON t.run = c.run AND t.seq = c.seq WHERE c.run = ? GROUP BY 1",
        (run,),
    ):
        if listed is not None:
            counts.update(dict.fromkeys(json.loads(listed), n))
    return sorted(counts.items(), key=lambda counted: (-counted[1], counted[0]))[:most]


def error_kinds(db: sqlite3.Connection, run: int) -> list[tuple[str, int]]:
    """Count a run's errored trials by kind, the most first."""
    rows = db.execute(
        "SELECT ifnull(error_kind, ''), count(*) FROM trials "
        "WHERE run = ? AND state = 'error' GROUP BY 1 ORDER BY 2 DESC, 1",
        (run,),
    )
    return [(row[0], row[1]) for row in rows]


@dataclass(frozen=True, slots=True)
class WholeTrial:
    """One trial with everything that is known of it."""

    trial: TrialRow
    case: Case
    output: Output | None
    scores: tuple[ScoreRow, ...]
    """Its whole history, oldest first."""
    attempts: tuple[AttemptRow, ...]
    judging: tuple[JudgeCall, ...] = ()
    """The judge calls in which it stood, newest first."""


def whole(db: sqlite3.Connection, run: int, trial_id: int) -> WholeTrial | None:
    """Give one trial with everything that is known of it; None: there is no such trial."""
    trial = reader.trial(db, trial_id)
    if trial is None:
        return None
    return WholeTrial(
        trial=trial,
        case=reader.case(db, run, trial.seq),
        output=None if trial.output is None else reader.output(db, trial.output),
        scores=tuple(reader.scores(db, trial_id)),
        attempts=tuple(reader.attempts(db, trial_id)),
        judging=calls_about(db, trial_id),
    )


def _condition(run: int, view: View) -> tuple[str, list[object]]:
    parts: list[str] = ["t.run = ?"]
    bound: list[object] = [run]
    if view.which is not None:
        parts.append(_WHICH[view.which])
    if view.column is not None:
        parts.append("t.col = ?")
        bound.append(view.column)
    if view.scorer is not None:
        parts.append(
            "t.state = 'done' AND EXISTS (SELECT 1 FROM scores s WHERE s.trial = t.id "
            "AND s.current = 1 AND s.scorer = ? AND s.verdict = 'fail')"
        )
        bound.append(view.scorer)
    if view.error is not None:
        parts.append("t.state = 'error' AND t.error_kind = ?")
        bound.append(view.error)
    if view.tag is not None:
        parts.append(
            "EXISTS (SELECT 1 FROM cases c, json_each(c.data, '$.tags') j "
            "WHERE c.run = t.run AND c.seq = t.seq AND j.value = json_extract(?, '$'))"
        )  # the tag as JSON: SQLite reads both alike, whatever is in them
        bound.append(json.dumps(view.tag))
    if view.noted:
        parts.append("EXISTS (SELECT 1 FROM notes n WHERE n.trial = t.id AND n.current = 1)")
    if view.text:
        escaped = view.text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        pattern = pack(f"%{escaped}%")
        parts.append(
            "(EXISTS (SELECT 1 FROM cases c WHERE c.run = t.run AND c.seq = t.seq "
            f"AND {_has('c.id')}) OR {_has('t.error_message')} "
            "OR EXISTS (SELECT 1 FROM outputs o WHERE o.id = t.output "
            f"AND {_has('o.text')}))"
        )
        bound += [pattern, pattern, pattern]
    return " AND ".join(parts), bound


def _has(column: str) -> str:
    # text with lone surrogates is kept as bytes, which LIKE looks into on some systems only
    return f"CAST({column} AS TEXT) LIKE CAST(? AS TEXT) ESCAPE '\\'"


@dataclass(frozen=True, slots=True)
class Lately:
    """What happened to a live run in its last seconds."""

    seconds: int
    """How many of them are looked at; fewer where its engine began later."""
    by_age: dict[int, tuple[int, float]]
    """Trials settled, and dollars they are known to have cost, by the whole seconds passed since;
    seconds in which nothing was settled are not in it."""
    settled: int
    """Trials settled by now."""
    cost_usd: float | None
    """What is spent by now; None: some of it is unknown."""


def lately(db: sqlite3.Connection, run_id: int, now: float, seconds: int) -> Lately:
    """Give what happened to a run in the last seconds that an engine worked on it.

    Args:
        db: The connection.
        run_id: The run.
        now: Unix seconds.
        seconds: How far to look back at most.
    """
    began = reader.run(db, run_id).active_since
    most = seconds if began is None else min(seconds, int(now - began))
    rows = db.execute(
        "SELECT cast(? - since AS INTEGER), count(*), total(cost_usd) FROM trials WHERE run = ? "
        "AND state IN ('done', 'error', 'cancelled') AND since > ? GROUP BY 1",
        (now, run_id, now - most),
    ).fetchall()
    total = board(db, run_id)[0]
    by_age = {max(age, 0): (n, usd) for age, n, usd in rows}
    return Lately(max(most, 0), by_age, total.settled, total.cost_usd)


def settled_over_time(db: sqlite3.Connection, run: int, parts: int) -> tuple[int, ...]:
    """Count the trials settled in each of equal parts of the time between first and last.

    Empty where fewer than two trials are settled, or all at one moment.
    """
    chosen = "FROM trials WHERE run = ? AND state IN ('done', 'error', 'cancelled')"
    first, last = db.execute(f"SELECT min(since), max(since) {chosen}", (run,)).fetchone()
    if first is None or last <= first:
        return ()
    counts = [0] * parts
    for part, n in db.execute(
        f"SELECT min(cast((since - ?) * ? / ? AS INTEGER), ?), count(*) {chosen} GROUP BY 1",
        (first, parts, last - first, parts - 1, run),
    ):
        counts[part] = n
    return tuple(counts)
