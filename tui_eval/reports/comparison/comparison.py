"""How two sides differ: a row for each pair of columns, groups, and the cases that flipped."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import repeat
from operator import mul
from typing import Final, Literal, NamedTuple

from tui_eval.reports.comparison.pairing import (
    CasePairs,
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


class Flip(NamedTuple):
    """A case that came to something else in B."""

    case_id: str
    row: int
    """Which of the rows it is in, from 0."""
    a: float
    b: float
    """What it came to in A, and in B."""
    place: int
    """Where the case stands in A, from 0."""

    @property
    def worse(self) -> bool:
        """Whether B has less of it."""
        return self.b < self.a


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
    flips_of_groups: Mapping[str, Sequence[Flip]] = field(default_factory=dict)
    """Those of each group, in the same order; of a scorer, by what it says."""
    why_no_groups: str | None = None
    """Why there are none though they were asked for; None: there are, or they were not."""

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
    made = [_row(columns, pairs) for of in groups.values() for _, columns, pairs in of]
    of_groups = iter(_decided(made, choice.margin))
    return RunComparison(
        a,
        b,
        rows,
        {name: [next(of_groups) for _ in of] for name, of in groups.items()},
        _flips((row, pairs) for row, (_, pairs) in enumerate(found)),
        _differing(a, b),
        choice.scorer,
        choice.margin,
        {name: _flips((row, pairs) for row, _, pairs in of) for name, of in groups.items()},
        None if groups else _why_no_groups(a, b, choice.by),
    )


def columns_compared(
    a: Side, b: Side, names: Sequence[tuple[str, str]], margin: float = MARGIN
) -> list[ComparisonRow]:
    """Compare columns of A with columns of B, each pair of names for a row.

    Their p values hold for all of the rows together.
    """
    return _decided([_row(*paired(a, b, pair)) for pair in names], margin)


def _see_that_it_grades(scorer: str, *sides: Side) -> None:
    for side in sides:
        if scorer not in side.scorers and not side.is_baseline:
            there = ", ".join(side.scorers) or "none"
            raise NothingToPairError(f'{side.name} has no scorer "{scorer}"; it has {there}')


def _row(columns: PairedColumns, pairs: CasePairs) -> ComparisonRow:
    came_to = Counter(zip(pairs.a, pairs.b, strict=True))
    worse = sum(n for (a, b), n in came_to.items() if b < a)
    better = sum(n for (a, b), n in came_to.items() if b > a)
    neither = came_to[0.0, 0.0]
    counts = VerdictPairs(len(pairs) - worse - better - neither, worse, better, neither)
    return ComparisonRow(
        columns,
        counts,
        _mean(pairs.a, pairs.weights),
        _mean(pairs.b, pairs.weights),
        _difference(pairs, came_to, counts),
    )


def _mean(values: Sequence[float], weights: Sequence[float] | None) -> float | None:
    """Return the weighted mean; None: nothing weighs anything."""
    if weights is None:
        return sum(values) / len(values) if values else None
    weight = sum(weights)
    return sum(map(mul, values, weights)) / weight if weight else None


def _difference(
    pairs: CasePairs, came_to: Iterable[tuple[float, float]], counts: VerdictPairs
) -> PairedDifference | None:
    """Return the difference by the method that fits: exact for verdicts of independent cases.

    Args:
        pairs: The cases.
        came_to: What they came to in A and B, each pair of values once.
        counts: How many came to what.
    """
    weights = pairs.weights or repeat(1.0, len(pairs))
    clusters = pairs.clusters or repeat(None, len(pairs))
    clustered = pairs.clusters is not None and any(one is not None for one in pairs.clusters)
    even = pairs.weights is None or all(weight == 1.0 for weight in pairs.weights)
    if not clustered and even and {value for both in came_to for value in both} <= {0.0, 1.0}:
        return counts.difference()
    values = map(ValuePair, pairs.a, pairs.b, weights, clusters)
    return difference_of_values(values, clustered=clustered)


def _groups(
    a: Side,
    b: Side,
    found: Sequence[tuple[PairedColumns, CasePairs]],
    choice: ComparisonChoice,
) -> dict[str, list[tuple[int, PairedColumns, CasePairs]]]:
    """Return the pairs of each group, those of each row for itself; rows are counted from 0."""
    groups: dict[str, list[tuple[int, PairedColumns, CasePairs]]] = {}
    if choice.by == "tag":
        tags = b.tags()
        for row, (columns, pairs) in enumerate(found):
            of_tag: dict[str, list[int]] = {}
            for at, case_id in enumerate(pairs.ids):
                for tag in tags.get(case_id, ()):
                    of_tag.setdefault(tag, []).append(at)
            for tag, places in of_tag.items():
                groups.setdefault(tag, []).append((row, columns, pairs.some(places)))
    elif choice.by == "scorer":
        for scorer in (name for name in a.scorers if name in b.scorers):
            for row, (of, _) in enumerate(found):
                columns, pairs = paired(a, b, (of.a, of.b), scorer)
                if pairs:
                    groups.setdefault(scorer, []).append((row, columns, pairs))
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


def _flips(found: Iterable[tuple[int, CasePairs]]) -> list[Flip]:
    flips = [
        Flip(case_id, row, a, b, place)
        for row, pairs in found
        for case_id, a, b, place in zip(pairs.ids, pairs.a, pairs.b, pairs.places, strict=True)
        if a != b
    ]
    return sorted(flips, key=lambda flip: (flip.b > flip.a, -abs(flip.b - flip.a)))


def _differing(a: Side, b: Side) -> list[str]:
    if a.frozen_scorers is not None and a.frozen_scorers == b.frozen_scorers:
        return []  # another version may write the same ones otherwise: then they are read
    of_a, of_b = a.scorers, b.scorers
    if not of_a or not of_b:
        return []  # a baseline file does not say how it was scored
    return [name for name in dict.fromkeys((*of_a, *of_b)) if of_a.get(name) != of_b.get(name)]
