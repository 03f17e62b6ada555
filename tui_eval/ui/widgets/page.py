"""A page of text: folded to its width, scrolled, searched; draws only the lines in view."""

import asyncio
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import work
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_eval.ui.text.prose import LONGEST, Line, Para, TonedSpan, lay_out
from tui_eval.ui.widgets.toned import Toned, acts, places_of

_AT_ONCE = 10_000
"""Characters that are folded while one waits; of more the beginning is shown until all is."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where somebody reads."""

    para: Para
    """The paragraph of the first line in view."""
    at: int
    """Its index."""
    into: int
    """How many of its lines are above the view."""


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
        self._lines: list[Line] = []
        self._most = LONGEST
        self._more = ""
        self.following = False
        """Whether the end stays in view while the text grows, until somebody scrolls."""
        self._sought = ""
        self._marked = ""
        """What is marked while nothing is sought here."""
        self._hits: list[int] = []
        """Lines that hold what is sought."""
        self._read: _Place | None = None
        """What was read when the text changed; None: nothing is to be kept in its place."""

    @property
    def text(self) -> str:
        """All lines as they are folded, for tests and screen readers."""
        return "\n".join(line.text for line in self._lines)

    @property
    def hits(self) -> int:
        """How many lines hold what is sought."""
        return len(self._hits)

    def show(
        self,
        paras: Sequence[Para],
        *,
        keep_place: bool = False,
        most: int = LONGEST,
        more: str = "",
    ) -> None:
        """Show other paragraphs.

        Args:
            paras: What to show; may be foreign.
            keep_place: Whether it is the same text, newer: stay where one reads.
            most: Characters to show at most.
            more: What is said of seeing the rest, where that is not all.
        """
        if (tuple(paras), most) == (self._paras, self._most):
            return
        self._read = self._under_the_eye() if keep_place else None
        self._paras, self._most, self._more = tuple(paras), most, more
        self._fold(keep_place=keep_place)
        if not keep_place:
            self.scroll_to(y=0, animate=False, force=True, immediate=True)

    def _under_the_eye(self) -> _Place | None:
        """Return what is read now; None: the page is at its top, or empty."""
        top = int(self.scroll_offset.y)
        if not 0 < top < len(self._lines) or self._lines[top].para >= len(self._paras):
            return None
        at = self._lines[top].para
        return _Place(self._paras[at], at, top - self._line_of(at))

    def _stay_at(self, place: _Place) -> None:
        """Keep on top what is read, whatever came or went above it."""
        same = [at for at, para in enumerate(self._paras) if para == place.para]
        if same:
            at = min(same, key=lambda at: abs(at - place.at))
            y = self._line_of(at) + place.into
            self.scroll_to(y=y, animate=False, force=True, immediate=True)

    def _line_of(self, para: int) -> int:
        """Return the line on which a paragraph begins."""
        return bisect_left(self._lines, para, key=lambda line: line.para)

    def reveal(self, para: int) -> None:
        """Scroll as little as it takes to see a paragraph; of a long one its beginning."""
        if not self.size.width:
            self.call_after_refresh(self.reveal, para)  # nothing is folded yet
            return
        start, end = self._line_of(para), self._line_of(para + 1)
        top, height = int(self.scroll_offset.y), self.size.height
        if start < top or end - start > height:
            top = start
        elif end > top + height:
            top = end - height
        self.scroll_to(y=top, animate=False, force=True, immediate=True)

    def reveal_at_top(self, para: int) -> None:
        """Scroll so that a paragraph stands near the top, below the line before it."""
        start = bisect_left(self._lines, para, key=lambda line: line.para)
        self.scroll_to(y=max(start - 1, 0), animate=False, force=True, immediate=True)

    def seek(self, text: str) -> int:
        """Mark the lines that hold a text, whatever its case, and return how many there are."""
        self._sought = text.casefold()
        self._find()
        self.refresh()
        return len(self._hits)

    def mark(self, text: str) -> None:
        """Mark a text wherever it stands, whatever its case, while none is sought here."""
        if text.casefold() != self._marked:
            self._marked = text.casefold()
            self.refresh()

    @property
    def marked(self) -> str:
        """The text that stands out, folded: what is sought here, else what is marked."""
        return self._sought or self._marked

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
        line = self._lines[index]
        action = self._paras[line.para].action if line.para < len(self._paras) else None
        style = base + self.tone_style(line.tone) + acts(action)
        return Strip(self._segments(line, style)).adjust_cell_length(width, base)

    def _segments(self, line: Line, style: Style) -> list[Segment]:
        text, segments, at = line.text, [], 0
        for start, end, tone in _over(line.marks, self._hits_in(text)):
            if start > at:
                segments.append(Segment(text[at:start], style))
            segments.append(Segment(text[start:end], style + self.tone_style(tone)))
            at = end
        return [*segments, Segment(text[at:], style)]

    def _hits_in(self, line: str) -> list[TonedSpan]:
        return [TonedSpan(start, end, "found") for start, end in places_of(self.marked, line)]

    def _fold(self, *, keep_place: bool = False) -> None:
        self.workers.cancel_node(self)  # what is still being folded is no longer wanted
        if not self.size.width:
            self._take([])
            return
        if sum(min(len(para.text), self._most) for para in self._paras) <= _AT_ONCE:
            self._take(list(self._folded(self._most)))
            return
        if not keep_place:
            self._take(list(self._folded(_AT_ONCE)))
        self._fold_all()

    @work(exclusive=True, group="fold")
    async def _fold_all(self) -> None:
        self._take(await asyncio.to_thread(list, self._folded(self._most)))

    def _folded(self, most: int) -> Iterator[Line]:
        return lay_out(self._paras, self._fold_width, most=most, more=self._more)

    def _take(self, lines: list[Line]) -> None:
        self._lines = lines
        self._find()
        self.virtual_size = Size(self.size.width, len(self._lines))
        if self.following:
            self._read = None
            self._go_to_end()
        if self._read is not None:
            self._stay_at(self._read)
            self._read = None
        self.refresh()

    def follow(self, following: bool) -> None:
        """Keep the end in view while the text grows, or no more."""
        self.following = following
        if following:
            self._go_to_end()

    def _go_to_end(self) -> None:
        y = max(len(self._lines) - self.size.height, 0)
        self.scroll_to(y=y, animate=False, force=True, immediate=True)

    @property
    def _fold_width(self) -> int:
        return self.size.width - 1  # one column stays free beside the scroll bar

    def _find(self) -> None:
        self._hits = (
            [at for at, line in enumerate(self._lines) if self._sought in line.text.casefold()]
            if self._sought
            else []
        )

    def on_resize(self) -> None:
        """Fold for the new width."""
        self._read = self._under_the_eye()
        self._fold(keep_place=bool(self._lines))

    def on_mouse_scroll_up(self) -> None:
        """Stay where somebody reads."""
        self.following = False

    def action_scroll_by(self, lines: int) -> None:
        """Scroll so many lines down, or up where negative."""
        self.following = False
        self.scroll_to(y=self.scroll_offset.y + lines, animate=False, force=True, immediate=True)

    def action_step(self, by: int) -> None:
        """Go one on; here that is a line."""
        self.action_scroll_by(by)

    def action_scroll_page(self, pages: int) -> None:
        """Scroll screens down, or up where negative."""
        self.following = False
        self.action_scroll_by(pages * max(self.size.height - 1, 1))

    def action_scroll_to_line(self, line: int) -> None:
        """Scroll to a line; -1: the last."""
        self.following = False
        y = line if line >= 0 else max(len(self._lines) - self.size.height, 0)
        self.scroll_to(y=y, animate=False, force=True, immediate=True)


class FixedPage(Page, can_focus=False):
    """A page that keys do not reach: all of it is in view."""


def _over(marks: Sequence[TonedSpan], upper: Sequence[TonedSpan]) -> list[TonedSpan]:
    """Lay marks over others: what stands beneath is seen before, between and after them."""
    if not upper:
        return list(marks)
    found = list(upper)
    for start, end, tone in marks:
        for above in upper:
            if above.end <= start or above.start >= end:
                continue
            if above.start > start:
                found.append(TonedSpan(start, above.start, tone))
            start = above.end
        if start < end:
            found.append(TonedSpan(start, end, tone))
    return sorted(found)
