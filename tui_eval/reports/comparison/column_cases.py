"""What the cases of one column came to: a list for each fact, so that many take little time."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat, starmap
from typing import NamedTuple


class ComparedCase(NamedTuple):
    """What a case came to in one column."""

    value: float | None
    """In 0..1: its epochs reduced; None: it has no result, or not yet."""
    outputs: Hashable
    """Its outputs in the store: equal where they are the very same; None: it has none there."""
    row: Hashable
    """Equal where its row is as it is written there; where not, `Side.row_digest` tells."""
    weight: float = 1.0
    cluster: str | None = None
    """Which others it is not independent of; None: of none."""


@dataclass(frozen=True, slots=True)
class ColumnCases:
    """What each case of a column came to, in dataset order.

    The lists have an entry a case, see `ComparedCase`.
    """

    ids: Sequence[str]
    values: Sequence[float | None]
    outputs: Sequence[Hashable]
    rows: Sequence[Hashable]
    weights: Sequence[float] | None = None
    """None: each is 1."""
    clusters: Sequence[str | None] | None = None
    """None: each case is for itself."""

    @classmethod
    def of(cls, cases: Mapping[str, ComparedCase]) -> "ColumnCases":
        """Return cases that are known one by one."""
        ids, told = list(cases), list(cases.values())
        return cls(
            ids,
            [case.value for case in told],
            [case.outputs for case in told],
            [case.row for case in told],
            [case.weight for case in told],
            [case.cluster for case in told],
        )

    def __len__(self) -> int:
        return len(self.ids)

    def items(self) -> Iterator[tuple[str, ComparedCase]]:
        """Yield the cases one by one, each with its id."""
        weights = repeat(1.0) if self.weights is None else self.weights
        clusters = repeat(None) if self.clusters is None else self.clusters
        facts = zip(self.values, self.outputs, self.rows, weights, clusters, strict=False)
        return zip(self.ids, starmap(ComparedCase, facts), strict=True)
