"""Which trials of a run a list has, and in which order.

Lists of trials are lists of their places, so that a million of them take a few megabytes.
"""

import json
import sqlite3
import time
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import TypeAlias

from tui_eval.model.outputs.finish import Ending
from tui_eval.store.chunks.kept_answers import keep_answer, known_answer, place_of_answer
from tui_eval.store.chunks.kept_figures import in_one_moment
from tui_eval.store.read.figures.endings import ended
from tui_eval.store.search import case_conditions
from tui_eval.store.search.case_conditions import SqlCondition
from tui_eval.store.search.folding import FOLDED_BY, fold_reason
from tui_eval.store.text import pack, unpack_text
from tui_eval.texts.choice_reasons import choice_of

Places: TypeAlias = Sequence[int]
"""Places of trials, in the order they are shown; an array, so four bytes each."""


class FilterKind(StrEnum):
    """What a part of a filter looks at."""

    STANDS = "stands"
    """Its value is a `TrialOutcome`."""
    CUT = "cut"
    """The answer was cut short; no value."""
    FLAKY = "flaky"
    """The case, asked several times, both passed and failed; no value."""
    NOTED = "noted"
    """Somebody has written a note on it; no value."""
    TARGET = "target"
    """A column's name."""
    TAG = "tag"
    """A tag of the case."""
    SCORER = "scorer"
    """A scorer that says fail of a trial that failed."""
    ERROR = "error"
    """A kind of error."""
    REASON = "reason"
    """A folded reason of a scorer that does not say pass, see `fold_reason`."""
    CHOICE = "choice"
    """What a multiple-choice scorer expected and what was chosen: `ChosenOption.words`."""
    REQUIREMENT = "requirement"
    """A requirement that a judge of the scorer found unmet."""
    DIFFER = "differ"
    """The case does not come to the same in every column; no value."""
    ALL_FAIL = "all fail"
    """The case passes in no column; no value."""
    PASSES_FAILS = "passes fails"
    """The case comes to less in the column `other` than in the one that is its value."""
    CHANGED = "changed"
    """The case comes to something else in this column than in the run that is its value."""
    BROKE = "broke"
    """Likewise, to less."""


class TrialOutcome(StrEnum):
    """How a trial ended, or that it is open: what lists and requests select by."""

    PASSED = "passed"
    FAILED = "failed"
    UNGRADED = "ungraded"
    ERRORS = "errors"
    CANCELLED = "cancelled"
    OPEN = "open"
    """Queued, running or being scored."""
    UNMET = "not passed"
    """Failed, ungraded or in error: what one looks at next."""


