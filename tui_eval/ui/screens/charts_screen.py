"""Charts of a run: over time, of latencies and of scores; live while it goes on."""

import asyncio
import time
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.format import decimal, interval, number, rate
from tui_eval.resources import styles_dir
from tui_eval.store.read import run_queries
from tui_eval.store.read.charts.distributions import SCORE_PARTS, Spread
from tui_eval.store.rows import RunRow
from tui_eval.ui.context import AppContext
from tui_eval.ui.run.charts.chart_data import (
    CHARTS,
    SWEEP_CHARTS,
    Chart,
    Drawing,
    RateBars,
    Spreads,
)
from tui_eval.ui.run.charts.plotting import FILL, LINE, Panel, drawn
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.store_access.read_pace import rest
from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.glyphs import ASCII, Glyphs
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rate_bar import rate_bar
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece

_READ_S = 1.0
_READ_SHARE = 10
"""A chart that takes a second to count is counted every ten."""
_AROUND = 3
"""Lines of the screen that are no chart: title, names of the charts, keys."""
_SCALE = 9
"""Columns that the scale at the left takes, about."""
_LEAST_PLOT = 6
"""Lines of a panel below which another is left out."""
_NAME = 12
"""Columns that a group's name has at least."""
_RATE_NUMBERS = 34
"""Columns of a rate's figures, and the margins."""
_LEAST_BAR, _MOST_BAR = 12, 60
_NUMBERS = 24
"""Columns that what stands between its name and its bars takes, and the margins."""


