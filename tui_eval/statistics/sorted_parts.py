"""Values that are sorted part by part, read as if all of them were sorted together."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import overload

_FEW = 512
"""Values that are sorted rather than divided further."""


class SortedParts(Sequence[float]):
    """Several ascending sequences as one; a value is found by its rank without merging them."""

    def __init__(self, parts: Sequence[Sequence[float]]) -> None:
        """Take parts, each in ascending order; they must not change."""
        self._parts = [part for part in parts if len(part)]
        self._n = sum(map(len, self._parts))

    def __len__(self) -> int:
        """Return how many values there are in all."""
        return self._n

    @overload
    def __getitem__(self, rank: int) -> float: ...
    @overload
    def __getitem__(self, rank: slice) -> Sequence[float]: ...
    def __getitem__(self, rank: int | slice) -> float | Sequence[float]:
        """Return the value at a rank; a negative one counts from the end.

        Raises:
            IndexError: there are fewer values.
        """
        if isinstance(rank, slice):
            return [self[one] for one in range(*rank.indices(self._n))]
        if not -self._n <= rank < self._n:
            raise IndexError(rank)
        return self._at(rank % self._n)

    def _at(self, rank: int) -> float:
        """Narrow each part down to where the value is, by values in the middle of the largest."""
        windows = [(part, 0, len(part)) for part in self._parts]
        left = self._n
        while left > _FEW:
            part, first, beyond = max(windows, key=_width)
            pivot = part[(first + beyond) // 2]
            below = [bisect_left(part, pivot, first, beyond) for part, first, beyond in windows]
            n_below = sum(at - first for at, (_, first, _) in zip(below, windows, strict=True))
            if rank < n_below:
                windows = [
                    (part, first, at)
                    for at, (part, first, _) in zip(below, windows, strict=True)
                    if at > first
                ]
                left = n_below
                continue
            upto = [bisect_right(part, pivot, first, beyond) for part, first, beyond in windows]
            n_upto = sum(at - first for at, (_, first, _) in zip(upto, windows, strict=True))
            if rank < n_upto:
                return pivot
            windows = [
                (part, at, beyond)
                for at, (part, _, beyond) in zip(upto, windows, strict=True)
                if beyond > at
            ]
            rank -= n_upto
            left -= n_upto
        return sorted(value for part, first, beyond in windows for value in part[first:beyond])[
            rank
        ]


def _width(window: tuple[Sequence[float], int, int]) -> int:
    return window[2] - window[1]
