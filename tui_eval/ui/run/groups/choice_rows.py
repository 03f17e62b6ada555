"""Multiple choice as a confusion table: what was expected in rows, what was chosen in columns."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui_eval.format import number
from tui_eval.store.search.confusion import cell
from tui_eval.store.search.views import Condition
from tui_eval.texts.choice_reasons import NOTHING, SEVERAL, ChosenOption
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import GAP, Field
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import width_of

_MOST = 20
"""Options that have a row and a column: the most frequent."""
_LEAST, _LONGEST = 4, 14
"""Cells of a column: what `[12]` needs, and no more than a long option has."""
_GOT = "got "
"""Stands before what was chosen, where there is room."""

_MORE = "+{} more"
"""Heads an empty column where options have no room; `left` and `right` lead to them."""


def _least(options: Sequence[Field]) -> int:
    return sum(option.least + len(GAP) for option in options) - len(GAP)


def _fitting(options: Sequence[Field], first: int, room: int) -> int:
    """Return how many options from one on have room, one at least."""
    n = 1
    while first + n < len(options) and _least(options[first : first + n + 1]) <= room:
        n += 1
    return n


def _first_in_view(options: Sequence[Field], before: int, selected: int, room: int) -> int:
    """Return the first option to show: as before, if the selected one and all the room allow it."""
    first = min(before, selected)
    while first + _fitting(options, first, room) <= selected:
        first += 1
    while first and first - 1 + _fitting(options, first - 1, room) == len(options):
        first -= 1  # nothing is left out at the right: fill the room from the left
    return first


class ChoiceRows(Rows):
    """The table; a cell of it is selected, and lists its trials."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,l", "across(1)", "Right", show=False, id="groups.right", tooltip="Right"),
        Binding("left,h", "across(-1)", "Left", show=False, id="groups.left", tooltip="Left"),
    ]

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__([], glyphs=glyphs, id="choices")
        self._counts: Mapping[str, Counter[ChosenOption]] = {}
        self._rows: list[tuple[str, str]] = []
        """Scorer and what it expected."""
        self._chosen: list[str] = []
        """What was chosen, a column each."""
        self._across = 0
        """The option of the selected cell."""
        self._first = 0
        """The option of the first column in view."""
        self._in_view = 0
        """Options that have a column in view."""

    @property
    def selected(self) -> Condition | None:
        """The condition of the selected cell; None: no trial is in it."""
        if self.cursor >= len(self._rows):
            return None
        scorer, expected = self._rows[self.cursor]
        choice = ChosenOption(expected, self._chosen[self._across])
        return cell(scorer, choice) if self._counts[scorer][choice] else None

    def show(self, counts: Mapping[str, Counter[ChosenOption]]) -> None:
        """Show what was counted so far, by scorer."""
        self._counts = counts
        rows = Counter[tuple[str, str]]()
        chosen = Counter[str]()
        for scorer, choices in counts.items():
            for choice, n in choices.items():
                rows[scorer, choice.expected] += n
                chosen[choice.chosen] += n
        self._rows = sorted(row for row, _ in rows.most_common(_MOST))
        self._chosen = sorted(
            (label for label, _ in chosen.most_common(_MOST)),
            key=lambda label: (label in (NOTHING, SEVERAL), label),
        )
        self._across = min(self._across, max(len(self._chosen) - 1, 0))
        self._suit_width()
        self.place(len(self._rows), self.cursor)

    def on_resize(self) -> None:
        """Choose the columns for the new width."""
        self._suit_width()
        super().on_resize()

    def _suit_width(self) -> None:
        """Show all options, or as many as have room, the selected one with them."""
        named = max((width_of(self._row_name(*row)) for row in self._rows), default=0)
        name = min(max(named, len("expected")), 20)
        most = max((self._total(*row) for row in self._rows), default=0)
        digits = width_of(number(most))
        n = max(digits, _LEAST)
        room = self._room - name - n - 2 * len(GAP)
        options = self._options(_GOT, digits)
        if _least(options) > room:
            options = self._options("", digits)
        left_out = 0
        if options and _least(options) > room:
            room -= len(_MORE.format(len(options))) + len(GAP)
            self._first = _first_in_view(options, self._first, self._across, room)
            self._in_view = _fitting(options, self._first, room)
            left_out = len(options) - self._in_view
        else:
            self._first, self._in_view = 0, len(options)
        shown = options[self._first : self._first + self._in_view]
        more = [Field(_MORE.format(left_out), len(_MORE.format(left_out)))] if left_out else []
        self.set_fields(
            [Field("expected", name, share=1), Field("n", n, right=True), *shown, *more]
        )

    def _options(self, before: str, digits: int) -> list[Field]:
        """Return a column for each option, wide enough for the mark of the selected cell."""
        titles = [f"{before}{label}" for label in self._chosen]
        widths = [min(max(width_of(title), digits + 2, _LEAST), _LONGEST) for title in titles]
        return [Field(*column, right=True) for column in zip(titles, widths, strict=True)]

    def _row_name(self, scorer: str, expected: str) -> str:
        return f"{scorer}: {expected}" if len(self._counts) > 1 else expected

    def _total(self, scorer: str, expected: str) -> int:
        counts = self._counts[scorer]
        return sum(counts[ChosenOption(expected, chosen)] for chosen in self._chosen)

    def row(self, index: int) -> DrawnRow | None:
        """Return what was chosen where one option was expected."""
        scorer, expected = self._rows[index]
        counts = self._counts[scorer]
        cells = [
            Cell(self._row_name(scorer, expected), "strong"),
            Cell(number(self._total(scorer, expected)), "dim"),
        ]
        last = self._first + self._in_view
        for at, chosen in enumerate(self._chosen[self._first : last], self._first):
            found = counts[ChosenOption(expected, chosen)]
            right = chosen in expected.split(" or ")
            tone: Tone = "dim" if not found else "pass" if right else "fail"
            here = index == self.cursor and at == self._across
            words = number(found) if found else self._glyphs.dot
            cells.append(Cell(f"[{words}]" if here else f"{words} ", "heading" if here else tone))
        return DrawnRow((*cells, *[Cell("")] * (len(self.fields) - len(cells))))

    def action_across(self, step: int) -> None:
        """Select the cell to the right, or with -1 to the left."""
        if self._chosen:
            self._across = (self._across + step) % len(self._chosen)
            self._suit_width()
            self.redraw()