class ChartsScreen(BaseScreen):
    """Shows one chart at a time."""

    CSS_PATH = styles_dir() / "charts_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "right_square_bracket,right",
            "turn(1)",
            "next chart",
            id="charts.next",
            tooltip="The next chart",
        ),
        Binding(
            "left_square_bracket,left",
            "turn(-1)",
            "chart before",
            id="charts.before",
            tooltip="The chart before",
        ),
        Binding("v", "leave", "back to the run", id="charts.close", tooltip="Back to the run"),
    ]

    def __init__(self, context: AppContext, run: RunRow) -> None:
        super().__init__(context)
        self.run_id = run.id
        self._charts = SWEEP_CHARTS if run.is_sweep else CHARTS
        self.chart: Chart | None = None
        """As last counted; None: not yet."""
        self._chosen = next(iter(self._charts))
        self._wanted = asyncio.Event()
        self._wanted.set()
        self._head = Bar(id="title", classes="title")
        self._tabs = Bar(id="tabs")
        self._said = Lines(id="said")
        self._plot = Lines(id="plot")
        self.spreads = _SpreadTable(context.glyphs)
        self.rates = _RateTable(context.glyphs)

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._head
        yield self._tabs
        yield self._said
        yield self._plot
        yield self.spreads
        yield self.rates
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin to count."""
        self._show()
        self.on_pulse(self._wanted.set)
        self._keep_counting()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self._wanted.set()

    def on_resize(self) -> None:
        """Count as many parts as there is room for."""
        self._show()
        self._wanted.set()

    @work
    async def _keep_counting(self) -> None:
        while True:
            await self._wanted.wait()
            self._wanted.clear()
            began, name = time.monotonic(), self._chosen
            parts = max(self.size.width - _SCALE, 10)
            run = await self.context.client.read(run_queries.run, self.run_id)
            found = await self.context.client.ponder(self._charts[name], self.run_id, parts)
            state = f"{self.context.glyphs.run(run.state, run.live)} {run.state} "
            self._head.show(
                [Piece("  Charts  ", "strong"), Piece(run.name, "dim")], [Piece(state, "accent")]
            )
            if name != self._chosen:
                self._wanted.set()
                continue
            self.chart = found
            self._show()
            if run.live:  # calls in flight get older without anything being written
                self.set_timer(_READ_S, self._wanted.set)
            took = time.monotonic() - began
            await asyncio.sleep(rest(_READ_S / 4, took, _READ_SHARE) if run.live else 0)

    # -- showing

    def _show(self) -> None:
        width, chart = self.size.width, self.chart
        self._tabs.show(self._names())
        self.spreads.display = isinstance(chart, Spreads)
        self.rates.display = isinstance(chart, RateBars)
        self._plot.display = isinstance(chart, Drawing)
        if isinstance(chart, Drawing):
            self._said.show(self._words(chart.panels[0], "  "))
            self._plot.show(self._panels(chart.panels, width - 2, self.size.height - _AROUND))
        elif isinstance(chart, Spreads):
            self._said.show([[Piece(f"  how scores are spread, by {chart.noun}", "strong")]])
            self.spreads.list_groups(chart, width)
        elif isinstance(chart, RateBars):
            self._said.show([[Piece(f"  pass rates, by {chart.noun}", "strong")]])
            self.rates.list_groups(chart, width)
        else:
            why = "counting…" if chart is None else chart
            folded = fold([Para(why, "dim")], max(width - 4, 20))
            self._said.show([[]] + [[Piece(f"  {text}", tone)] for text, tone in folded])

    def _words(self, panel: Panel, left: str) -> list[list[Piece]]:
        return [
            [Piece(left), *(_as_shown(piece, self.context.glyphs) for piece in line)]
            for line in panel.words
        ]

    def _panels(self, panels: Sequence[Panel], width: int, height: int) -> list[list[Piece]]:
        """Draw as many panels as there is room for, each as high as the others."""
        around = len(panels[0].words) + 1
        shown = panels[: max(height // (_LEAST_PLOT + around), 1)]
        left_out = len(panels) - len(shown)
        each = (height - bool(left_out)) // len(shown) - around
        lines: list[list[Piece]] = []
        for at, panel in enumerate(shown):
            if at:
                lines += [*self._words(panel, " "), []]  # the plot stands a column in
            lines += drawn(panel.plot, width, each, ascii_only=self.context.glyphs is ASCII)
        if left_out:
            lines.append([Piece(f"  {left_out} more in a higher terminal", "dim")])
        return lines

    def _names(self) -> list[Piece]:
        """Return the names of the charts; where there is no room for all, the one that is shown."""
        names = list(self._charts)
        room = sum(len(name) + 3 for name in names) + 2 <= self.size.width
        pieces = [Piece("  ")]
        for at, name in enumerate(names):
            chosen = name == self._chosen
            if not (chosen or room):
                continue
            action = f"screen.choose({at})"
            pieces.append(
                Piece(f"({name})" if chosen else f" {name} ", "accent" if chosen else "dim", action)
            )
            pieces.append(Piece(" "))
        if not room:
            at = names.index(self._chosen) + 1
            pieces.append(Piece(f" {at} of {len(names)}", "dim"))
        return pieces

    def action_choose(self, at: int) -> None:
        """Show the chart that was clicked."""
        self._chosen = list(self._charts)[at]
        self.chart = None
        self._wanted.set()
        self._show()
        shown = next((one for one in (self.spreads, self.rates) if one.display), None)
        if shown is not None:
            shown.focus()

    def action_turn(self, by: int) -> None:
        """Show the next chart, or with -1 the one before."""
        names = list(self._charts)
        self.action_choose((names.index(self._chosen) + by) % len(names))


def _as_shown(piece: Piece, glyphs: Glyphs) -> Piece:
    if glyphs is not ASCII:
        return piece
    return piece._replace(text=piece.text.replace(FILL, "#").replace(LINE, "*"))


class _SpreadTable(Rows):
    """Groups of trials with the spread of their scores."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__((), glyphs=glyphs)
        self._groups: list[Spread] = []
        self._bar = 2
        """Cells of each bar."""

    def list_groups(self, chart: Spreads, width: int) -> None:
        """Show these groups on a screen so wide: the spread beside the name, not far from it."""
        self._groups = list(chart.groups)
        names = max(cell_len(one.name) for one in self._groups)
        self._bar = min(max((width - _NUMBERS - min(names, _NAME)) // SCORE_PARTS, 2), 6)
        least = SCORE_PARTS * self._bar
        self.set_fields(
            [
                Field(chart.noun, max(min(names, width - _NUMBERS - least), _NAME)),
                Field("n", 7, right=True),
                Field("mean", 5, right=True),
                Field("0" + "score".center(least - 2) + "1", least),
            ]
        )
        self.place(len(self._groups), min(self.cursor, max(len(self._groups) - 1, 0)))
        self.redraw()

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a group."""
        one = self._groups[index]
        return DrawnRow(
            (
                Cell(one.name),
                Cell(number(one.n), "dim"),
                Cell(decimal(one.mean)),
                Cell(_bars(one.counts, self._glyphs.levels, self._bar), "accent"),
            )
        )


class _RateTable(Rows):
    """Groups of trials with their pass rates, a bar each."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__((), glyphs=glyphs)
        self._chart = RateBars((), "", judged=False)
        self._bar = _LEAST_BAR

    def list_groups(self, chart: RateBars, width: int) -> None:
        """Show these groups on a screen so wide."""
        self._chart = chart
        names = max((cell_len(name) for name, _ in chart.groups), default=_NAME)
        self._bar = min(max(width - names - _RATE_NUMBERS, _LEAST_BAR), _MOST_BAR)
        self.set_fields(
            [
                Field(chart.noun, max(min(names, width - self._bar - _RATE_NUMBERS), _NAME)),
                Field("n", 7, right=True),
                Field("pass", 7, right=True),
                Field("95%", 10, right=True),
                Field("0" + "pass rate".center(self._bar - 2) + "1", self._bar),
            ]
        )
        groups = len(chart.groups)
        self.place(groups, min(self.cursor, max(groups - 1, 0)))
        self.redraw()

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a group; one of few cases has no rate, see `Rates.small`."""
        name, of = self._chart.groups[index]
        share = None if of.small else of.pass_rate
        within = "" if of.interval is None or of.small else interval(of.interval)
        bar = "".join(piece.text for piece in rate_bar(share, self._bar, self._glyphs))
        return DrawnRow(
            (
                Cell(name),
                Cell(number(of.n), "dim"),
                Cell(f"{of.passed} of {of.n}" if of.small else rate(share, self._chart.judged)),
                Cell("so far" if of.open else within, "dim"),
                Cell(bar, "pass"),
            )
        )


def _bars(counts: list[int], levels: str, wide: int) -> str:
    """Draw a bar for each part, so many cells wide; a part with any trial at all is seen."""
    most = max(counts)
    top = len(levels) - 1
    return "".join((levels[round(n / most * top)] if n else " ") * wide for n in counts)
