"""What edited scorers would change in a run, one line a trial."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.engine.control.verdict_change import VerdictChange
from tui_eval.format import number
from tui_eval.ui.context import AppContext
from tui_eval.ui.run.list.why_words import output_first
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece

_CASE = Field("case", 10, share=2, keep=4)
_COLUMN = Field("target", 12, share=2, drop=2, keep=6)
_EPOCH = Field("ep", 2, right=True, drop=3)
_OTHERS = [
    Field("was", 10),
    Field("would be", 10),
    Field("why", 12, share=6, drop=1),
]


class WouldChange(BaseScreen):
    """Lists the verdicts that would change; `enter` goes to the trial."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go", "go to it", id="would-change.go", tooltip="Show this trial"),
        Binding(
            "S",
            "apply",
            "apply",
            id="would-change.apply",
            tooltip="Score again with the edited scorers",
        ),
    ]

    def __init__(
        self,
        context: AppContext,
        title: str,
        flips: Sequence[VerdictChange],
        named: str,
        total: int,
        outcome: str,
        unknown: int,
        go: Callable[[int], object],
        apply: Callable[[], object],
    ) -> None:
        """Make the list.

        Args:
            context: What screens share.
            title: What was changed; may be foreign.
            flips: The verdicts that would change, as far as they are listed.
            named: What each says of its column, as a title; empty: the run has only one.
            total: How many there are.
            outcome: Which way they would turn, and the pass rate then.
            unknown: Beside these, verdicts that nobody knows before judges are asked.
            go: Told the place of the trial a person wants to see.
            apply: Called where a person wants that to be so.
        """
        super().__init__(context)
        self._title = title
        self._total = total
        self._unknown = unknown
        self._go = go
        self._apply = apply
        self._outcome = outcome
        self.table = _Table(flips, named, context.glyphs)

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        listed = len(self.table.flips)
        of = f"the first {number(listed)} of " if listed < self._total else ""
        words = f"{of}{number(self._total)} would change"
        if self._outcome:
            words += f": {self._outcome}"
        if self._unknown:
            words += f", {number(self._unknown)} unknown until judged"
        right = [Piece(f"{words} ", "dim")]
        yield Bar([Piece(f" {self._title}", "strong")], right, classes="title")
        yield self.table
        yield KeyLine()

    def on_mount(self) -> None:
        """Stand on the first line."""
        self.set_focus(self.table)

    def on_rows_opened(self) -> None:
        """Go to what was clicked twice."""
        self.action_go()

    def action_apply(self) -> None:
        """Leave the list, and score again with the edited scorers."""
        self.dismiss()
        self._apply()

    def action_go(self) -> None:
        """Go to the trial under the cursor."""
        place = self.table.flips[self.table.cursor].place
        self.dismiss()
        self._go(place)


class _Table(Rows):
    def __init__(self, flips: Sequence[VerdictChange], named: str, glyphs: Glyphs) -> None:
        self._named = bool(named)
        self._epochs = any(flip.epoch for flip in flips)
        column = replace(_COLUMN, title=named)
        fields = [_CASE, *[column] * self._named, *[_EPOCH] * self._epochs, *_OTHERS]
        super().__init__(fields, glyphs=glyphs)
        self.flips = flips

    def on_mount(self) -> None:
        self.resize_to(len(self.flips))

    def row(self, index: int) -> DrawnRow | None:
        flip = self.flips[index]
        tones: dict[str, Tone] = {"pass": "pass", "fail": "fail", "ungraded": "ungraded"}
        verdicts = [
            Cell(f"{self._glyphs.verdict(one)} {one}", tones[one]) for one in (flip.was, flip.would)
        ]
        where = [Cell(flip.case_id), *[Cell(flip.column)] * self._named]
        where += [Cell(str(flip.epoch + 1), "dim")] * self._epochs
        return DrawnRow((*where, *verdicts, Cell(output_first(flip.why), "dim")))
