"""A page of text: folded to its width, scrolled, searched; draws only the lines in view."""

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_eval.ui.prose import Para, fold
from tui_eval.ui.tones import Tone
from tui_eval.ui.widgets.toned import Toned


class Page(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """Shows paragraphs; stays where it was scrolled to while its text changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_by(1)", "Down", show=False, id="page.down", tooltip="Scroll"),
        Binding("up", "scroll_by(-1)", "Up", show=False, id="page.up", tooltip="Scroll"),
        Binding("j", "step(1)", "Next", show=False, id="page.next", tooltip="One further"),
        Binding("k", "step(-1)", "Before", show=False, id="page.before", tooltip="One back"),
        Binding("home", "scroll_to_line(0)", "Top", show=False, id="page.top", tooltip="The top"),
        Binding(
            "end", "scroll_to_line(-1)", "End", show=False, id="page.end", tooltip="The last line"
        ),
        Binding(
            "pagedown",
            "scroll_page(1)",
            "Page down",
            show=False,
            id="page.page-down",
            tooltip="A screen further down",
        ),
        Binding(
            "pageup",
            "scroll_page(-1)",
            "Page up",
            show=False,
            id="page.page-up",
            tooltip="A screen further up",
        ),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._paras: tuple[Para, ...] = ()
        self._lines: list[tuple[str, Tone]] = []
        self._sought = ""
        self._hits: list[int] = []
        """Lines that hold what is sought."""

    @property
    def text(self) -> str:
        """All lines as they are folded, for tests and screen readers."""
        return "\n".join(line for line, _ in self._lines)

    @property
    def hits(self) -> int:
        """How many lines hold what is sought."""
        return len(self._hits)

    def show(self, paras: Sequence[Para], *, keep_place: bool = False) -> None:
        """Show other paragraphs.

        Args:
            paras: What to show; may be foreign.
            keep_place: Whether it is the same text, newer: stay where one reads.
        """
        if tuple(paras) == self._paras:
            return
        self._paras = tuple(paras)
        self._fold()
        if not keep_place:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def reveal(self, para: int) -> None:
        """Scroll as little as it takes to see a paragraph; of a long one its beginning."""
        if not self.size.width:
            self.call_after_refresh(self.reveal, para)  # nothing is folded yet
            return
        width = self._fold_width
        start = sum(1 for _ in fold(self._paras[:para], width))
        end = sum(1 for _ in fold(self._paras[: para + 1], width))
        top, height = int(self.scroll_offset.y), self.size.height
        if start < top or end - start > height:
            top = start
        elif end > top + height:
            top = end - height
        self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def seek(self, text: str) -> int:
        """Mark the lines that hold a text, whatever its case, and give how many there are."""
        self._sought = text.casefold()
        self._find()
        self.refresh()
        return len(self._hits)

    def next_hit(self, step: int) -> bool:
        """Scroll to the next marked line (or with -1 the one before); False: there is none."""
        if not self._hits:
            return False
        top = int(self.scroll_offset.y)
        after = [line for line in self._hits if (line > top if step > 0 else line < top)]
        if not after:  # go round
            after = self._hits
        self.scroll_to(
            y=after[0] if step > 0 else after[-1], animate=False, force=True, immediate=True
        )
        return True

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        index = int(self.scroll_offset.y) + y
        base = self.rich_style
        width = self.size.width
        if index >= len(self._lines):
            return Strip.blank(width, base)
        line, tone = self._lines[index]
        style = base + self.tone_style(tone)
        return Strip(self._marked(line, style)).adjust_cell_length(width, base)

    def _marked(self, line: str, style: Style) -> list[Segment]:
        folded = line.casefold()
        if not self._sought or len(folded) != len(line) or self._sought not in folded:
            return [Segment(line, style)]
        found = style + self.tone_style("found")
        segments, start = [], 0
        while (at := folded.find(self._sought, start)) >= 0:
            end = at + len(self._sought)
            segments += [Segment(line[start:at], style), Segment(line[at:end], found)]
            start = end
        return [*segments, Segment(line[start:], style)]

    def _fold(self) -> None:
        self._lines = list(fold(self._paras, self._fold_width)) if self.size.width else []
        self._find()
        self.virtual_size = Size(self.size.width, len(self._lines))
        self.refresh()

    @property
    def _fold_width(self) -> int:
        return self.size.width - 1  # one column stays free beside the scroll bar

    def _find(self) -> None:
        self._hits = (
            [at for at, (line, _) in enumerate(self._lines) if self._sought in line.casefold()]
            if self._sought
            else []
        )

    def on_resize(self) -> None:
        """Fold for the new width."""
        self._fold()

    def action_scroll_by(self, lines: int) -> None:
        """Scroll so many lines down, or up where negative."""
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True, immediate=True)

    def action_step(self, by: int) -> None:
        """Go one on; here that is a line."""
        self.action_scroll_by(by)

    def action_scroll_page(self, pages: int) -> None:
        """Scroll screens down, or up where negative."""
        self.action_scroll_by(pages * max(self.size.height - 1, 1))

    def action_scroll_to_line(self, line: int) -> None:
        """Scroll to a line; -1: the last."""
        y = line if line >= 0 else max(len(self._lines) - self.size.height, 0)
        self.scroll_to(y=y, animate=False, force=True, immediate=True)