class Order(StrEnum):
    """What a list may be sorted by; ties stay in dataset order, what is unknown comes last."""

    PLACE = "dataset"
    CASE = "case"
    TARGET = "target"
    EPOCH = "epoch"
    VERDICT = "verdict"
    SCORE = "score"
    LATENCY = "latency"
    COST = "cost"
    TOKENS = "tokens"
    ATTEMPTS = "attempts"
    CHANGED = "last changed"


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of a filter."""

    kind: FilterKind
    value: str = ""
    scorer: str = ""
    """Whose reason or requirement it is."""
    reported: bool = False
    """Of scorers, reasons and requirements: what is said beside the verdict, and decides nothing.
    Otherwise only what the verdict rests on."""
    other: str = ""
    """The column that is compared with the one that is its value."""


@dataclass(frozen=True, slots=True)
class View:
    """Which trials of a run are listed, and in which order.

    A trial is listed where all aspects let it through. Parts of one aspect are alternatives:
    how it stands, its target, its tags, and why it did not pass are one aspect each.
    """

    parts: tuple[Condition, ...] = ()
    text: str = ""
    """Only where it is found, see `finding`."""
    order: Order = Order.PLACE
    reverse: bool = False
    by_case: bool = False
    """Whether a row is a case with all its trials: those of which any is let through, each where
    the first of them stands."""

    @property
    def narrowed(self) -> bool:
        """Whether it leaves any trial out."""
        return bool(self.parts or self.text)

    @property
    def plain(self) -> bool:
        """Whether it is all trials in dataset order: then nothing has to be looked up."""
        return not self.narrowed and self.in_dataset_order

    @property
    def in_dataset_order(self) -> bool:
        """Whether places ascend."""
        return self.order is Order.PLACE and not self.reverse

    def has(self, kind: FilterKind) -> bool:
        """Return whether any of its parts looks at this."""
        return any(part.kind is kind for part in self.parts)

    def with_part(self, part: Condition) -> "View":
        """Narrow it further; where it has the part already it stays as it is."""
        return self if part in self.parts else replace(self, parts=(*self.parts, part))


_NOT_KEPT = (FilterKind.CHANGED, FilterKind.BROKE, FilterKind.CHOICE)
"""Filters that look at other runs too, or read texts as this version does."""
_WORTH_KEEPING_S = 0.1
"""A list that took longer is kept until a trial changes."""
_PIECE = 1 << 18
"""Characters of a list that are read together."""
_FEW, _MANY = 200, 50_000
"""Trials of a list that are looked at together: few first, as what one looks for is often near."""
UNMET = Condition(FilterKind.STANDS, TrialOutcome.UNMET)

_UNMET = "(t.verdict IN ('fail', 'ungraded') OR t.state = 'error')"  # as the index has it
STANDS: dict[str, str] = {
    TrialOutcome.PASSED: "t.verdict = 'pass'",
    TrialOutcome.FAILED: f"t.verdict = 'fail' AND {_UNMET}",
    TrialOutcome.UNGRADED: f"t.verdict = 'ungraded' AND {_UNMET}",
    TrialOutcome.ERRORS: "t.state = 'error'",
    TrialOutcome.CANCELLED: "t.state = 'cancelled'",
    TrialOutcome.OPEN: "t.state IN ('queued', 'running', 'scoring')",
    TrialOutcome.UNMET: _UNMET,
}
"""Which trials `t` stand so: for lists, requests (`--failed`) and launches (`--only`) alike."""
FAILS = "(s.required = 0 OR t.verdict = 'fail')"
"""Whether a score `s` that says fail of a trial `t` counts as that: where the trial has failed, or
nothing rests on the score."""
_SCORED = (
    "t.state = 'done' AND EXISTS (SELECT 1 FROM scores s INDEXED BY scores_unmet "
    "WHERE s.trial = t.id AND s.current = 1 AND s.verdict <> 'pass' "
    "AND s.scorer = ? AND s.required = ? AND "
)
_FLIPS = (  # within the run, as `history.flaky` says it: not on the very same text
    "EXISTS (SELECT 1 FROM trials u JOIN trials w ON w.run = u.run AND w.seq = u.seq "
    "AND w.col = u.col JOIN outputs p ON p.id = u.output JOIN outputs f ON f.id = w.output "
    "WHERE u.run = t.run AND u.seq = t.seq AND u.col = t.col "
    "AND u.verdict = 'pass' AND w.verdict = 'fail' AND p.id <> f.id "
    "AND (p.text IS NULL OR p.text IS NOT f.text))"
)
_CONDITIONS: dict[FilterKind, str] = {
    FilterKind.CUT: "EXISTS (SELECT 1 FROM outputs o WHERE o.id = t.output "
    f"AND {ended('o.finish_reason', Ending.CUT)})",
    FilterKind.FLAKY: _FLIPS,
    FilterKind.NOTED: "EXISTS (SELECT 1 FROM notes n WHERE n.trial = t.id AND n.current = 1)",
    FilterKind.TARGET: "t.col IN (SELECT k.idx FROM columns k WHERE k.run = ?1 AND k.name = ?)",
    FilterKind.ERROR: "t.state = 'error' AND t.error_kind = ?",
    FilterKind.TAG: "EXISTS (SELECT 1 FROM cases c, json_each(c.data, '$.tags') j "
    "WHERE c.run = t.run AND c.seq = t.seq AND j.value = json_extract(?, '$'))",
    FilterKind.SCORER: f"{_SCORED} s.verdict = 'fail' AND {FAILS})",
    FilterKind.REASON: f"{_SCORED} folded(s.reason) = ?)",
    FilterKind.CHOICE: "t.state = 'done' AND EXISTS (SELECT 1 FROM scores s WHERE s.trial = t.id "
    "AND s.current = 1 AND s.scorer = ? AND chosen(s.reason, s.raw) = ?)",
    FilterKind.REQUIREMENT: f"{_SCORED} "
    "json_extract(s.raw, '$.form') = 'requirements' AND EXISTS ("
    "SELECT 1 FROM json_each(s.raw, '$.parts') p WHERE json_extract(p.value, '$.value') = 0 "
    "AND json_extract(p.value, '$.text') = json_extract(?, '$')))",
}
_ASPECTS: dict[FilterKind, str] = {
    **dict.fromkeys(
        (FilterKind.SCORER, FilterKind.ERROR, FilterKind.REASON, FilterKind.REQUIREMENT), "why"
    ),
    **dict.fromkeys((FilterKind.DIFFER, FilterKind.ALL_FAIL, FilterKind.PASSES_FAILS), "columns"),
    **dict.fromkeys((FilterKind.CHANGED, FilterKind.BROKE), "since"),
}
_FATE = (  # failures first: what one came for
    "CASE WHEN t.state = 'error' THEN 0 WHEN t.verdict = 'fail' THEN 1 "
    "WHEN t.verdict = 'ungraded' THEN 2 WHEN t.state = 'cancelled' THEN 3 "
    "WHEN t.verdict = 'pass' THEN 5 ELSE 4 END"
)
_TOKENS = "nullif(t.input_tokens + t.output_tokens, 0)"
_CASE_ID = "(SELECT c.id FROM cases c WHERE c.run = t.run AND c.seq = t.seq)"
_KEYS: dict[Order, tuple[str, bool]] = {
    # by what, and whether the highest comes first unless it is turned round
    Order.PLACE: ("t.place", False),
    Order.CASE: (_CASE_ID, False),
    Order.TARGET: ("t.col", False),  # by name, see `_rank_of_column`
    Order.EPOCH: ("t.epoch", False),
    Order.VERDICT: (_FATE, False),
    Order.SCORE: ("t.score", False),
    Order.LATENCY: ("t.latency_s", True),
    Order.COST: ("coalesce(t.cost_usd, t.about_usd)", True),
    Order.TOKENS: (_TOKENS, True),
    Order.ATTEMPTS: ("t.attempts", True),
    Order.CHANGED: ("t.change", True),
}
_WHOLE_NUMBERS = (Order.TARGET, Order.EPOCH, Order.VERDICT, Order.ATTEMPTS, Order.CHANGED)
"""Orders by what is always there, and a whole number below 2³¹."""
_BY_CASE = "cases c CROSS JOIN trials t ON t.run = c.run AND t.seq = c.seq AND c.run = ?1"
"""All trials of a run, to be gone through case by case in the order of an index of ids."""
HIGHEST_FIRST = frozenset(order for order, (_, highest) in _KEYS.items() if highest)
"""Orders that begin with the highest; turned round, with the lowest."""


def places(db: sqlite3.Connection, run: int, view: View) -> Places:
    """Return the places of the trials that a view's parts let through, in its order.

    The view's text is not looked at: see `finding`.
    """
    condition, values = _condition(db, run, view.parts)
    order = _order(db, run, view)
    trials = _BY_CASE if view.order is Order.CASE and not view.parts else "trials t"
    with in_one_moment(db):
        kept = None
        if not any(map(view.has, _NOT_KEPT)):
            kept = place_of_answer(db, run, repr(("places", condition, values, order, FOLDED_BY)))
        known = None if kept is None else known_answer(db, kept)
        if known is not None:
            found = array("I")
            found.frombytes(known)
            return found
        began = time.monotonic()
        # as one text: a row for each of a million takes three times as long
        row = db.execute(
            "SELECT json_group_array(place) FROM ("
            f"SELECT t.place FROM {trials} WHERE {condition} ORDER BY {order})",
            values,
        ).fetchone()
        found = _numbers(row[0])
    if kept is not None and time.monotonic() - began > _WORTH_KEEPING_S:
        keep_answer(db, kept, found.tobytes())
    return found


def _numbers(listed: str) -> "array[int]":
    """Read a JSON array of places; a piece at a time, for a million of Python's take 36 MB."""
    found = array("I")
    at, end = 1, len(listed) - 1
    while at < end:
        beyond = listed.find(",", at + _PIECE)
        beyond = end if beyond < 0 else beyond
        found.extend(json.loads(f"[{listed[at:beyond]}]"))
        at = beyond + 1
    return found


