"""How two sides differ: a row for each pair of columns, groups, and the cases that flipped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, Literal

from tui_eval.reports.comparison.flips import Flips
from tui_eval.reports.comparison.kept_sums import summed
from tui_eval.reports.comparison.pairing import (
    CasePairs,
    NothingToPairError,
    PairedColumns,
    Pairing,
    paired,
    paired_names,
)
from tui_eval.reports.comparison.side import Side
from tui_eval.statistics.multiplicity import holm
from tui_eval.statistics.paired import (
    MARGIN,
    PairedDifference,
    PairTally,
    VerdictPairs,
)

SURE: Final = 0.05
"""Below this p, corrected for the number of rows, a difference has a direction."""

By = Literal["tag", "scorer"]


class Word(StrEnum):
    """What a difference comes to. There is no word for "no difference": nobody can see that."""

    BETTER = "better"
    WORSE = "worse"
    EQUIVALENT = "equivalent"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """Two columns compared, or those of their cases that are in a group."""

    columns: PairedColumns
    """Which they are, and what of their cases is not compared."""
    pairs: VerdictPairs
    """`worse` and `better`: B has less, or more; `both` and `neither`: alike, and not 0, or 0."""
    rate_a: float | None
    """Over the pairs; None: there are none."""
    rate_b: float | None
    difference: PairedDifference | None
    """None: there are no pairs."""
    p_holm: float | None = None
    """p for all rows together."""
    word: Word = Word.UNCLEAR

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return self.pairs.n


def outcome(value: float) -> str | float:
    """Return what a case came to: `pass`, `fail`, or the value where its epochs differ."""
    return {1.0: "pass", 0.0: "fail"}.get(value, value)


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """Two sides compared: a row for each pair of columns."""

    a: Side
    b: Side
    rows: Sequence[ComparisonRow]
    scorers_differ: Sequence[str]
    """Scorers that only one side has, or that are not the same on both."""
    scorer: str | None = None
    """Whose verdicts are compared; None: the trials' own."""
    margin: float = MARGIN

    @property
    def words(self) -> frozenset[Word]:
        """What its rows come to."""
        return frozenset(row.word for row in self.rows)


@dataclass(frozen=True, slots=True)
class RunComparison(ComparedRows):
    """Two sides compared, with groups and with the cases that flipped."""

    flips: Flips = field(default_factory=Flips)
    """Those that B has less of first, and of each kind the largest first."""
    groups: Mapping[str, Sequence[ComparisonRow]] = field(default_factory=dict)
    """By tag or scorer, each with a row for each pair of columns that has cases in it."""
    flips_of_groups: Mapping[str, Flips] = field(default_factory=dict)
    """Those of each group, in the same order; of a scorer, by what it says."""
    why_no_groups: str | None = None
    """Why there are none though they were asked for; None: there are, or they were not."""


@dataclass(frozen=True, slots=True)
class ComparisonChoice:
    """What of two sides is compared, and how."""

    rows: Mapping[str, str]
    """Columns of A with those of B; empty: those of one name."""
    scorer: str | None = None
    by: By | None = None
    margin: float = MARGIN


def compare(a: Side, b: Side, choice: ComparisonChoice) -> RunComparison:
    """Compare two sides.

    Raises:
        NothingToPairError: no columns of them belong together, or one lacks the scorer.
    """
    if choice.scorer is not None:
        _see_that_it_grades(choice.scorer, a, b)
    found = [
        paired(a, b, names, choice.scorer, by_tag=choice.by == "tag")
        for names in paired_names(a, b, choice.rows)
    ]
    rows = _decided([_row(of.columns, of.pairs.tally) for of in found], choice.margin)
    groups = _groups(a, b, found, choice)
    made = [_row(columns, pairs.tally) for of in groups.values() for _, columns, pairs in of]
    of_groups = iter(_decided(made, choice.margin))
    return RunComparison(
        a,
        b,
        rows,
        _differing(a, b),
        choice.scorer,
        choice.margin,
        Flips((row, of.pairs.flipped) for row, of in enumerate(found)),
        {name: [next(of_groups) for _ in of] for name, of in groups.items()},
        {name: Flips((row, pairs.flipped) for row, _, pairs in of) for name, of in groups.items()},
        None if groups else _why_no_groups(a, b, choice.by),
    )


