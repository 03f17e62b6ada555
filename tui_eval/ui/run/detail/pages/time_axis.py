"""The axis of a time line: seconds to cells, broken where one stretch dwarfs all others."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.format import seconds
from tui_eval.ui.theme.glyphs import Glyphs

_DWARFS = 6.0
"""How many times as long as all others together one stretch must be for the axis to break."""
_COUNTS = 0.002
"""Share of the whole that the others must have: less is nothing anybody looks for."""


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Seconds from 0 to a total on so many cells."""

    total: float
    """Seconds; above 0."""
    cells: int
    left_out: tuple[float, float] | None = None
    """From which second to which it is broken; None: it is not."""

    @property
    def gap(self) -> float:
        """The seconds that are left out."""
        return 0.0 if self.left_out is None else self.left_out[1] - self.left_out[0]

    @property
    def break_at(self) -> int | None:
        """The cell of the break; None: there is none."""
        return None if self.left_out is None else min(self.at(self.left_out[0]), self.cells - 1)

    def at(self, second: float) -> int:
        """Return the cell of a second, 0 to `cells`."""
        if self.left_out is not None:
            start, end = self.left_out
            second = min(second, start) if second < end else second - self.gap
        return min(round(second * self.cells / (self.total - self.gap)), self.cells)

    def words(self, glyphs: Glyphs) -> str:
        """Return the line below: where it begins, ends and is broken."""
        end = seconds(self.total)
        line = "0" + end.rjust(self.cells - 1)
        if self.left_out is None or self.break_at is None:
            return line
        start, stop = map(seconds, self.left_out)
        middle = f"{start} {glyphs.broken} {stop}"
        first = self.break_at - len(start) - 1
        last = first + len(middle)
        if first < 2 or last > self.cells - len(end) - 1:
            return line
        return line[:first] + middle + line[last:]


def time_axis(stretches: Sequence[float], cells: int) -> TimeAxis | None:
    """Return the axis on which stretches stand one behind the other; None: all are 0.

    Where one of them is many times as long as all others, what the others take at both its ends is
    shown of it and its middle is left out.

    Args:
        stretches: Seconds, in order.
        cells: Cells there are.
    """
    total = sum(stretches)
    if total <= 0:
        return None
    longest = max(stretches)
    others = total - longest
    if longest <= _DWARFS * others or others < _COUNTS * total:
        return TimeAxis(total, cells)
    begins = sum(stretches[: stretches.index(longest)])
    return TimeAxis(total, cells, (begins + others, begins + longest - others))
