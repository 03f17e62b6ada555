"""Curves as text, drawn by plotext; it is loaded with the first of them.

Its colours are taken for what they stand for, a tone each, so that the theme decides what they
look like.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import Any, Final

from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece

_TONES: Final[tuple[Tone, ...]] = ("plain", "accent", "pass", "fail", "ungraded", "dim", "strong")
_COLOUR: Final = re.compile(r"\x1b\[([0-9;]*)m")
_LEAST: Final = (24, 5)
"""Columns and lines below which nothing is drawn."""
_PLAIN: Final = str.maketrans("┤│└┬┴─├┼", "||++++|+")
"""Axes for a terminal without Unicode; a line of `-` would look like data."""
_FAR_RIGHT: Final = 0.85
FILL: Final = "█"
"""The marker of a curve that is filled down to the axis."""
LINE: Final = "⠤"
"""The marker of a curve that is a line."""
_SYMBOLS: Final = {FILL: ("hd", "#"), LINE: ("braille", "*")}
"""What these two are drawn with; in a terminal without Unicode."""
_BELOW: Final = 2
"""Lines below the plot: the axis and its labels."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a plot."""

    name: str
    """In the legend; may be foreign."""
    ys: Sequence[float | None]
    """One a part; None: a gap."""
    marker: str
    """The letter it is drawn with, so that colour is not all that tells it from others; or `FILL`,
    or `LINE`."""
    tone: Tone


@dataclass(frozen=True, slots=True)
class Plot:
    """What is drawn: curves over parts of equal width."""

    curves: Sequence[Curve]
    x_labels: Sequence[tuple[float, str]]
    """Where in 0..1 a label stands below, and what it says."""
    y_most: float
    y_labels: Sequence[tuple[float, str]]
    """Values that have a label at the left, and what it says."""
    posts: Sequence[tuple[float, str]] = ()
    """Lines from the bottom to the top, by their place in 0..1, with what they say."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A plot with its words."""

    plot: Plot
    words: Sequence[Sequence[Piece]]
    """Lines that stand above it: what is drawn how, and what there is to know."""


def aligned(panels: Sequence[Panel]) -> list[Panel]:
    """Make all labels at the left equally wide, so that one place is one column in all panels."""
    wide = max(len(label) for panel in panels for _, label in panel.plot.y_labels)

    def padded(plot: Plot) -> Plot:
        return replace(plot, y_labels=[(y, label.rjust(wide)) for y, label in plot.y_labels])

    return [replace(panel, plot=padded(panel.plot)) for panel in panels]


def drawn(plot: Plot, width: int, height: int, *, ascii_only: bool) -> list[list[Piece]]:
    """Draw a plot so many columns wide and lines high; nothing where there is no room.

    Lines that are left over, so that labels at the left stand equally far apart, are blank below.
    """
    if width < _LEAST[0] or height < _LEAST[1]:
        return []
    from plotext import figure, marker, terminal

    terminal.limit(width=False, height=False)  # ours may be another than that of this process
    figure.clear()
    figure.theme("colorless")
    figure.canvas("default")
    left_over = (height - _BELOW - 1) % max(len(plot.y_labels) - 1, 1)
    figure.plot_size(width, height - left_over)
    figure.axes(active=False, side=1)
    figure.axes(active=True, side=0, pixel=(_TONES.index("dim"), None, None))
    parts = max(len(curve.ys) for curve in plot.curves)
    for curve in plot.curves:
        filled = curve.marker == FILL
        # two points a column fill it, and nothing is drawn where there is nothing
        each = max(ceil(2 * width / parts), 2) if filled else 1
        places = [(place + 0.5) / each for place in range(each)]
        points = [
            (at + place, y)
            for at, y in enumerate(curve.ys)
            if y is not None and (y or not filled)
            for place in places
        ]
        if not points:
            continue
        xs, ys = [x for x, _ in points], [y for _, y in points]
        colour = (_TONES.index(curve.tone), None, None)
        symbol = _SYMBOLS[curve.marker][ascii_only] if curve.marker in _SYMBOLS else curve.marker
        signal = figure.signal(xs, ys, marker=marker(symbol, colour))
        if filled:
            signal.fillx(True)
        if curve.marker == LINE:
            signal.lines(True)
            for at, (before, after) in enumerate(pairwise(xs), start=1):
                signal.line(at, after - before <= 1)  # none over a gap
        figure.draw(signal)
    for place, words in plot.posts:
        figure.line(
            place * parts,
            orientation="vertical",
            pixel=(_TONES.index("strong"), None, None),
        )
        before = place > _FAR_RIGHT  # beyond it there is no room for words
        said, side = (f"{words} ", "right") if before else (f" {words}", "left")
        text = figure.text(place * parts, plot.y_most, said, alignment=side)
        figure.draw(text)
    _set_rulers(figure, plot, parts)
    lines = [_pieces(line, ascii_only) for line in str(figure.build()).splitlines() if line]
    return lines + [[] for _ in range(left_over)]


def _set_rulers(figure: Any, plot: Plot, parts: int) -> None:  # noqa: ANN401 - it is untyped
    figure.ruler("y").lim(0, plot.y_most)
    figure.ruler("y").ticks([y for y, _ in plot.y_labels], [label for _, label in plot.y_labels])
    figure.ruler("x").lim(0, parts)
    figure.ruler("x").ticks(
        [place * parts for place, _ in plot.x_labels], [label for _, label in plot.x_labels]
    )


def _pieces(line: str, ascii_only: bool) -> list[Piece]:
    pieces: list[Piece] = []
    tone: Tone = "plain"
    at = 0
    for match in _COLOUR.finditer(line):
        if match.start() > at:
            pieces.append(Piece(_plain(line[at : match.start()], ascii_only), tone))
        at = match.end()
        codes = match[1].split(";")
        if codes[:2] == ["38", "5"] and codes[2].isdecimal():
            place = int(codes[2])
            tone = _TONES[place] if place < len(_TONES) else "plain"
        elif codes[0] in ("", "0"):
            tone = "plain"
    if at < len(line):
        pieces.append(Piece(_plain(line[at:], ascii_only), tone))
    return pieces


def _plain(text: str, ascii_only: bool) -> str:
    return text.translate(_PLAIN) if ascii_only else text
