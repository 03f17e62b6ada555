"""The table of what two sides differ by: a line for each pair of columns, then the groups."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.format import number, points, points_interval, rate
from tui_eval.reports.comparison.comparison import ComparisonRow, RunComparison
from tui_eval.reports.rates.run_rates import SMALL_GROUP
from tui_eval.reports.terminal.comparison_text import (
    group_rate,
    p_value,
    row_name,
)
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import width_of

_TONES: dict[str, Tone] = {
    "better": "pass",
    "worse": "fail",
    "equivalent": "accent",
    "unclear": "ungraded",
}
_INDENT = "  "
_KEPT_OF_NAME = 5
"""Cells at the end of a name that stay where it is cut."""
_LEAST_NAME, _LONG_NAME = 8, 24
"""Cells of a name, and those for which figures make room from so many cells on:"""
_WIDE = 96


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of the table."""

    name: str
    """May be foreign."""
    row: ComparisonRow
    index: int
    """Which pair of columns it is of, from 0."""
    group: str | None = None
    """None: it is of all their cases."""
    title: bool = False
    """Whether it says what the groups below it are of, and has no figures."""


def table_lines(of: RunComparison, index: int) -> list[TableLine]:
    """Return the lines of a comparison: its rows, then the groups of one of them.

    Args:
        of: The comparison.
        index: Which row's groups, from 0.
    """
    lines = [TableLine(row_name(row), row, at) for at, row in enumerate(of.rows)]
    own = of.rows[index]
    names = own.columns.a, own.columns.b
    groups = [
        TableLine(f"{_INDENT}{group}", row, index, group)
        for group, rows in of.groups.items()
        for row in rows
        if (row.columns.a, row.columns.b) == names
    ]
    if len(lines) > 1 and groups:  # else it is plain whose they are
        lines.append(TableLine(f"of {row_name(own)}", own, index, title=True))
    return [*lines, *groups]


class ComparisonTable(Rows):
    """Shows what the pairs of columns, and the groups of their cases, differ by."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(_fields([], _LEAST_NAME, 0), glyphs=glyphs, empty="reading…", id="rows")
        self.lines: Sequence[TableLine] = ()
        self._judged = (False, False)

    def list_lines(
        self, lines: Sequence[TableLine], cursor: int, judged: tuple[bool, bool]
    ) -> None:
        """Show these lines.

        Args:
            lines: The lines.
            cursor: The one that is selected.
            judged: Of either side whether its verdicts rest on judges.
        """
        self.lines = lines
        self._judged = judged
        self._suit_width()
        self.place(len(lines), cursor)

    def on_resize(self) -> None:
        """Give names room where there is any."""
        self._suit_width()

    def _suit_width(self) -> None:
        longest = max((width_of(line.name) for line in self.lines), default=0)
        wide = _LEAST_NAME if self.size.width < _WIDE else min(longest, _LONG_NAME)
        self.set_fields(_fields([line.row for line in self.lines], max(wide, _LEAST_NAME), longest))

    @property
    def selected(self) -> TableLine | None:
        """The line under the cursor; None: there is none."""
        return self.lines[self.cursor] if self.lines else None

    def row(self, index: int) -> DrawnRow | None:
        """Return a line."""
        line = self.lines[index]
        if line.title:
            return DrawnRow((Cell(line.name, "accent"), *[Cell("")] * (len(self.fields) - 1)))
        row, known, few = line.row, line.row.difference, _few(line)
        rates = [
            rate(share, judged) if line.group is None else group_rate(share, row)
            for share, judged in zip((row.rate_a, row.rate_b), self._judged, strict=True)
        ]
        said = known is not None and not few
        tone: Tone = "plain" if line.group is None else "dim"
        return DrawnRow(
            (
                Cell(line.name, "strong" if line.group is None else "plain"),
                Cell(number(row.n), "dim"),
                *(Cell(rate, tone) for rate in rates),
                Cell(points(known.diff) if known is not None and said else "", "strong"),
                Cell(points_interval(known.interval95) if known is not None and said else "", tone),
                Cell(p_value(row.p_holm), tone),
                Cell(number(row.pairs.worse) if row.pairs.worse else "", "fail"),
                Cell(number(row.pairs.better) if row.pairs.better else "", "pass"),
                Cell(f"{self._sign(row.word)} {row.word}", _TONES[row.word]),
            )
        )

    def _sign(self, word: str) -> str:
        glyphs = self._glyphs
        signs = {"better": glyphs.rising, "worse": glyphs.falling, "equivalent": "="}
        return signs.get(word, glyphs.ungraded)


def _few(line: TableLine) -> bool:
    """Whether a group has too few cases for a rate."""
    return line.group is not None and line.row.n < SMALL_GROUP


def _fields(rows: Sequence[ComparisonRow], name: int, longest: int) -> list[Field]:
    def widest(title: str, *counts: int) -> int:
        return max([len(title), *(width_of(number(count)) for count in counts)])

    return [
        Field("target", name, share=1, most=longest, keep=_KEPT_OF_NAME),
        Field("pairs", widest("pairs", *(row.n for row in rows)), right=True, drop=2),
        Field("A", 6, right=True),
        Field("B", 6, right=True),
        Field("B - A", 6, right=True),
        Field("95%", 14, right=True, drop=1),
        Field("p", 7, right=True),
        Field("worse", widest("worse", *(row.pairs.worse for row in rows)), right=True, drop=3),
        Field("better", widest("better", *(row.pairs.better for row in rows)), right=True, drop=4),
        Field("B is", 12),
    ]
