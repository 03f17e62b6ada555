"""Columns: how wide each is, and which go where there is little room."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

GAP: Final = "  "
"""Between two columns."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column: where its text goes and what happens when there is little room."""

    title: str
    least: int
    """Cells it needs."""
    share: int = 0
    """Its share of the room that is left; 0: it never gets wider."""
    most: int = 0
    """Cells beyond which more would stay empty; 0: nobody knows."""
    right: bool = False
    """Numbers are set to the right."""
    drop: int = 0
    """The highest goes first where there is too little room; 0: it stays."""
    keep: int = 0
    """Cells at the end of its text that stay where it is cut, see `fit`."""
    sign: str = ""
    """Stands after the title: that the rows are sorted by it, and how; one cell."""


def lay_out(fields: Sequence[Field], width: int) -> tuple[int, ...]:
    """Return each field its width; 0 for those there is no room for.

    Args:
        fields: In order from the left.
        width: Cells there are, the gaps between fields included.
    """
    kept = list(fields)
    while len(kept) > 1 and _least(kept) > width:
        last = max(kept, key=lambda field: field.drop)
        if last.drop == 0:
            break
        kept.remove(last)
    extra = _shared(kept, max(width - _least(kept), 0))
    return tuple(field.least + extra[field] if field in extra else 0 for field in fields)


def _shared(kept: Sequence[Field], spare: int) -> dict[Field, int]:
    """Return what each field gets of the room that is left, none more than it fills."""
    extra = dict.fromkeys(kept, 0)
    growing = [field for field in kept if field.share]
    while growing and spare:
        shares = sum(field.share for field in growing)
        full = [
            field
            for field in growing
            if field.most and max(field.most - field.least, 0) <= spare * field.share // shares
        ]
        for field in full or growing:
            fills = max(field.most - field.least, 0)
            extra[field] = fills if full else spare * field.share // shares
        if not full:
            break
        spare -= sum(extra[field] for field in full)
        growing = [field for field in growing if field not in full]
    return extra


def _least(fields: Sequence[Field]) -> int:
    return sum(field.least + len(GAP) for field in fields) - len(GAP)
