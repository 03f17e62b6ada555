"""The groups with how many trials each has, and the pass rates of tags and targets."""

from collections.abc import Sequence

from tui_eval.format import number, percent
from tui_eval.store.search.groups import Grouping
from tui_eval.store.search.views import Condition, FilterKind
from tui_eval.ui.run.groups.group_rates import GroupRates
from tui_eval.ui.run.list.filters import part_words
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Cell, DrawnRow, Rows

_BAR = 16
_COUNTS = 3
"""Columns before those of rates."""
_RATE = 18
"""Cells of a rate with its interval: `~72.1%  66.1–77.4`."""
_MOST_RATES = 4
"""Targets whose rates are shown beside a tag."""
_PLAIN = (FilterKind.SCORER, FilterKind.TAG, FilterKind.TARGET)
"""Groups whose value says all, below the words of their grouping."""
RATED = (Grouping.TAG, Grouping.TARGET)
"""Groups that have a pass rate."""


class GroupRows(Rows):
    """The groups of one grouping."""

    def __init__(self, glyphs: Glyphs, columns: Sequence[str], most: int) -> None:
        """Make the rows; they have the columns of a grouping before anything is counted.

        Args:
            glyphs: The shapes.
            columns: The names of the run's columns; foreign.
            most: How many trials are grouped at most.
        """
        super().__init__([], glyphs=glyphs, id="groups")
        self.groups: Sequence[tuple[Condition, int]] = ()
        """The largest first."""
        self._columns = columns
        self._most = most
        self._over = 0
        self._by: Grouping = Grouping.REASON
        self._rates: GroupRates | None = None
        """None: not read yet."""

    def begin(self, by: Grouping) -> None:
        """Show another grouping, of which nothing has been counted yet."""
        self._by = by
        self.say_empty("counting")
        self.show((), 0)

    def show(self, groups: Sequence[tuple[Condition, int]], over: int) -> None:
        """Show other groups; the cursor stays on the one it is on.

        Args:
            groups: With the trials of each.
            over: How many trials the shares are of.
        """
        chosen = self.groups[self.cursor][0] if self.cursor < len(self.groups) else None
        self.groups, self._over = groups, over
        at = next((at for at, (part, _) in enumerate(groups) if part == chosen), 0)
        self._lay_fields()
        self.place(len(groups), at)

    def show_rates(self, rates: GroupRates) -> None:
        """Show the rates of tags and targets."""
        self._rates = rates
        if self._by in RATED:
            self.redraw()

    def row(self, index: int) -> DrawnRow | None:
        """Return a group."""
        part, n = self.groups[index]
        words = part.value if part.kind in _PLAIN else part_words(part)
        if part.reported:  # beside the verdict: it is no share of those that did not pass
            named = f"reported: {part.value}" if part.kind in _PLAIN else words
            return DrawnRow((Cell(named, "dim"), Cell(number(n), "dim"), Cell(""), Cell("")))
        share = n / self._over if self._over else 0.0
        cells = [Cell(words), Cell(number(n), "strong"), Cell(percent(share), "dim")]
        if self._by in RATED:
            return DrawnRow([*cells, *self._rate_cells(part)])
        bar = self._glyphs.bar * max(round(share * _BAR), 1)
        return DrawnRow((*cells, Cell(bar, "accent")))

    def _rate_cells(self, part: Condition) -> list[Cell]:
        """Return a cell for each column of rates; until they are known they say so."""
        wanted = len(self.fields) - _COUNTS
        if self._rates is None:
            return [Cell(self._glyphs.working, "dim")] * wanted
        found = self._rates.of(part, self._columns[:wanted])
        return [Cell(self._rates.words(of)) for of in found]

    def _lay_fields(self) -> None:
        title, longest = f"of {number(self._over)}", f"of {number(self._most)}"
        fields = [
            Field("group", 20, share=1),
            Field("n", 7, right=True),
            Field(title, max(len(longest), 7), right=True, drop=1),
        ]
        if self._by is Grouping.TARGET:
            fields.append(Field("pass 95%", _RATE))
        elif self._by is Grouping.TAG:
            names = self._columns[:_MOST_RATES]
            fields += [
                Field(f"pass {name}", _RATE, drop=len(names) - at if at else 0)
                for at, name in enumerate(names)
            ]
        else:
            fields.append(Field("", _BAR, drop=2))
        self.set_fields(fields)