def trials_a_case(db: sqlite3.Connection, run: int) -> int:
    """Return how many trials each case of a run has; 0: nobody knows yet.

    They stand together: the trials of case n begin at the place n times as many.
    """
    row = db.execute(
        "SELECT (SELECT count(*) FROM columns WHERE run = ?1) * ifnull((SELECT epoch + 1 "
        "FROM trials WHERE run = ?1 ORDER BY place DESC LIMIT 1), 0)",
        (run,),
    ).fetchone()
    return int(row[0])


def cases_of(places: Places, width: int) -> Places:
    """Return the cases of these trials, by their numbers, each where its first trial stands.

    Args:
        places: The trials.
        width: How many trials each case has, see `trials_a_case`.
    """
    return array("I", dict.fromkeys(place // width for place in places))


def count(
    db: sqlite3.Connection, run: int, parts: Sequence[Condition], *, by_case: bool = False
) -> int:
    """Count the trials that these parts let through, or the cases of which they let any through."""
    condition, values = _condition(db, run, parts)
    counted = "count(DISTINCT t.seq)" if by_case else "count(*)"
    row = db.execute(f"SELECT {counted} FROM trials t WHERE {condition}", values).fetchone()
    return int(row[0])


def next_place(
    db: sqlite3.Connection, run: int, parts: Sequence[Condition], after: int, *, back: bool = False
) -> int | None:
    """Return the nearest place these parts let through in dataset order, after a place or before.

    Goes round at the end. None: no trial matches.
    """
    condition, values = _condition(db, run, parts)
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


def next_unmet_in(
    db: sqlite3.Connection, run: int, listed: Places, at: int, *, back: bool = False
) -> int | None:
    """Return the nearest place of a list whose trial did not pass, after an index (or before it).

    Goes round at the end. None: there is none in the list.
    """
    step, away, many = -1 if back else 1, 1, _FEW
    while away <= len(listed):
        beyond = min(away + many, len(listed) + 1)
        near = [listed[(at + step * far) % len(listed)] for far in range(away, beyond)]
        rows = db.execute(
            # place by place: SQLite would rather go through all that did not pass
            "SELECT t.place FROM json_each(?2) j CROSS JOIN trials t INDEXED BY trials_place "
            f"ON t.run = ?1 AND t.place = j.value WHERE {_UNMET}",
            (run, json.dumps(near)),
        )
        unmet = {row[0] for row in rows}
        if unmet:
            return next(place for place in near if place in unmet)
        away, many = beyond, min(4 * many, _MANY)
    return None


def newest_settled(db: sqlite3.Connection, run: int) -> int | None:
    """Return the place of the trial that was settled last; None: none is."""
    row = db.execute(
        "SELECT place FROM trials WHERE run = ? AND state IN ('done', 'error', 'cancelled') "
        "ORDER BY change DESC LIMIT 1",
        (run,),
    ).fetchone()
    return None if row is None else int(row[0])


def ids_at(db: sqlite3.Connection, run: int, wanted: Sequence[int]) -> list[int]:
    """Return the ids of the trials at these places."""
    rows = db.execute(
        "SELECT t.id FROM json_each(?2) j CROSS JOIN trials t INDEXED BY trials_place "
        "ON t.run = ?1 AND t.place = j.value",
        (run, json.dumps(list(wanted))),
    )
    return [row[0] for row in rows]


def _order(db: sqlite3.Connection, run: int, view: View) -> str:
    key, highest = _KEYS[view.order]
    if view.order is Order.TARGET:
        key = _rank_of_column(db, run)
    down = "DESC" if highest != view.reverse else ""
    if view.order is Order.PLACE:
        return f"t.place {down}"
    if view.order is Order.CASE and not view.parts:
        return f"c.id {down}, t.col, t.epoch"  # within a case as the places are
    if view.order in _WHOLE_NUMBERS:  # one number is sorted in two thirds of the time of two
        return f"{'-' if down else ''}({key}) * {1 << 32} + t.place"
    return f"{key} {down} NULLS LAST, t.place"


def _rank_of_column(db: sqlite3.Connection, run: int) -> str:
    """Return the place of a trial's column among the names of all (SQL), looked up once."""
    rows = db.execute("SELECT idx FROM columns WHERE run = ? ORDER BY name", (run,))
    ranks = "".join(f" WHEN {row[0]} THEN {rank}" for rank, row in enumerate(rows))
    return f"CASE t.col{ranks} END" if ranks else "t.col"


def _condition(
    db: sqlite3.Connection, run: int, parts: Sequence[Condition]
) -> tuple[str, list[object]]:
    if any(part.kind is FilterKind.REASON for part in parts):
        db.create_function("folded", 1, fold_reason, deterministic=True)
    if any(part.kind is FilterKind.CHOICE for part in parts):
        db.create_function("chosen", 2, _chosen, deterministic=True)
    conditions: list[str] = ["t.run = ?1"]
    bound: list[object] = [run]
    for _, alternatives in groupby(sorted(parts, key=_aspect), key=_aspect):
        several = []
        for part in alternatives:
            condition, values = _of_part(db, run, part)
            several.append(condition)
            bound += values
        conditions.append(several[0] if len(several) == 1 else f"({' OR '.join(several)})")
    return " AND ".join(conditions), bound


def _chosen(reason: str | bytes, raw: str | None) -> str | bytes | None:
    found = choice_of(unpack_text(reason), raw)
    return None if found is None else pack(found.words)


def _of_part(db: sqlite3.Connection, run: int, part: Condition) -> SqlCondition:
    match part.kind:
        case FilterKind.STANDS:
            return STANDS[part.value], []
        case FilterKind.DIFFER:
            return case_conditions.differ(run)
        case FilterKind.ALL_FAIL:
            return case_conditions.all_fail(run)
        case FilterKind.PASSES_FAILS:
            return case_conditions.passes_fails(run, part.value, part.other)
        case FilterKind.CHANGED | FilterKind.BROKE:
            worse = part.kind is FilterKind.BROKE
            return case_conditions.changed_since(db, run, part.value, worse=worse)
        case _:
            return _CONDITIONS[part.kind], [*_bound(part)]


def _aspect(part: Condition) -> str:
    return _ASPECTS.get(part.kind, part.kind)


def _bound(part: Condition) -> Iterator[object]:
    if part.kind in (FilterKind.TARGET, FilterKind.ERROR):
        yield pack(part.value)
    elif part.kind is FilterKind.SCORER:
        yield from (pack(part.value), not part.reported)
    elif part.kind is FilterKind.TAG:
        yield json.dumps(part.value)  # as JSON: SQLite reads both alike, whatever is in them
    elif part.kind is FilterKind.REASON:
        yield from (pack(part.scorer), not part.reported, pack(part.value))
    elif part.kind is FilterKind.CHOICE:
        yield from (pack(part.scorer), pack(part.value))
    elif part.kind is FilterKind.REQUIREMENT:
        yield from (pack(part.scorer), not part.reported, json.dumps(part.value))
