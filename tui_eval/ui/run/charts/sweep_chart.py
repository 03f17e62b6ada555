"""What a sweep has measured, drawn over concurrency: throughput, latency, errors, and the knee."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from typing import Final

from tui_eval.format import figure, percent, seconds
from tui_eval.reports.sweep_report import SweepReport, knee_words
from tui_eval.statistics.load import LevelLoad
from tui_eval.ui.run.charts.plotting import LINE, Curve, Panel, Plot, aligned
from tui_eval.ui.run.charts.scales import scale
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece

_BETWEEN: Final = LINE
"""The marker of a line that leads from one level to the next; nothing was measured there."""
_APART: Final = 0.06
"""Of the width, what two labels below are apart at least."""
_MARGIN: Final = 0.03
"""Of the width, what is left beside the first and the last level."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One figure of all levels."""

    name: str
    value: Callable[[LevelLoad], float | None]
    marker: str
    tone: Tone


_RATE: Final = _Measured("calls answered a second", lambda of: of.calls_s, "o", "pass")
_P50: Final = _Measured("p50", lambda of: of.p50_s, "o", "accent")
_P95: Final = _Measured("p95", lambda of: of.p95_s, "x", "ungraded")
_ERRORS: Final = _Measured(
    "share of errors", lambda of: of.errors / of.calls if of.calls else None, "x", "fail"
)


def sweep_panels(of: SweepReport, parts: int) -> list[Panel]:
    """Return the drawings of a sweep with at least one measured level, throughput first.

    The scale below is that of ratios: from 1 to 10 calls in flight is as far as from 10 to 100.

    Args:
        of: The sweep.
        parts: How many columns there are to draw in.
    """
    drawn = (
        ((_RATE,), figure),
        ((_P50, _P95), seconds),
        ((_ERRORS,), percent),
    )
    return aligned([_panel(of, parts, measured, label) for measured, label in drawn])


def _panel(
    of: SweepReport,
    parts: int,
    measured: Sequence[_Measured],
    label: Callable[[float], str],
) -> Panel:
    places = _places([one.level for one in of.levels], parts)
    curves: list[Curve] = []
    legend: list[Piece] = []
    for one in measured:
        values = [one.value(load) for load in of.levels]
        curves.append(Curve(one.name, _line(places, values, parts), _BETWEEN, one.tone))
        curves.append(Curve(one.name, _points(places, values, parts), one.marker, one.tone))
        legend += [Piece(f"{one.marker} ", one.tone), Piece(f"{one.name}   ")]
    most = max((y for curve in curves for y in curve.ys if y is not None), default=0.0)
    top, labels = scale(most * 1.1, label)
    posts = [
        (place, f"knee {load.level}")
        for place, load in zip(places, of.levels, strict=True)
        if load.level == of.knee
    ]
    said = knee_words(of) or "no knee: every level had too many errors"
    words = [[Piece(said, "strong")], legend] if measured == (_RATE,) else [legend]
    return Panel(Plot(curves, _ticks(places, of.levels), top, labels, posts), words)


def _places(levels: Sequence[int], parts: int) -> list[float]:
    """Return where in 0..1 each level stands: in the middle of a part."""
    first, span = log(levels[0]), log(levels[-1]) - log(levels[0])
    if span <= 0:
        shares = [0.5] * len(levels)
    else:
        inside = 1 - 2 * _MARGIN
        shares = [_MARGIN + inside * (log(level) - first) / span for level in levels]
    return [(_part(share, parts) + 0.5) / parts for share in shares]


def _part(place: float, parts: int) -> int:
    return min(int(place * parts), parts - 1)


def _points(
    places: Sequence[float], values: Sequence[float | None], parts: int
) -> list[float | None]:
    ys: list[float | None] = [None] * parts
    for place, value in zip(places, values, strict=True):
        ys[_part(place, parts)] = value
    return ys


def _line(
    places: Sequence[float], values: Sequence[float | None], parts: int
) -> list[float | None]:
    """Return what lies on straight lines between the points that there are."""
    ys: list[float | None] = [None] * parts
    known = [
        (_part(place, parts), value)
        for place, value in zip(places, values, strict=True)
        if value is not None
    ]
    for (left, low), (right, high) in pairwise(known):
        for part in range(left + 1, right):
            ys[part] = low + (high - low) * (part - left) / (right - left)
    return ys


def _ticks(places: Sequence[float], levels: Sequence[LevelLoad]) -> list[tuple[float, str]]:
    """Return the labels below, without those that would stand on one another."""
    shown: list[tuple[float, str]] = []
    for place, load in zip(places, levels, strict=True):
        if not shown or place - shown[-1][0] >= _APART:
            shown.append((place, str(load.level)))
    return shown
