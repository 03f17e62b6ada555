"""The trials a person has marked: a byte a trial, whatever their number."""

from collections.abc import Iterable, Sequence


class MarkedTrials:
    """Marked trials, by place."""

    def __init__(self) -> None:
        self._bits = bytearray()
        self.count = 0

    def __contains__(self, place: int) -> bool:
        return place < len(self._bits) and self._bits[place] == 1

    def toggle(self, place: int) -> None:
        """Mark a trial, or take its mark away."""
        self._set(place, place not in self)

    def add(self, places: Iterable[int]) -> None:
        """Mark trials."""
        for place in places:
            self._set(place, True)

    def clear(self) -> None:
        """Take all marks away."""
        self._bits = bytearray()
        self.count = 0

    def taken(self) -> bytes:
        """Return what is marked now, for `put_back`."""
        return bytes(self._bits)

    def put_back(self, taken: bytes) -> None:
        """Mark what was marked before, and nothing else."""
        self._bits = bytearray(taken)
        self.count = sum(taken)

    def outside(self, listed: Sequence[int] | None) -> int:
        """Return how many marked trials are not listed.

        Args:
            listed: The places of those that are, each once; None: all are.
        """
        if listed is None or not self.count:
            return 0
        bits, known = self._bits, len(self._bits)
        return self.count - sum(bits[place] for place in listed if place < known)

    def places(self) -> list[int]:
        """Return the marked trials in dataset order."""
        return [place for place, marked in enumerate(self._bits) if marked]

    def _set(self, place: int, marked: bool) -> None:
        if place >= len(self._bits):
            self._bits.extend(bytes(place + 1 - len(self._bits)))
        self.count += marked - self._bits[place]
        self._bits[place] = marked
