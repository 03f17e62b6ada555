"""What people would have said of all outputs, from what a scorer said of all and people of some."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.format import number
from tui_eval.model.judge_quality import ENOUGH, GoldAgreement
from tui_eval.model.states import Verdict
from tui_eval.reports.agreement.graded_outputs import GradedOutput, GradedOutputs
from tui_eval.statistics import corrected
from tui_eval.statistics.corrected import GradedShare, GradedVerdict
from tui_eval.statistics.intervals import Interval

OF_EACH: Final = 10
"""Graded outputs of each of two kinds under which too little is known of either."""
_ONE_CLUSTER: Final = "all outputs are of one cluster, or of one case"
NOBODY: Final = "nobody has graded its outputs"


@dataclass(frozen=True, slots=True)
class CorrectedPassRate:
    """A pass rate as people would have given it, or why there is none."""

    by: str | None = None
    """`grades` of the run's own outputs, or `gold`; None: there is none."""
    rate: float | None = None
    interval: Interval | None = None
    n: int = 0
    """Outputs that people graded."""
    why: str | None = None
    """Why there is none; None: there is one."""
    chosen: int = 0
    """Of `n`, those that nobody drew: the rate holds as far as they were chosen by chance."""

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return self.rate is not None


def corrected_rate(of: GradedOutputs, col: int, gold: GoldAgreement | None) -> CorrectedPassRate:
    """Return the rate of a column that people would have given.

    By grades of its own outputs where there are enough, else by gold.

    Args:
        of: What people and the scorer said.
        col: The column.
        gold: How the scorer's judge agrees with people about gold; None: there is none.
    """
    by_grades = _by_grades(of, col)
    if by_grades.known or gold is None or not gold.n:
        return by_grades
    by_gold = _by_gold(of, col, gold)
    return by_gold if by_gold.known or not by_grades.n else by_grades


def _scored(of: GradedOutputs, col: int) -> tuple[int, int]:
    """Return how many outputs of a column the scorer passed, and how many it passed or failed."""
    passed = of.shares.get((col, Verdict.PASS), 0)
    return passed, passed + of.shares.get((col, Verdict.FAIL), 0)


def _by_grades(of: GradedOutputs, col: int) -> CorrectedPassRate:
    passed, total = _scored(of, col)
    outputs = _standing_for_all(of.verdicts_of(col), total)
    if not outputs:
        return CorrectedPassRate(why=NOBODY)
    if not _enough(outputs):
        n = Counter(one.judged for one in outputs)
        had = (
            f"graded {number(n[Verdict.PASS])} that the judge passed, {number(n[Verdict.FAIL])} "
            "it failed"
        )
        why = f"{had}; {ENOUGH} with {OF_EACH} of each are needed"
        return CorrectedPassRate(n=len(outputs), why=why)
    if moved := of.otherwise[col]:
        # graded outputs stand for what they were drawn from, which are not those of now
        why = f"of {number(moved)} graded outputs the judge says otherwise now: grade anew"
        return CorrectedPassRate(n=len(outputs), why=why)
    graded = [
        GradedVerdict(one.judged is Verdict.PASS, one.person is Verdict.PASS, one.unit)
        for one in outputs
    ]
    each, all_ = corrected.independence(graded, passed / total), of.independence.get(col, 1.0)
    if each is None or all_ is None:
        return CorrectedPassRate(n=len(outputs), why=_ONE_CLUSTER)
    found = corrected.corrected_by_grades(
        passed, total, _share(graded, True, each), _share(graded, False, each), counts=all_
    )
    chosen = 0 if len(outputs) == total else sum(not one.drawn for one in outputs)
    return CorrectedPassRate("grades", found.rate, found.interval95, len(outputs), chosen=chosen)


def _standing_for_all(outputs: Sequence[GradedOutput], total: int) -> Sequence[GradedOutput]:
    """Return the graded outputs that say most of all: those drawn by chance, where they suffice.

    Args:
        outputs: All of a column that people graded.
        total: Outputs of the column; where each is graded, none stands for others.
    """
    drawn = [one for one in outputs if one.drawn]
    return drawn if len(outputs) < total and _enough(drawn) else outputs


def _enough(outputs: Sequence[GradedOutput]) -> bool:
    n = Counter(one.judged for one in outputs)
    return len(outputs) >= ENOUGH and min(n[Verdict.PASS], n[Verdict.FAIL]) >= OF_EACH


def _share(graded: Sequence[GradedVerdict], judged: bool, counts: float) -> GradedShare:
    people = [one.person for one in graded if one.judged is judged]
    return GradedShare(sum(people), len(people), counts)


def _by_gold(of: GradedOutputs, col: int, gold: GoldAgreement) -> CorrectedPassRate:
    passed, total = _scored(of, col)
    if gold.table is None or not total:
        return CorrectedPassRate(n=gold.n, why="the gold was graded by an earlier version")
    both, judge_alone, person_alone, neither = gold.table
    good, bad = both + person_alone, judge_alone + neither
    if gold.n < ENOUGH or min(good, bad) < OF_EACH:
        had = f"gold has {number(good)} that people pass, {number(bad)} that they fail"
        why = f"{had}; {ENOUGH} with {OF_EACH} of each are needed"
        return CorrectedPassRate(n=gold.n, why=why)
    counts = of.independence.get(col, 1.0)
    if counts is None:
        return CorrectedPassRate(n=gold.n, why=_ONE_CLUSTER)
    found = corrected.corrected_by_gold(
        passed / total, total * counts, GradedShare(both, good), GradedShare(neither, bad)
    )
    if found is None:
        return CorrectedPassRate(n=gold.n, why="on gold the judge is no better than chance")
    return CorrectedPassRate("gold", found.rate, found.interval95, gold.n)
