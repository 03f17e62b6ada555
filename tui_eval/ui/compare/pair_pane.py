"""The case under the cursor as both sides answered it."""

import asyncio

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical

from tui_eval.ui.compare.compared_texts import ComparedTrials
from tui_eval.ui.compare.pair_page import PairLooks, pair_paras
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece, fit, width_of


class PairPane(Vertical):
    """Shows a case; the place one reads at stays while it is the same case."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="pair-pane")
        self._glyphs = glyphs
        self.page = Page(id="page")
        self._bar = Bar(id="pair-bar", frame=True)
        self._names = ("A", "B")
        self.found: ComparedTrials | None = None
        """What is shown; None: nothing, or it is still being read."""
        self._whole = False

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._bar
        yield self.page

    def on_mount(self) -> None:
        """Begin with nothing."""
        self._bar.follow_focus(self.page, then=self._show_bar)

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self._show_bar()
        self.call_after_refresh(self._lay_out, keep_place=True)

    def show(self, found: ComparedTrials | None, names: tuple[str, str]) -> None:
        """Show a case; None: no case.

        Args:
            found: What both sides said of it.
            names: What the sides are called.
        """
        before = self.found
        same = before is not None and found is not None and before.flip == found.flip
        self.found, self._names = found, names
        self._show_bar()
        if found is None:
            self.workers.cancel_node(self)
            self.page.show([])
            return
        self._lay_out(keep_place=same and before is not None and before.epoch == found.epoch)

    def turn_question(self) -> None:
        """Show all of the question, or its beginning."""
        self._whole = not self._whole
        self._lay_out(keep_place=False)

    @work(exclusive=True, group="lay-out")
    async def _lay_out(self, *, keep_place: bool) -> None:
        found = self.found
        width = self.page.size.width - 1
        if found is None or width < 1:
            return
        looks = PairLooks(width, self.page.size.height, self._names, self._whole)
        paras: list[Para] = await asyncio.to_thread(pair_paras, found, looks, self._glyphs)
        self.page.show(paras, keep_place=keep_place)

    def _show_bar(self) -> None:
        rule = self._glyphs.rule
        left = [Piece(f"{self._glyphs.cursor} " if self._bar.focused else " ", "accent")]
        right: list[Piece] = []
        if self.found is not None:
            if self.found.epochs > 1:
                right = [
                    Piece(f" epoch {self.found.epoch + 1} of {self.found.epochs} ", "dim"),
                    Piece("[", "accent", "screen.epoch(-1)"),
                    Piece(" "),
                    Piece("]", "accent", "screen.epoch(1)"),
                    Piece(f" {rule}", "dim"),
                ]
            room = self._bar.room - 4 - sum(width_of(piece.text) for piece in right)
            case_id = self.found.flip.case_id
            cut = self._glyphs.cut
            name = fit(case_id, max(min(width_of(case_id), room), 1), ellipsis=cut, keep=6)
            left += [Piece(name, "strong"), Piece(" ")]
        self._bar.show(left, right, fill=rule)
