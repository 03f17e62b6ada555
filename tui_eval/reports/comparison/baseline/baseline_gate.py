"""`[gate.baseline]`: whether a run holds up against its baseline, column by column."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from tui_eval.format import many, number, points, points_interval
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.reports.comparison.baseline.base import BaseComparison
from tui_eval.reports.comparison.compared_case import ComparedCase
from tui_eval.reports.comparison.comparison import SURE, ComparisonRow
from tui_eval.reports.comparison.side import Side
from tui_eval.statistics.paired import PairedDifference
from tui_eval.statistics.power import cases_like_these, cases_without_flips
from tui_eval.suites.spec.gate import BaselineGate

_UNCLEAR: Final = "unclear"
_SLACK: Final = 1e-9
"""What rounding may add to a drop that is exactly the largest allowed."""
_NAMED: Final = 5
"""Cases that a message names."""


class GateWord(StrEnum):
    """What a column comes to against its baseline."""

    HOLDS = "holds"
    FAILS = "fails"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class MissedBaseline:
    """One condition of `[gate.baseline]` that a column does not hold."""

    column: str
    threshold: str
    """The field of the table."""
    limit: float | None
    got: float | None
    said: str
    """In one sentence."""
    words: str
    """In a few words."""
    group: str = "baseline"

    def __str__(self) -> str:
        return f"{self.column}, baseline: {self.said}"

    def in_short(self) -> str:
        """Return it in a few words, without its column."""
        return f"{self.group}: {self.words}"

    def as_json(self) -> JsonObject:
        """Return the form the document uses."""
        return {
            "target": self.column,
            "group": self.group,
            "threshold": self.threshold,
            "limit": self.limit,
            "got": None if self.got is None else round(self.got, 6),
            "message": str(self),
        }


@dataclass(frozen=True, slots=True)
class ColumnAgainstBaseline:
    """What one column comes to against its baseline."""

    column: str
    missed: tuple[MissedBaseline, ...] = ()
    unclear: tuple[str, ...] = ()
    """What nobody can tell, each in one sentence."""
    notes: tuple[str, ...] = ()
    """What was not looked at."""
    broken: tuple[str, ...] = ()
    """Cases that must not break, and did."""
    cases_needed: int | None = None
    """Cases that would tell, four times in five; None: it is clear, or nobody knows."""

    @property
    def word(self) -> GateWord:
        """What it comes to: what fails is said first."""
        if any(one.threshold != _UNCLEAR for one in self.missed):
            return GateWord.FAILS
        return GateWord.UNCLEAR if self.unclear else GateWord.HOLDS

    def as_json(self) -> JsonObject:
        """Return the form the document uses."""
        reasons: list[Json] = [*(one.said for one in self.missed if one.threshold != _UNCLEAR)]
        return {
            "word": self.word,
            "reasons": [*reasons, *self.unclear],
            "notes": [*self.notes],
            "broken": [*self.broken],
            "cases_needed": self.cases_needed,
        }


def against_baseline(
    asked: BaselineGate, found: BaseComparison, columns: Sequence[str], *, partial: bool
) -> list[ColumnAgainstBaseline]:
    """Hold the columns of a finished run against its baseline.

    The drop of a column's pass rate *holds* where its 95% interval lies above −`max_drop`; it
    *fails* where it is larger and p, corrected for the number of columns, is below 0.05. A case
    with a tag of `never_break` *broke* where it passed in the baseline and does not now. All else
    is unclear, also where there is no baseline.

    Args:
        asked: The suite's table.
        found: How the run differs from its baseline.
        columns: The run's columns.
        partial: Whether the run leaves cases out: then cases that it does not have are noted only.

    Returns:
        One for each column, then one for each target that the baseline has and the run, which
        leaves nothing out, has not: whoever takes a target out of a suite is told so.
    """
    held = [_column(asked, found, name, partial) for name in columns]
    return held if partial else [*held, *(_removed(asked, found, name) for name in _gone(found))]


def _gone(found: BaseComparison) -> list[str]:
    """Return the baseline's columns that no column of the run is compared with."""
    if found.comparison is None:
        return []
    compared = {row.columns.a for row in found.comparison.rows}
    return [name for name in found.comparison.a.columns if name not in compared]


def _removed(asked: BaselineGate, found: BaseComparison, name: str) -> ColumnAgainstBaseline:
    of = _Findings(name)
    of.unclear.append(f"{found.base.name} has this target, and the run has not")
    return _said(asked, of)


@dataclass(slots=True)
class _Findings:
    """What is found of one column, as it is found."""

    column: str
    missed: list[MissedBaseline] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    cases_needed: int | None = None


def _column(
    asked: BaselineGate, found: BaseComparison, name: str, partial: bool
) -> ColumnAgainstBaseline:
    of = _Findings(name)
    row = found.rows.get(name)
    if row is None or found.comparison is None:
        of.unclear.append(found.why or f"{found.base.name} has no target {name}")
    else:
        if asked.max_drop is not None:
            _look_at_drop(asked.max_drop, row, str(found.base.name), of)
        if asked.never_break:
            sides = found.comparison.a, found.comparison.b
            _look_at_tagged(asked.never_break, row, sides, partial, of)
    return _said(asked, of)


