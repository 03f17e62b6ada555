"""The cases of two columns put together, by their ids."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Protocol

from tui_eval.reports.comparison.column_cases import ColumnCases
from tui_eval.reports.comparison.side import Side


class NothingToPairError(Exception):
    """Two sides have no columns that belong together; the message says what to do."""


@dataclass(frozen=True, slots=True)
class CasePairs:
    """The cases that both of two columns have a result of: a list for each fact."""

    ids: Sequence[str]
    a: Sequence[float]
    b: Sequence[float]
    """What each came to in A, and in B."""
    places: Sequence[int]
    """Where each stands in A."""
    weights: Sequence[float] | None = None
    """In B; None: each is 1."""
    clusters: Sequence[str | None] | None = None
    """In B; None: each case is for itself."""

    def __len__(self) -> int:
        return len(self.ids)

    def some(self, places: Sequence[int]) -> "CasePairs":
        """Return those at these places."""
        return CasePairs(
            [self.ids[at] for at in places],
            [self.a[at] for at in places],
            [self.b[at] for at in places],
            [self.places[at] for at in places],
            None if self.weights is None else [self.weights[at] for at in places],
            None if self.clusters is None else [self.clusters[at] for at in places],
        )


@dataclass(frozen=True, slots=True)
class PairedColumns:
    """Two columns that are compared, and what of their cases is not."""

    a: str
    b: str
    only_a: int
    """Cases that only A's side has."""
    only_b: int
    changed: int
    """Cases of both whose rows differ: they are not compared."""
    left_out_a: int
    """Other cases of both that have no result in A."""
    left_out_b: int
    shared: int
    """Pairs of the very same outputs."""
    by_hand_a: int = 0
    """Pairs of whose verdict in A a person decides a part."""
    by_hand_b: int = 0


class ColumnNames(Protocol):
    """What has columns that may be paired."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""


def paired_names(a: ColumnNames, b: ColumnNames, rows: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the columns that are compared with each other.

    Args:
        a: The first side.
        b: The second.
        rows: Columns of A with those of B that they are compared with; without any, columns of one
            name belong together, and where each side has but one, these.

    Raises:
        NothingToPairError: there are none, or a named one is not there.
    """
    for side, named in ((a, rows.keys()), (b, rows.values())):
        for name in named:
            if name not in side.columns:
                there = ", ".join(side.columns)
                raise NothingToPairError(f'{side.name} has no target "{name}"; it has {there}')
    if rows:
        return list(rows.items())
    if len(a.columns) == len(b.columns) == 1:
        return [(a.columns[0], b.columns[0])]
    same = [(name, name) for name in a.columns if name in b.columns]
    if not same:
        raise NothingToPairError(
            f"{a.name} has {', '.join(a.columns)} and {b.name} has {', '.join(b.columns)}: say "
            "which belong together, as in --row X=Y"
        )
    return same


def paired(
    a: Side, b: Side, columns: tuple[str, str], scorer: str | None = None
) -> tuple[PairedColumns, CasePairs]:
    """Put the cases of two columns together.

    Args:
        a: The first side.
        b: The second.
        columns: One of each.
        scorer: By this scorer's verdicts; None: by the trials' own.

    Returns:
        What is not compared, and the pairs that are.
    """
    of_a, of_b = a.cases(columns[0], scorer), b.cases(columns[1], scorer)
    both = changed = left_a = left_b = shared = 0
    here: list[int] = []
    there: list[int] = []
    """Where the pairs stand in A and in B."""
    for at, other in enumerate(_places_in(of_b, of_a)):
        if other is None:
            continue
        both += 1
        if of_a.rows[at] != of_b.rows[other]:
            case_id = of_a.ids[at]
            if a.row_digest(case_id) != b.row_digest(case_id):
                changed += 1
                continue
        if of_a.values[at] is None or of_b.values[other] is None:
            left_a += of_a.values[at] is None
            left_b += of_b.values[other] is None
            continue
        outputs = of_a.outputs[at]
        shared += outputs is not None and outputs == of_b.outputs[other]
        here.append(at)
        there.append(other)
    only_a, only_b = len(of_a) - both, len(of_b) - both
    ids = [of_a.ids[at] for at in here]
    hands = (
        _among(ids, side.by_hand(of, scorer)) for side, of in zip((a, b), columns, strict=True)
    )
    told = PairedColumns(*columns, only_a, only_b, changed, left_a, left_b, shared, *hands)
    return told, CasePairs(
        ids,
        [of_a.values[at] or 0.0 for at in here],
        [of_b.values[at] or 0.0 for at in there],
        here,
        None if of_b.weights is None else [of_b.weights[at] for at in there],
        None if of_b.clusters is None else [of_b.clusters[at] for at in there],
    )


def _among(ids: Sequence[str], some: Set[str]) -> int:
    return sum(one in some for one in ids) if some else 0


def _places_in(other: ColumnCases, of: ColumnCases) -> Iterable[int | None]:
    """Return where in another column each case stands; None: it is not there."""
    if of.ids == other.ids:
        return range(len(of))
    places = dict(zip(other.ids, range(len(other)), strict=True))
    return map(places.get, of.ids)
