"""Text of several lines on its way to a page: made visible, cut, folded to a width."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from rich.cells import cell_len, chop_cells, set_cell_size

from tui_eval.model.visible import visible, visible_line
from tui_eval.ui.theme.tones import Tone

LONGEST = 200_000
"""Characters of a page that are shown; a line says how many there are where that is not all."""
_TAB = 4
_HANG = 2
_LEAST_WIDTH = 8
LABELS = 10
"""Cells of the column of labels: of the longest, and a space."""
_WORDS = re.compile(r" +|[^ ]+")


GLUE = "\u00a0"
"""A space at which no line is folded: what stands around it is read together."""
_STYLES = {0xFE0E: None, 0xFE0F: None}


def steady(shown: str) -> str:
    """Leave out what makes an emoji wide or narrow: terminals disagree about it, rows would move.

    Args:
        shown: Text that has been made visible.
    """
    return shown if shown.isascii() else shown.translate(_STYLES)


def drawn(text: str) -> str:
    """Return foreign text as a page draws it: visible, steady, tabs as spaces; idempotent.

    Marks are places in such a text.
    """
    return steady(visible(text)).expandtabs(_TAB)


class TonedSpan(NamedTuple):
    """A stretch of a text that has a tone of its own."""

    start: int
    end: int
    tone: Tone


@dataclass(frozen=True, slots=True)
class Para:
    """A stretch of text in one tone; may be foreign, may hold line breaks."""

    text: str
    tone: Tone = "plain"
    indent: int = 0
    """Cells before each of its lines."""
    label: str = ""
    """Our own words before its first line; the further lines stand below the text."""
    label_tone: Tone | None = None
    """The label's own tone; None: that of the text."""
    marks: tuple[TonedSpan, ...] = ()
    """Stretches with another tone, in order; only of a text that is `drawn` already."""
    action: str | None = None
    """What a click on it does; only ever an action of our own."""
    hangs: bool = False
    """Whether what is folded of a line stands further in than the line does, as in code."""
    heading: str = ""
    """Our own word in the column of labels, beside its first line."""
    column: int = 0
    """Cells of that column; 0: the text begins at the left edge."""


def block(heading: str, paras: Iterable[Para], column: int = LABELS) -> Iterator[Para]:
    """Yield paragraphs as a block: its label in one column, what it holds in the next.

    Args:
        heading: The label; our own word.
        paras: What the block holds.
        column: Cells of the column of labels.
    """
    for para in paras:
        yield replace(para, heading=heading, column=column)
        heading = ""


def marked(
    *pieces: tuple[str, Tone], indent: int = 0, label: str = "", action: str | None = None
) -> Para:
    """Make a paragraph of stretches in their own tones, each on one line.

    Args:
        pieces: The stretches; may be foreign.
        indent: Cells before each line.
        label: Our own words before the first.
        action: What a click does; one of our own.
    """
    texts, marks, at = [], [], 0
    for text, tone in pieces:
        shown = steady(visible_line(text))
        if tone != "plain" and shown:
            marks.append(TonedSpan(at, at + len(shown), tone))
        texts.append(shown)
        at += len(shown)
    return Para("".join(texts), indent=indent, label=label, marks=tuple(marks), action=action)


class Line(NamedTuple):
    """One line of a page, safe to draw."""

    text: str
    tone: Tone
    marks: tuple[TonedSpan, ...] = ()
    para: int = 0
    """Which paragraph it is of, from 0."""


def fold(paras: Iterable[Para], width: int) -> Iterator[tuple[str, Tone]]:
    """Return lines of at most `width` cells, safe to draw, each in one tone.

    Args:
        paras: What to show, in order.
        width: Cells there are; very few are taken for a few more.
    """
    return ((line.text, line.tone) for line in lay_out(paras, width))