def _said(asked: BaselineGate, of: _Findings) -> ColumnAgainstBaseline:
    """Return what was found of a column, with what is missed where unclear counts as that."""
    if asked.unclear == "fail" and of.unclear:
        said = f"unclear, which fails here: {'; '.join(of.unclear)}"
        of.missed.append(MissedBaseline(of.column, _UNCLEAR, None, None, said, "unclear"))
    return ColumnAgainstBaseline(
        of.column,
        tuple(of.missed),
        tuple(of.unclear),
        tuple(of.notes),
        tuple(of.broken),
        of.cases_needed,
    )


def _look_at_drop(most: float, row: ComparisonRow, base: str, of: _Findings) -> None:
    known = row.difference
    if known is None or known.interval95 is None:
        of.unclear.append(f"{many(row.n, 'case')} can be compared with {base}, which says nothing")
        return
    if known.interval95[0] > -most:
        return
    said = f"{_change(known)} against {base}, over {many(row.n, 'pair')}"
    if -known.diff > most + _SLACK and row.p_holm is not None and row.p_holm < SURE:
        said = f"{said}: it may fall by {most * 100:g} points at most, p is {row.p_holm:.2g}"
        words = f"drop {-known.diff * 100:.1f} > {most * 100:g} points"
        of.missed.append(MissedBaseline(of.column, "max_drop", most, -known.diff, said, words))
        return
    of.cases_needed = _cases_needed(known, row.n, most)
    needed = number(of.cases_needed)
    told = f"; about {needed} cases would tell, if it is as it looks" if of.cases_needed else ""
    of.unclear.append(
        f"{said}: neither shown nor ruled out that it fell by more than {most * 100:g} points{told}"
    )


def _change(of: PairedDifference) -> str:
    return f"{points(of.diff)} points {points_interval(of.interval95)}"


def _cases_needed(known: PairedDifference, n: int, most: float) -> int | None:
    """Return how many cases would tell, were the difference what it looks like; None: nobody knows.

    A drop beyond the largest allowed has to be told from none, any other one from that.
    """
    away = most + known.diff
    effect = -known.diff if away < -_SLACK else away
    if known.mde is None or known.interval95 is None or effect < _SLACK:
        return None
    if known.diff == 0 and not known.stderr:  # no case differs
        return max(cases_without_flips(n, known.interval95[1], effect), n + 1)
    return max(cases_like_these(n, known.mde, effect), n + 1)


class _Fate(StrEnum):
    """What a case that must not break came to, where it does not pass now."""

    BROKE = "broke"
    NO_RESULT = "without a result now"
    CHANGED = "changed since and not passed now"
    UNKNOWN = "without a result in the baseline, and not passed now"
    GONE = "not in this run"


def _look_at_tagged(
    tags: Sequence[str],
    row: ComparisonRow,
    sides: tuple[Side, Side],
    partial: bool,
    of: _Findings,
) -> None:
    """Look at each case that must not break: as it is tagged now, or was where it is gone."""
    a, b = sides
    before, now = a.tags(tags), b.tags(tags)
    told = of.notes if partial else of.unclear
    used = {tag for one in (before, now) for found in one.values() for tag in found}
    told += [f"no case is tagged {visible_line(tag, 60)}" for tag in tags if tag not in used]
    here = {
        case_id: case
        for case_id, case in b.cases(row.columns.b)
        if case_id in now or case_id in before
    }
    fates: dict[_Fate, list[str]] = {}
    for case_id, case in a.cases(row.columns.a):
        if case_id in (now if case_id in here else before):
            fate = _fate(sides, case_id, case, here.get(case_id))
            if fate is not None:
                fates.setdefault(fate, []).append(case_id)
    of.broken = fates.pop(_Fate.BROKE, [])
    listed = ", ".join(visible_line(tag, 60) for tag in tags)
    if of.broken:
        said = f"{_cases(of.broken, listed)} broke since {a.name}"
        words = f"{many(len(of.broken), 'case')} broke"
        of.missed.append(MissedBaseline(of.column, "never_break", 0, len(of.broken), said, words))
    for fate, ids in fates.items():
        (told if fate is _Fate.GONE else of.unclear).append(f"{_cases(ids, listed)} {fate}")


def _fate(
    sides: tuple[Side, Side], case_id: str, before: ComparedCase, now: ComparedCase | None
) -> _Fate | None:
    """Return what a case came to; None: it passes, or did not pass in the baseline either."""
    if (now is not None and now.value == 1.0) or (before.value is not None and before.value < 1.0):
        return None
    if before.value is None:
        return _Fate.UNKNOWN
    if now is None:
        return _Fate.GONE
    if now.value is None:
        return _Fate.NO_RESULT
    a, b = sides
    if before.row != now.row and a.row_digest(case_id) != b.row_digest(case_id):
        return _Fate.CHANGED
    return _Fate.BROKE


def _cases(ids: Sequence[str], tags: str) -> str:
    named = ", ".join(visible_line(one, 60) for one in ids[:_NAMED])
    more = ", …" if len(ids) > _NAMED else ""
    return f"{many(len(ids), 'case')} tagged {tags} ({named}{more})"
