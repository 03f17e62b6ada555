"""How large a difference the cases of a run show, and how many would show a smaller one."""

import sqlite3
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final, Literal

from pydantic import ValidationError

from tui_eval.format import many, number
from tui_eval.model.json import JsonObject
from tui_eval.reports.comparison.comparison import ComparedRows, compare_rows
from tui_eval.reports.comparison.pairing import NothingToPairError
from tui_eval.reports.comparison.side import RunSide
from tui_eval.reports.json_output import rounded
from tui_eval.reports.rates.case_results import fate
from tui_eval.statistics.power import (
    ASSUMED_DIFFERING,
    EFFECT,
    POWER,
    VarianceParts,
    cases_needed,
    mean_parts,
    smallest_effect,
    variance_parts,
)
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.read.comparing.comparison_queries import compared
from tui_eval.store.rows import RunRow

_EPOCHS: Final = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True)
class SampleSize:
    """What a suite's cases can show."""

    present: int
    """Cases of the run that it is about."""
    effect: float
    power: float
    differing: float
    """The share of cases whose verdicts differ between two columns that are compared."""
    differing_from: Literal["runs", "assumed"]
    """The last two full runs, or nobody knows it."""
    parts: VarianceParts | None
    """None: no case was asked more than once."""

    @property
    def cases(self) -> int:
        """How many cases show the effect."""
        return cases_needed(self.effect, self.differing, self.power)

    @property
    def smallest(self) -> float | None:
        """The smallest difference that the present cases show; None: none at all."""
        return smallest_effect(self.present, self.differing, self.power)

    @property
    def stderr_by_epochs(self) -> dict[int, float]:
        """The standard error of a rate if each case were asked so often; empty: unknown."""
        if self.parts is None:
            return {}
        parts = VarianceParts(self.parts.between, self.parts.within, self.present)
        return {epochs: parts.stderr(epochs) for epochs in _EPOCHS}

    def as_json(self) -> JsonObject:
        """Return the document that `power --json` prints."""
        return {
            "cases": self.cases,
            "present": self.present,
            "effect": self.effect,
            "power": self.power,
            "psi": rounded(self.differing),
            "psi_from": self.differing_from,
            "mde": rounded(self.smallest),
            "between": None if self.parts is None else rounded(self.parts.between),
            "within": None if self.parts is None else rounded(self.parts.within),
            "stderr_by_epochs": {
                str(epochs): rounded(error) for epochs, error in self.stderr_by_epochs.items()
            },
        }


def sample_size(
    db: sqlite3.Connection, run: RunRow, effect: float = EFFECT, power: float = POWER
) -> SampleSize:
    """Say what the cases of a run can show.

    Args:
        db: The connection.
        run: The run; how often verdicts differ is taken from the last two full runs of its suite.
        effect: The difference of two rates that is to be seen, above 0.
        power: How often it is to be seen.
    """
    split = [variance_parts(cases) for cases in _epochs(db, run.id).values()]
    parts = mean_parts([one for one in split if one is not None])
    present = comparison_queries.count(db, run.id)
    return _sample_size(_differing(db, run.suite), present, effect, power, parts)


def sample_size_before(db: sqlite3.Connection | None, suite: str, cases: int) -> SampleSize:
    """Say what so many cases of a suite would show, before they are run.

    Args:
        db: The connection; None: there is no store yet.
        suite: The suite's name: how often verdicts differ is taken from its last two full runs.
        cases: How many there are.
    """
    differing = None if db is None else _differing(db, suite)
    return _sample_size(differing, cases, EFFECT, POWER, None)


def _sample_size(
    differing: float | None,
    present: int,
    effect: float,
    power: float,
    parts: VarianceParts | None,
) -> SampleSize:
    share = ASSUMED_DIFFERING if differing is None else differing
    source: Literal["runs", "assumed"] = "assumed" if differing is None else "runs"
    return SampleSize(present, effect, power, share, source, parts)


def sample_size_words(of: SampleSize) -> str:
    """Say in one line what the present cases show, and how many would show the effect."""
    often = "four times in five" if of.power == POWER else f"{of.power * 100:g} times in 100"
    points = f"{of.effect * 100:g} points"
    source = "in the last two full runs" if of.differing_from == "runs" else "assumed"
    share = f"verdicts differ in {of.differing * 100:.1f}% of the cases, {source}"
    there = many(of.present, "case")
    if of.smallest is None:
        few = f"{there}: too few to show any difference"
        return f"{few}; {number(of.cases)} would show {points} {often} ({share})"
    verb = "shows" if of.present == 1 else "show"
    shown = f"{there} {verb} a difference of {of.smallest * 100:.1f} points {often}"
    more = "" if of.present >= of.cases else f"; {number(of.cases)} would show {points}"
    return f"{shown}{more} ({share})"


def _differing(db: sqlite3.Connection, suite: str) -> float | None:
    """Return the share of pairs that differ between the last two full runs; None: not known.

    Nor is it where no verdict differs, as where the two have all outputs in common.
    """
    runs = run_queries.full_runs(db, suite, 2)
    if len(runs) < 2:
        return None
    try:
        found = compare_rows(RunSide(db, runs[1]), RunSide(db, runs[0]))
    except (NothingToPairError, ValidationError):  # or one that a later version has made
        return None
    return _share(found)


def _share(found: ComparedRows) -> float | None:
    """Return the share of pairs that differ; None where none does: how few it is nobody knows."""
    pairs = sum(row.n for row in found.rows)
    differing = sum(row.pairs.worse + row.pairs.better for row in found.rows)
    return differing / pairs if differing else None


def _epochs(db: sqlite3.Connection, run: int) -> dict[int, list[tuple[int, int]]]:
    """Return for each column how many epochs of each case passed, and were graded."""
    found: dict[int, list[tuple[int, int]]] = {}
    for (_, col), of_case in groupby(comparison_queries.trials(db, run), itemgetter(0, 1)):
        fates = [fate(compared(*trial[2:4])) for trial in of_case]
        passed = fates.count("passed")
        found.setdefault(col, []).append((passed, passed + fates.count("failed")))
    return found
