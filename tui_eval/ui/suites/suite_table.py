"""The list of suites."""

from tui_eval.format import many, number, rates
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.suites.trend import MOST, Trend
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Rows

_FIELDS = (
    Field("suite", 16, share=1),
    Field("cases", 6, right=True, drop=3),
    Field("targets", 7, right=True, drop=5),
    Field("last", 11, right=True, drop=2),
    Field("trend", MOST, drop=4),
    Field("", 11),
)
"""The same whatever is known of the suites, so that nothing moves as it comes."""


class SuiteTable(Rows):
    """The list of suites."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(_FIELDS, glyphs=glyphs, empty="looking for suites…", id="suites")
        self.entries: list[SuiteEntry] = []
        self.cases: dict[str, int] = {}
        """How many cases a suite has, by its path, where the preview counted them."""
        self.trends: dict[str, Trend] = {}
        """The last full runs of each suite, by the suite's name."""

    def list_entries(self, entries: list[SuiteEntry], cursor: int) -> None:
        """Show these suites."""
        self.entries = entries
        self.place(len(entries), cursor)

    def show_trends(self, trends: dict[str, Trend]) -> None:
        """Show other rates."""
        if trends != self.trends:
            self.trends = trends
            self.redraw()

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a suite."""
        entry = self.entries[index]
        suite = entry.suite
        cases = self.cases.get(str(entry.path), entry.cases)
        trend = self.trends.get(entry.name)
        cells = {
            "suite": Cell(entry.name, "plain" if entry.usable else "dim"),
            "cases": Cell(number(cases) if cases is not None else "", "dim"),
            "targets": Cell(number(len(suite.targets)) if suite is not None else "", "dim"),
            "last": Cell(rates(trend.shares, trend.judged) if trend is not None else ""),
            "trend": Cell(_spark(trend, self._glyphs), "accent"),
            "": _note(entry),
        }
        return DrawnRow(tuple(cells[field.title] for field in self.fields))


def _spark(trend: Trend | None, glyphs: Glyphs) -> str:
    if trend is None or len(trend.before) < 2:
        return ""
    top = len(glyphs.levels) - 1
    return "".join(glyphs.levels[round(share * top)] for share in trend.before)


def _note(entry: SuiteEntry) -> Cell:
    if entry.wants_trust:
        return Cell("needs trust", "ungraded")
    if entry.mistakes:
        return Cell(many(len(entry.mistakes), "mistake"), "error")
    if entry.unready:
        return Cell("not ready", "ungraded")
    return Cell("sample" if entry.sample else "", "dim")
