"""Two texts of one case, with what differs."""

import asyncio
from dataclasses import dataclass
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.format import many, number
from tui_eval.resources import styles_dir
from tui_eval.ui.context import AppContext
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.text.diff_page import diff_paras
from tui_eval.ui.text.differences import LONGEST, Differences, differences
from tui_eval.ui.text.json_text import is_json, json_para
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_KEPT = 4
"""Cells at the end of a name that stay where it is cut."""
_LEAST_NAMED = 18
"""Cells for the case and its target, and for what is compared with, where there is little room."""
_GAP = "   "


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """What is compared; all of it may be foreign."""

    case: str
    column: str
    old_name: str
    """What it is that the output is compared with."""
    old: str
    new: str
    new_name: str = "output"
    """What it is that is compared."""


class DiffScreen(BaseScreen):
    """Shows what differs: side by side where there is room, else line below line."""

    CSS_PATH = styles_dir() / "diff_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("n", "change(1)", "next change", id="diff.next", tooltip="The next change"),
        Binding("N", "change(-1)", "previous", id="diff.previous", tooltip="The change before"),
        Binding("x", "whole", "equal lines", id="diff.whole", tooltip="Show equal lines too"),
        Binding("d", "leave", "back", id="diff.back", tooltip="Back, to compare with another"),
    ]

    def __init__(self, context: AppContext, compared: ComparedTexts) -> None:
        super().__init__(context)
        self.compared = compared
        self.page = Page(id="page")
        self._title = Bar(id="title")
        self._found: Differences | None = None
        self._whole = False
        self._begins: list[int] = []
        self._at = 0
        """Which change one has gone to; 0: none."""

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._title
        yield self.page
        yield KeyLine(lambda binding: binding.description)

    def on_mount(self) -> None:
        """Begin to compare."""
        self.set_focus(self.page)
        self.page.show([Para("Comparing…", "dim")])
        self._show_title()
        self._compare()

    @work
    async def _compare(self) -> None:
        self._found = await asyncio.to_thread(_found, self.compared.old, self.compared.new)
        self._lay_out()

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self.call_after_refresh(self._lay_out)

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action in ("change", "whole") and self._found is None:
            return "they are still being compared"
        if action == "change" and not self._begins:
            return "nothing differs in what was compared"
        return None

    @work(exclusive=True, group="lay-out")
    async def _lay_out(self) -> None:
        if self._found is None:
            return
        width = max(self.page.size.width - 1, 1)
        paras, self._begins = await asyncio.to_thread(
            diff_paras, self._found, width, self.context.glyphs, whole=self._whole
        )
        if not self._begins:
            paras = [Para(self._no_difference(self._found), "strong"), Para(""), *paras]
        self.page.show(paras, keep_place=self._at > 0)
        self._show_title()
        self.refresh_bindings()

    def _no_difference(self, found: Differences) -> str:
        if found.left_out:
            return f"No difference in the first {number(LONGEST)} characters of both."
        return f"No difference: both have {many(len(self.compared.new), 'character')}."

    def _show_title(self) -> None:
        told, glyphs = self.compared, self.context.glyphs
        right = []
        if self._begins:
            at = f"{self._at}/" if self._at else ""
            right.append(Piece(f" {at}{number(len(self._begins))} "))
            right.append(Piece("change " if len(self._begins) == 1 else "changes ", "dim"))
        signs = f"-  {glyphs.arrow} + {told.new_name}"
        room = self._title.room - sum(width_of(piece.text) for piece in right) - width_of(signs)
        old = min(width_of(told.old_name), max(room - _LEAST_NAMED, _LEAST_NAMED))
        name, column = f" {told.case}", f"  {told.column}"
        column_room = min(width_of(column), max(room - old - width_of(name), (room - old) // 3, 0))
        name_room = min(width_of(name), max(room - old - column_room - len(_GAP), 0))
        left = [
            Piece(fit(name, name_room, ellipsis=glyphs.cut, keep=_KEPT), "strong"),
            Piece(fit(column, column_room, ellipsis=glyphs.cut)),
            Piece(f"{_GAP}- ", "strong"),
            Piece(fit(told.old_name, old, ellipsis=glyphs.cut, keep=_KEPT)),
            Piece(f" {glyphs.arrow} ", "dim"),
            Piece("+ ", "strong"),
            Piece(told.new_name),
        ]
        self._title.show(left, right)

    def action_change(self, step: int) -> None:
        """Go to the next change, or to the one before; round at the ends."""
        count = len(self._begins)
        self._at = 1 if not self._at and step > 0 else (self._at - 1 + step) % count + 1
        self.page.reveal_at_top(self._begins[self._at - 1])
        self._show_title()

    def action_whole(self) -> None:
        """Show all equal lines, or only those around changes."""
        self._whole = not self._whole
        self._lay_out()


def _found(old: str, new: str) -> Differences:
    if is_json(old) and is_json(new):  # laid out alike: only what they say differs then
        return differences(json_para(old).text, json_para(new).text)
    return differences(old, new)