def compare_rows(a: Side, b: Side) -> ComparedRows:
    """Compare two sides as `compare` does, without the cases that flipped.

    Raises:
        NothingToPairError: no columns of them belong together.
    """
    rows = columns_compared(a, b, paired_names(a, b, {}))
    return ComparedRows(a, b, rows, _differing(a, b))


def columns_compared(
    a: Side, b: Side, names: Sequence[tuple[str, str]], margin: float = MARGIN
) -> list[ComparisonRow]:
    """Compare columns of A with columns of B, each pair of names for a row.

    Their p values hold for all of the rows together.
    """
    return _decided([_row(*one) for one in summed(a, b, names)], margin)


def _see_that_it_grades(scorer: str, *sides: Side) -> None:
    for side in sides:
        if scorer not in side.scorers and not side.is_baseline:
            there = ", ".join(side.scorers) or "none"
            raise NothingToPairError(f'{side.name} has no scorer "{scorer}"; it has {there}')


def _row(columns: PairedColumns, tally: PairTally) -> ComparisonRow:
    return ComparisonRow(columns, tally.verdicts(), *tally.means(), tally.difference())


def _groups(
    a: Side, b: Side, found: Sequence[Pairing], choice: ComparisonChoice
) -> dict[str, list[tuple[int, PairedColumns, CasePairs]]]:
    """Return the pairs of each group, those of each row for itself; rows are counted from 0."""
    groups: dict[str, list[tuple[int, PairedColumns, CasePairs]]] = {}
    for row, pairing in enumerate(found):
        for tag, pairs in pairing.by_tag.items():
            groups.setdefault(tag, []).append((row, pairing.columns, pairs))
    if choice.by == "scorer":
        for scorer in (name for name in a.scorers if name in b.scorers):
            for row, pairing in enumerate(found):
                of = paired(a, b, (pairing.columns.a, pairing.columns.b), scorer)
                if of.pairs.tally.n:
                    groups.setdefault(scorer, []).append((row, of.columns, of.pairs))
    return groups


def _why_no_groups(a: Side, b: Side, by: By | None) -> str | None:
    """Say why there are no groups; None: nobody asked for them."""
    if by is None:
        return None
    if by == "tag":
        return f"no groups by tag: no case that is compared has a tag in {b.name}"
    files = [side.name for side in (a, b) if side.is_baseline]
    if files:
        named = " and ".join(dict.fromkeys(files))
        return f"no groups by scorer: {named} holds verdicts of cases and none of single scorers"
    return f"no groups by scorer: no scorer of {a.name} is one of {b.name}"


def _decided(rows: Sequence[ComparisonRow], margin: float) -> list[ComparisonRow]:
    """Return rows with p values that hold for all of them, and what each comes to."""
    ps = holm([None if row.difference is None else row.difference.p for row in rows])
    return [
        replace(row, p_holm=p, word=word(row.difference, p, margin))
        for row, p in zip(rows, ps, strict=True)
    ]


def word(difference: PairedDifference | None, p_holm: float | None, margin: float) -> Word:
    """Return what a difference comes to.

    Within the margin it is `equivalent`, whatever p says: where the 90% interval lies inside, two
    one-sided tests at 5% say so (Schuirmann 1987, J. Pharmacokinet. Biopharm. 15).
    """
    if difference is None:
        return Word.UNCLEAR
    within = difference.interval90
    if within is not None and -margin < within[0] and within[1] < margin:
        return Word.EQUIVALENT
    if p_holm is not None and p_holm < SURE:
        return Word.BETTER if difference.diff > 0 else Word.WORSE
    return Word.UNCLEAR


def _differing(a: Side, b: Side) -> list[str]:
    if a.frozen_scorers is not None and a.frozen_scorers == b.frozen_scorers:
        return []  # another version may write the same ones otherwise: then they are read
    of_a, of_b = a.scorers, b.scorers
    if not of_a or not of_b:
        return []  # a baseline file does not say how it was scored
    return [name for name in dict.fromkeys((*of_a, *of_b)) if of_a.get(name) != of_b.get(name)]
