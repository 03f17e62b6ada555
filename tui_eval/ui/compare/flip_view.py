"""Which of the cases that flipped are listed, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tui_eval.reports.comparison.comparison import RunComparison
from tui_eval.reports.comparison.flips import Flip


class FlipKind(StrEnum):
    """Which flips are listed."""

    ALL = "all"
    WORSE = "worse"
    BETTER = "better"


class FlipOrder(StrEnum):
    """How they are sorted."""

    SIZE = "worse first, the largest first"
    CASE = "in dataset order"


@dataclass(frozen=True, slots=True)
class FlipView:
    """What is listed."""

    kind: FlipKind = FlipKind.ALL
    order: FlipOrder = FlipOrder.SIZE
    row: int = 0
    """Which pair of columns, from 0."""
    group: str | None = None
    """Only those of this group; None: all of the row."""

    def turned(self) -> "FlipView":
        """Return the view of the next kind."""
        kinds = list(FlipKind)
        return replace(self, kind=kinds[(kinds.index(self.kind) + 1) % len(kinds)])

    def reordered(self) -> "FlipView":
        """Return the view in the other order."""
        other = FlipOrder.CASE if self.order is FlipOrder.SIZE else FlipOrder.SIZE
        return replace(self, order=other)

    def of_row(self, comparison: RunComparison) -> Sequence[Flip]:
        """Return all flips of its row and group, by size."""
        group = self.group
        flips = comparison.flips if group is None else comparison.flips_of_groups.get(group, ())
        if len(comparison.rows) == 1:
            return flips
        return [flip for flip in flips if flip.row == self.row]

    def listed(self, flips: Sequence[Flip]) -> Sequence[Flip]:
        """Return those of a row that are listed, in their order."""
        if self.kind is not FlipKind.ALL:
            worse = self.kind is FlipKind.WORSE
            flips = [flip for flip in flips if flip.worse == worse]
        if self.order is FlipOrder.CASE:
            return sorted(flips, key=lambda flip: flip.place)
        return flips