def lay_out(
    paras: Iterable[Para], width: int, *, most: int = LONGEST, more: str = ""
) -> Iterator[Line]:
    """Yield lines of at most `width` cells, safe to draw.

    Args:
        paras: What to show, in order.
        width: Cells there are; very few are taken for a few more.
        most: Characters to show; where that is not all a line says so.
        more: What that line says of seeing the rest.
    """
    width = max(width, _LEAST_WIDTH)
    room = most
    for at, para in enumerate(paras):
        if room <= 0:
            yield Line(
                f"… truncated here: there is more than a page can show{more}", "dim", para=at
            )
            return
        shown = para.text[:room]
        room -= len(shown)
        inset = " " * min(para.indent, width // 2)
        lead = para.heading.ljust(para.column) + inset
        headed = _headed(para, len(lead))
        first = f"{lead}{para.label} " if para.label else lead
        if cell_len(first) > width - _LEAST_WIDTH // 2:
            # no room beside the label: it gets a line of its own
            yield Line(set_cell_size(first, min(cell_len(first), width)), "dim", para=at)
            first, headed = inset, ()
        rest = " " * cell_len(first)
        safe = drawn(shown)
        marks = para.marks if safe == shown else ()
        start = 0
        for line in safe.split("\n"):
            there = width - cell_len(first)
            further = _further(line, there) if para.hangs else 0
            before = first
            for begin, end in _folds(line, there, there - further):
                within = _between(marks, start + begin, start + end, len(before))
                folded = line[begin:end].replace(GLUE, " ")
                yield Line(before + folded, para.tone, (*headed, *within), at)
                headed = ()
                first, before = rest, rest + " " * further
            start += len(line) + 1
        if len(shown) < len(para.text):
            words = f"{rest}… truncated here: {len(para.text):,} characters in all{more}"
            yield Line(words, "dim", para=at)


def _headed(para: Para, lead: int) -> tuple[TonedSpan, ...]:
    """Return the tones of a paragraph's heading and label, as places in its first line."""
    heading = (TonedSpan(0, len(para.heading), "dim"),) if para.heading else ()
    if not para.label or para.label_tone is None:
        return heading
    return (*heading, TonedSpan(lead, lead + len(para.label), para.label_tone))


def _further(line: str, width: int) -> int:
    """Return how far in what is folded of a line stands: a step more than the line itself."""
    return min(len(line) - len(line.lstrip(" ")) + _HANG, width // 2)


def _between(
    marks: tuple[TonedSpan, ...], start: int, end: int, lead: int
) -> tuple[TonedSpan, ...]:
    """Return the marks of a stretch of a text, as places in a line that begins with a lead."""
    if not marks or start == end:
        return ()
    found = []
    first = max(bisect_right(marks, start, key=lambda mark: mark.start) - 1, 0)
    for mark in marks[first:]:
        if mark.start >= end:
            break
        if mark.end > start:
            begins, ends = max(mark.start, start) - start, min(mark.end, end) - start
            found.append(TonedSpan(begins + lead, ends + lead, mark.tone))
    return tuple(found)


def _folds(line: str, width: int, later: int) -> Iterator[tuple[int, int]]:
    """Fold a line at spaces where there are any; yield where each part of it begins and ends.

    Args:
        line: The line.
        width: Cells for its first part.
        later: Cells for every further one.
    """
    if not line.isascii():
        yield from _wide_folds(line, width, later)
        return
    start = 0
    while len(line) - start > width:
        end = line.rfind(" ", start, start + width + 1)
        if end <= start:
            end = start + width
            yield start, end
            start = end
        else:
            yield start, end
            start = end + 1
        width = later
    yield start, len(line)


def _wide_folds(line: str, width: int, later: int) -> Iterator[tuple[int, int]]:
    """Fold a line whose characters are not all one cell wide."""
    start = at = cells = 0
    for word in _WORDS.findall(line):
        before, at = at, at + len(word)
        size = cell_len(word)
        if cells + size <= width:
            cells += size
            continue
        row = line[start:before].rstrip(" ")
        if row:
            yield start, start + len(row)
            width = later
        start, cells = before, 0
        if word[0] == " ":  # a space at a fold is the fold
            start = at
            continue
        if size > width:
            first, *_ = chop_cells(word, width)
            yield start, start + len(first)
            start, width = start + len(first), later
            *whole, word = chop_cells(word[len(first) :], width) or [""]
            for part in whole:
                yield start, start + len(part)
                start += len(part)
        cells = cell_len(word)
    yield start, len(line)
