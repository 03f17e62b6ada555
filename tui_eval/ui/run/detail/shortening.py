"""Blocks of a page shortened so that the end of each has room in the view."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from tui_eval.format import many
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.text.prose import LABELS, Line, Para, block, lay_out, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.toned import fit

_LEAST = 2
"""Lines of the block that gives way, however little room there is."""


class PageRoom(NamedTuple):
    """What there is of a page."""

    width: int
    """Cells."""
    height: int
    """Lines in view."""


@dataclass(frozen=True, slots=True)
class Block:
    """A label and what it holds."""

    heading: str
    """Our own word."""
    paras: Sequence[Para]
    fold: int | None = None
    """The number of its fold; None: it is never shortened."""
    gives_way: bool = False
    """Whether it is shortened to what the others leave, and not to a share of the view."""
    comes_last: bool = False
    """Whether it has no more than its share of the view until all others have what they need."""


def blocks_in(
    blocks: Sequence[Block], room: PageRoom, folds: Folds, glyphs: Glyphs
) -> Iterator[Para]:
    """Yield blocks, those with a fold shortened where not all has room.

    A block keeps a fifth of the view at least, the one that gives way a third; a shortened one says
    how long it is.

    Args:
        blocks: In order.
        room: What there is of the page.
        folds: Which of them are shown whole.
        glyphs: The shapes.
    """
    width = max(room.width - LABELS, LABELS)
    kept = _lines_kept(blocks, PageRoom(width, room.height))
    for one, most in zip(blocks, kept, strict=True):
        if one.fold is None or most is None:
            yield from block(one.heading, one.paras)
        elif folds.is_open(one.fold):
            yield from block(one.heading, one.paras)
            yield from block("", [_fold_line(one, glyphs.opened, "folds it", width)])
        else:
            shown = list(_shortened(one, width, most, glyphs))
            hides = folds.hides(_text(shown), _text(one.paras))
            yield from block(one.heading, one.paras if hides else shown)


def _text(paras: Sequence[Para]) -> str:
    return "\n".join(para.text for para in paras)


def _lines_kept(blocks: Sequence[Block], room: PageRoom) -> list[int | None]:
    """Return how many lines each block keeps; None: all."""
    height = room.height
    lines = [len(_first_lines(one, room.width, height + 1)) for one in blocks]
    third, fifth = max(height // 3, _LEAST), max(height // 5, 1)
    taken = [
        min(n, third) if one.gives_way else min(n, fifth) if one.comes_last else n
        for one, n in zip(blocks, lines, strict=True)
    ]
    # the one that gives way comes late: what the others do not take is its
    turns = sorted((one.comes_last, one.gives_way, at) for at, one in enumerate(blocks))
    for _, _, at in turns:
        if blocks[at].fold is not None:
            spare = height - (sum(taken) - taken[at])
            taken[at] = min(lines[at], max(spare, third if blocks[at].gives_way else fifth))
    return [None if n == now else now for n, now in zip(lines, taken, strict=True)]


def _first_lines(one: Block, width: int, most: int) -> list[Line]:
    """Lay out as much of a block as so many lines take."""
    longest = (most + 2) * (width + 2)
    short = (
        replace(para, text=para.text[:longest]) if len(para.text) > longest else para
        for para in one.paras
    )
    return list(islice(lay_out(short, width), most))


def _shortened(one: Block, width: int, most: int, glyphs: Glyphs) -> Iterator[Para]:
    """Yield the first lines of a block; the last of them says how long it is."""
    lines = _first_lines(one, width, most)
    last = _fold_line(one, glyphs.arrow, "shows all", width)
    if most > 1:
        for line in lines[:-1]:
            yield Para(line.text, line.tone, marks=line.marks)
        yield last
        return
    (line,) = lines
    begins = fit(line.text, width - len(last.text) - 1, ellipsis=glyphs.cut)
    yield marked((begins, line.tone), (f" {last.text}", "dim"), action=last.action)


def _fold_line(one: Block, sign: str, does: str, width: int) -> Para:
    """Return the line that says how long a block is, and the key where there is room for it."""
    length = f"{sign} {many(sum(len(para.text) for para in one.paras), 'character')}"
    words = f"{length}; {key('run.unfold', 'x')} {does}"
    shown = words if len(words) <= width else length
    return marked((sign, "accent"), (shown[len(sign) :], "dim"), action=f"turn_fold({one.fold})")
