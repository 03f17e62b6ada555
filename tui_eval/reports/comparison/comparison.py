"""How two sides differ: a row for each pair of columns, groups, and the cases that flipped."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, Literal

from tui_eval.reports.comparison.pairing import (
    CasePair,
    NothingToPairError,
    PairedColumns,
    paired,
    paired_names,
)
from tui_eval.reports.comparison.side import Side
from tui_eval.statistics.multiplicity import holm
from tui_eval.statistics.paired import (
    MARGIN,
    PairedDifference,
    ValuePair,
    VerdictPairs,
    difference_of_values,
)

_SURE: Final = 0.05
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


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that came to something else in B."""

    case_id: str
    row: int
    """Which of the rows it is in, from 0."""
    a: float
    b: float


def outcome(value: float) -> str | float:
    """Return what a case came to: `pass`, `fail`, or the value where its epochs differ."""
    return {1.0: "pass", 0.0: "fail"}.get(value, value)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two sides compared."""

    a: Side
    b: Side
    rows: Sequence[ComparisonRow]
    groups: Mapping[str, Sequence[ComparisonRow]]
    """By tag or scorer, each with a row for each pair of columns that has cases in it."""
    flips: Sequence[Flip]
    """Those that B has less of first, and of each kind the largest first."""
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
    found = [paired(a, b, names, choice.scorer) for names in paired_names(a, b, choice.rows)]
    rows = _decided([_row(*of) for of in found], choice.margin)
    groups = _groups(a, b, found, choice)
    of_groups = iter(_decided([row for rows in groups.values() for row in rows], choice.margin))
    return RunComparison(
        a,
        b,
        rows,
        {name: [next(of_groups) for _ in rows] for name, rows in groups.items()},
        _flips([pairs for _, pairs in found]),
        _differing(a.scorers, b.scorers),
        choice.scorer,
        choice.margin,
    )


def _see_that_it_grades(scorer: str, *sides: Side) -> None:
    for side in sides:
        if scorer not in side.scorers and not side.is_baseline:
            there = ", ".join(side.scorers) or "none"
            raise NothingToPairError(f'{side.name} has no scorer "{scorer}"; it has {there}')


def _row(columns: PairedColumns, pairs: Sequence[CasePair]) -> ComparisonRow:
    weight = sum(pair.b.weight for pair in pairs)
    worse = sum(pair.bv < pair.av for pair in pairs)
    better = sum(pair.bv > pair.av for pair in pairs)
    neither = sum(pair.av == pair.bv == 0 for pair in pairs)
    counts = VerdictPairs(len(pairs) - worse - better - neither, worse, better, neither)
    return ComparisonRow(
        columns,
        counts,
        sum(pair.av * pair.b.weight for pair in pairs) / weight if weight else None,
        sum(pair.bv * pair.b.weight for pair in pairs) / weight if weight else None,
        _difference(pairs, counts),
    )


def _difference(pairs: Sequence[CasePair], counts: VerdictPairs) -> PairedDifference | None:
    """Return the difference by the method that fits: exact for verdicts of independent cases."""
    clustered = any(pair.b.cluster is not None for pair in pairs)
    if not clustered and _plain(pairs):
        return counts.difference()
    values = (ValuePair(pair.av, pair.bv, pair.b.weight, pair.b.cluster) for pair in pairs)
    return difference_of_values(values, clustered=clustered)


def _plain(pairs: Iterable[CasePair]) -> bool:
    return all(
        pair.av in (0.0, 1.0) and pair.bv in (0.0, 1.0) and pair.b.weight == 1.0 for pair in pairs
    )


def _groups(
    a: Side,
    b: Side,
    found: Sequence[tuple[PairedColumns, Sequence[CasePair]]],
    choice: ComparisonChoice,
) -> dict[str, list[ComparisonRow]]:
    groups: dict[str, list[ComparisonRow]] = {}
    if choice.by == "tag":
        tags = b.tags()
        for columns, pairs in found:
            of_tag: dict[str, list[CasePair]] = {}
            for pair in pairs:
                for tag in tags.get(pair.case_id, ()):
                    of_tag.setdefault(tag, []).append(pair)
            for tag, tagged in of_tag.items():
                groups.setdefault(tag, []).append(_row(columns, tagged))
    elif choice.by == "scorer":
        for scorer in (name for name in a.scorers if name in b.scorers):
            of_scorer = [paired(a, b, (of.a, of.b), scorer) for of, _ in found]
            groups[scorer] = [_row(of, pairs) for of, pairs in of_scorer if pairs]
    return groups


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
    if p_holm is not None and p_holm < _SURE:
        return Word.BETTER if difference.diff > 0 else Word.WORSE
    return Word.UNCLEAR


def _flips(found: Sequence[Sequence[CasePair]]) -> list[Flip]:
    flips = [
        Flip(pair.case_id, row, pair.av, pair.bv)
        for row, pairs in enumerate(found)
        for pair in pairs
        if pair.av != pair.bv
    ]
    return sorted(flips, key=lambda flip: (flip.b > flip.a, -abs(flip.b - flip.a)))


def _differing(a: Mapping[str, bytes], b: Mapping[str, bytes]) -> list[str]:
    if not a or not b:
        return []  # a baseline file does not say how it was scored
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]
