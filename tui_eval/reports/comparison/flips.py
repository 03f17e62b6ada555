"""The cases that came to something else: held in a few bytes each, for there may be millions."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from operator import eq
from typing import Final, NamedTuple, overload

_BITS: Final = 40
"""Of a number that says where a flip is: so many for its place among the cases of its row."""
_MASK: Final = (1 << _BITS) - 1


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


class FlippedCases:
    """Those of one pair of columns, in the order they were added."""

    def __init__(self) -> None:
        self._told: list[tuple[float, float]] = []
        self._numbers: dict[tuple[float, float], int] = {}
        """Where each two values stand in that list."""
        self._change = array("I")
        self._places = array("Q")
        self._ids = bytearray()
        self._ends = array("Q")

    def __len__(self) -> int:
        return len(self._places)

    @property
    def changes(self) -> Sequence[tuple[float, float]]:
        """What cases came to in A and B, each two values once."""
        return self._told

    @property
    def change(self) -> Sequence[int]:
        """Which of these each case has."""
        return self._change

    def add(self, case_id: str, place: int, a: float, b: float) -> None:
        """Add a case."""
        number = self._numbers.setdefault((a, b), len(self._told))
        if number == len(self._told):
            self._told.append((a, b))
        self._change.append(number)
        self._places.append(place)
        self._ids += case_id.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._ids))

    def flip(self, at: int, row: int) -> Flip:
        """Return the one that was added at this place, from 0, as a row's."""
        begin = self._ends[at - 1] if at else 0
        case_id = self._ids[begin : self._ends[at]].decode("utf-8", "surrogatepass")
        a, b = self._told[self._change[at]]
        return Flip(case_id, row, a, b, self._places[at])


class Flips(Sequence[Flip]):
    """Flips of several rows: those that B has less of first, and of each kind the largest first.

    Ties stand by row, then in the order in which they were added.
    """

    def __init__(self, found: Iterable[tuple[int, FlippedCases]] = ()) -> None:
        """Sort them.

        Args:
            found: The cases of each row, with the row's number.
        """
        self._rows = list(found)
        ranked: dict[tuple[bool, float], array[int]] = {}
        for at, (_, cases) in enumerate(self._rows):
            ranks = [(b > a, -abs(b - a)) for a, b in cases.changes]
            of_change = [ranked.setdefault(rank, array("Q")) for rank in ranks]
            for place, change in enumerate(cases.change, at << _BITS):
                of_change[change].append(place)
        self._order = array("Q")
        self.worse = 0
        """How many B has less of; they stand first."""
        for rank in sorted(ranked):
            self._order += ranked[rank]
            self.worse = self.worse if rank[0] else len(self._order)

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, index: int) -> Flip: ...

    @overload
    def __getitem__(self, index: slice) -> list[Flip]: ...

    def __getitem__(self, index: int | slice) -> Flip | list[Flip]:
        if isinstance(index, slice):
            return list(map(self._flip, self._order[index]))
        return self._flip(self._order[index])

    def __iter__(self) -> Iterator[Flip]:
        return map(self._flip, self._order)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def _flip(self, one: int) -> Flip:
        row, cases = self._rows[one >> _BITS]
        return cases.flip(one & _MASK, row)
