"""The cases that flipped: what is listed of them, and the list."""

from collections.abc import Sequence
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Vertical

from tui_eval.format import number
from tui_eval.reports.comparison.comparison import RunComparison
from tui_eval.reports.comparison.flips import Flip
from tui_eval.ui.compare.flip_list import FlipList
from tui_eval.ui.compare.flip_view import FlipKind, FlipView
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.toned import Piece

_NONE = {
    FlipKind.ALL: "No case came to something else.",
    FlipKind.WORSE: "No case got worse.",
    FlipKind.BETTER: "No case got better.",
}


class FlipsPane(Vertical):
    """Lists flips of the row that is looked at; the cursor stays on its case."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="flips-pane")
        self._glyphs = glyphs
        self.list = FlipList(glyphs)
        self.view = FlipView()
        self._bar = Bar(id="flips-bar", frame=True)
        self._of_row: Sequence[Flip] = ()

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._bar
        yield self.list

    def on_mount(self) -> None:
        """Show whether keys act here."""
        self._bar.follow_focus(self.list, then=self._show_bar)

    def show(self, comparison: RunComparison, view: FlipView) -> None:
        """List the flips of a comparison as a view says."""
        self._of_row = view.of_row(comparison)
        self._list_as(view)

    def turn(self) -> None:
        """List the next kind of flips: worse, better, all."""
        self._list_as(self.view.turned())

    def list_kind(self, kind: FlipKind) -> None:
        """List the flips of one kind, or all where these are listed already."""
        self._list_as(replace(self.view, kind=FlipKind.ALL if self.view.kind is kind else kind))

    def reorder(self) -> None:
        """List them in the other order, from the first on."""
        self._list_as(self.view.reordered())
        self.list.move(0)

    def show_place(self) -> None:
        """Say which of them the cursor is on."""
        self._show_bar()

    def _list_as(self, view: FlipView) -> None:
        before = self.list.selected
        self.view = view
        flips = view.listed(self._of_row)
        self.list.show_order(view.order)
        cursor = self.list.cursor
        if before is not None:
            same = (at for at, flip in enumerate(flips) if flip.case_id == before.case_id)
            cursor = next(same, cursor)
        self.list.say_empty(_NONE[view.kind])
        self.list.list_flips(flips, cursor)
        self._show_bar()

    def look_at(self, row: int, group: str | None) -> FlipView:
        """Return the view of another row or group, of the same kind and order."""
        return replace(self.view, row=row, group=group)

    def _show_bar(self) -> None:
        rule, glyphs = self._glyphs.rule, self._glyphs
        worse = sum(flip.worse for flip in self._of_row)
        better = len(self._of_row) - worse
        left = [Piece(f"{glyphs.cursor} " if self._bar.focused else " ", "accent")]
        for kind, words in (
            (FlipKind.WORSE, f"{glyphs.failed} {number(worse)} worse"),
            (FlipKind.BETTER, f"{glyphs.passed} {number(better)} better"),
        ):
            alone, hidden = self.view.kind is kind, self.view.kind not in (kind, FlipKind.ALL)
            tone: Tone = "dim" if hidden else "fail" if kind is FlipKind.WORSE else "pass"
            shown = f"[{words}]" if alone else words  # not by its colour alone
            left += [Piece(shown, tone, f"screen.list('{kind}')"), Piece(f" {rule} ", "dim")]
        listed = len(self.list.flips)
        at = [Piece(f" {number(self.list.cursor + 1)}/{number(listed)} ", "dim")] if listed else []
        self._bar.show([*left[:-1], Piece(" ")], at, fill=rule)
