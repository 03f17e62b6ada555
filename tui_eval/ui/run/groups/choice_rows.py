"""Multiple choice as a confusion table: what was expected in rows, what was chosen in columns."""

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType

from tui_eval.format import number
from tui_eval.store.search.confusion import cell
from tui_eval.store.search.views import Condition
from tui_eval.texts.choice_reasons import NOTHING, SEVERAL, ChosenOption
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Cell, DrawnRow, Rows

_WIDTH = 8
_MOST = 20
"""Options that have a row and a column: the most frequent."""


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
        """The column of the selected cell."""

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
        several = len(counts) > 1
        self.set_fields(
            [
                Field("expected", 20 if several else 10, share=1),
                Field("n", 7, right=True),
                *(Field(f"got {label}", _WIDTH + 4, right=True) for label in self._chosen),
            ]
        )
        self.place(len(self._rows), self.cursor)

    def row(self, index: int) -> DrawnRow | None:
        """Return what was chosen where one option was expected."""
        scorer, expected = self._rows[index]
        counts = self._counts[scorer]
        named = f"{scorer}: {expected}" if len(self._counts) > 1 else expected
        n = sum(counts[ChosenOption(expected, chosen)] for chosen in self._chosen)
        cells = [Cell(named, "strong"), Cell(number(n), "dim")]
        for at, chosen in enumerate(self._chosen):
            found = counts[ChosenOption(expected, chosen)]
            right = chosen in expected.split(" or ")
            tone: Tone = "dim" if not found else "pass" if right else "fail"
            here = index == self.cursor and at == self._across
            words = number(found) if found else self._glyphs.dot
            cells.append(Cell(f"[{words}]" if here else f"{words} ", "heading" if here else tone))
        return DrawnRow(cells)

    def action_across(self, step: int) -> None:
        """Select the cell to the right, or with -1 to the left."""
        if self._chosen:
            self._across = (self._across + step) % len(self._chosen)
            self.redraw()
