"""The groups with how many trials each has, and the pass rates of tags and targets."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from tui_eval.format import number, percent
from tui_eval.store.search.groups import Grouping
from tui_eval.store.search.views import Condition, FilterKind
from tui_eval.ui.run.groups.group_rates import GroupRates
from tui_eval.ui.run.list.filters import part_words
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import fit, width_of

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


_REPORTED = "reported"
"""In place of the share of what a scorer says that is not required."""


def group_words(groups: Sequence[Condition]) -> list[str]:
    """Return what groups are called; scorers are named where there are several. May be foreign."""
    several = len({part.scorer for part in groups if part.scorer}) > 1
    return [_words(part, several=several) for part in groups]


def _words(part: Condition, *, several: bool) -> str:
    if part.kind in _PLAIN or (part.scorer and not several):
        return part.value
    if part.kind is FilterKind.REQUIREMENT:
        return f"{part.value} ({part.scorer})"
    return part_words(replace(part, reported=False))


def told_apart(texts: Sequence[str], width: int, cut: str) -> list[str]:
    """Return texts so that no two that differ read alike once they are cut to a width.

    Args:
        texts: The texts; may be foreign.
        width: Cells there are for each.
        cut: What stands where something was cut; one cell.
    """
    alike: dict[str, list[str]] = {}
    for text in texts:
        alike.setdefault(fit(text, width, ellipsis=cut), []).append(text)
    shown = []
    for text in texts:
        others = alike[fit(text, width, ellipsis=cut)]
        same = _same(min(others), max(others))
        if len(set(others)) > 1 and same < len(text):
            tells = text[text.rfind(" ", 0, same + 1) + 1 :]
            room = max(width - width_of(cut + tells), width // 3)
            text = f"{fit(text, room, ellipsis='').rstrip()}{cut}{tells}"
        shown.append(text)
    return shown


def _same(one: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    return sum(1 for _ in takewhile(lambda two: two[0] == two[1], zip(one, other, strict=False)))


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
        self._words: Sequence[str] = ()
        """What each is called."""
        self._shown: tuple[int, list[str]] = (0, [])
        """Cells there are for that, and what of it is shown in them."""
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
        self._words, self._shown = group_words([part for part, _ in groups]), (0, [])
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
        width = self.width_of_field(0)
        if self._shown[0] != width:
            self._shown = width, told_apart(self._words, width, self._glyphs.cut)
        words = self._shown[1][index]
        if part.reported:  # beside the verdict: it is no share of those that did not pass
            return DrawnRow(
                (Cell(words, "dim"), Cell(number(n), "dim"), Cell(_REPORTED, "dim"), Cell(""))
            )
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
        title = f"of {number(self._over)}" if self._over else ""
        longest = max(len(f"of {number(self._most)}"), len(_REPORTED))
        fields = [
            Field("group", 20, share=1),
            Field("n", 7, right=True),
            Field(title, longest, right=True, drop=1),
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
