"""Text of several lines on its way to a page: made visible, cut, folded to a width."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells, set_cell_size

from tui_eval.model.visible import visible
from tui_eval.ui.tones import Tone

LONGEST = 200_000
"""Characters of a page that are shown; a line says how many there are where that is not all."""
_TAB = 4
_LEAST_WIDTH = 8
_WORDS = re.compile(r" +|[^ ]+")


_STYLES = {0xFE0E: None, 0xFE0F: None}


def steady(shown: str) -> str:
    """Leave out what makes an emoji wide or narrow: terminals disagree about it, rows would move.

    Args:
        shown: Text that has been made visible.
    """
    return shown if shown.isascii() else shown.translate(_STYLES)


@dataclass(frozen=True, slots=True)
class Para:
    """A stretch of text in one tone; may be foreign, may hold line breaks."""

    text: str
    tone: Tone = "plain"
    indent: int = 0
    """Cells before each of its lines."""
    label: str = ""
    """Our own words before its first line; the further lines stand below the text."""


def fold(paras: Iterable[Para], width: int) -> Iterator[tuple[str, Tone]]:
    """Give lines of at most `width` cells, safe to draw.

    Args:
        paras: What to show, in order.
        width: Cells there are; very few are taken for a few more.
    """
    width = max(width, _LEAST_WIDTH)
    room = LONGEST
    for para in paras:
        if room <= 0:
            yield "… cut here: there is more than a page can show", "dim"
            return
        shown = para.text[:room]
        room -= len(shown)
        lead = " " * min(para.indent, width // 2)
        first = f"{lead}{para.label} " if para.label else lead
        if cell_len(first) > width - _LEAST_WIDTH // 2:
            # no room beside the label: it gets a line of its own
            yield set_cell_size(first, min(cell_len(first), width)), "dim"
            first = lead
        rest = " " * cell_len(first)
        for line in _lines(shown):
            for piece in _fold_line(line, width - cell_len(first)):
                yield first + piece, para.tone
                first = rest
        if len(shown) < len(para.text):
            yield f"{rest}… cut here: {len(para.text):,} characters in all", "dim"


def _lines(text: str) -> list[str]:
    return steady(visible(text)).expandtabs(_TAB).split("\n")


def _fold_line(line: str, width: int) -> Iterator[str]:
    if not line.isascii():
        yield from _fold_wide(line, width)
        return
    start = 0
    while len(line) - start > width:
        end = line.rfind(" ", start, start + width + 1)
        if end <= start:
            end = start + width
            yield line[start:end]
            start = end
        else:
            yield line[start:end]
            start = end + 1
    yield line[start:]


def _fold_wide(line: str, width: int) -> Iterator[str]:
    """Fold text whose characters are not all one cell wide, at spaces where there are any."""
    row, cells = "", 0
    for word in _WORDS.findall(line):
        size = cell_len(word)
        if cells + size <= width:
            row, cells = row + word, cells + size
            continue
        if row.strip():
            yield row.rstrip(" ")
        row, cells = "", 0
        if word[0] == " ":  # a space at a fold is the fold
            continue
        *whole, word = chop_cells(word, width) or [""]
        yield from whole
        row, cells = word, cell_len(word)
    yield row
