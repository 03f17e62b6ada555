"""A virtual table on the Line API: it asks for the rows it shows and for no others."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.glyphs import UNICODE, Glyphs
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import GAP, Field, lay_out
from tui_eval.ui.widgets.toned import Toned, fit, places_of, width_of

_STRIPS = 500
"""Drawn rows that are kept at most."""
_MARGIN = 2
"""Cells at the left edge: the cursor's and the mark's."""
_LEAST_NOTE = 5
"""Cells below which a cut note says nothing."""


class Rows(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """The table. Subclasses return rows from `row`; None: the row is still being read.

    The first line is the head and stays. The cursor is a place in the list, from 0.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rows--head",
        "rows--cursor",
        "rows--cursor-blurred",
        "rows--marked",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "down", "Down", show=False, id="table.down", tooltip="The next row"),
        Binding("up,k", "up", "Up", show=False, id="table.up", tooltip="The row before"),
        Binding("home", "first", "First", show=False, id="table.first", tooltip="The first row"),
        Binding("end", "last", "Last", show=False, id="table.last", tooltip="The last row"),
        Binding(
            "pagedown",
            "page(1)",
            "Page down",
            show=False,
            id="table.page-down",
            tooltip="A screen further down",
        ),
        Binding(
            "pageup",
            "page(-1)",
            "Page up",
            show=False,
            id="table.page-up",
            tooltip="A screen further up",
        ),
    ]

    cursor: reactive[int] = reactive(0, repaint=False)

    @dataclass
    class FromRows(Message):
        """What all messages of a table have."""

        rows: "Rows"

        @property
        def control(self) -> "Rows":
            """The table."""
            return self.rows

    @dataclass
    class Moved(FromRows):
        """The cursor stands on another row."""

        cursor: int
        by_hand: bool
        """Whether a key of the table or the mouse moved it."""

    @dataclass
    class Opened(FromRows):
        """A row was clicked twice."""

        cursor: int

    @dataclass
    class HeadClicked(FromRows):
        """A column's head was clicked."""

        field: Field

    @dataclass
    class CellClicked(FromRows):
        """A cell was clicked; the cursor is on its row."""

        field: Field

    @dataclass
    class Missing(FromRows):
        """A row was drawn that has not been read; sent once until `redraw`."""

    def __init__(
        self,
        fields: Sequence[Field],
        *,
        glyphs: Glyphs = UNICODE,
        empty: str = "",
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(id=id)
        self._fields = tuple(fields)
        self._glyphs = glyphs
        self._empty = empty
        self._count = 0
        self._widths = lay_out(self._fields, 80)
        self._strips: dict[int, Strip] = {}
        """Drawn rows by index; cleared whenever what they were drawn from changes."""
        self._by_hand = False
        """Whether a person is moving the cursor."""
        self._missing = False
        """Whether it has asked for rows already."""
        self._marked = ""
        """A text that is marked wherever it stands, folded."""

    def row(self, index: int) -> DrawnRow | None:
        """Return a row; None: it is not there yet."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._count

    @property
    def shown(self) -> range:
        """The rows that are on the screen."""
        first = int(self.scroll_offset.y)
        return range(first, min(first + max(self.size.height - 1, 0), self._count))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The columns, those there is no room for included."""
        return self._fields

    def width_of_field(self, at: int) -> int:
        """Return how wide a column is; 0: there is no room for it."""
        return self._widths[at]

    def set_fields(self, fields: Sequence[Field]) -> None:
        """Show other fields."""
        if tuple(fields) == self._fields:
            return
        self._fields = tuple(fields)
        self._measure()
        self.redraw()

    def say_empty(self, text: str) -> None:
        """Set what stands in place of rows where there are none."""
        if text != self._empty:
            self._empty = text
            self.refresh()

    def mark_text(self, text: str) -> None:
        """Mark a text in all rows, whatever its case; empty: none."""
        if text.casefold() != self._marked:
            self._marked = text.casefold()
            self.redraw()

    def resize_to(self, count: int) -> None:
        """Say how many rows there are; cursor and scroll stay where they can."""
        if count != self._count:
            self._count = count
            self._measure()
        self.redraw()
        if self.cursor >= count:
            self.cursor = max(count - 1, 0)

    def place(self, count: int, cursor: int) -> None:
        """Show another list in which the row under the cursor stands elsewhere.

        The cursor's row keeps its line on the screen, so that nothing jumps under the eye.
        """
        line = self.cursor - int(self.scroll_offset.y)
        self._count = count
        self._measure()
        self._strips.clear()
        self._missing = False
        self.cursor = max(min(cursor, count - 1), 0)
        self.scroll_to(y=self.cursor - line, animate=False, force=True, immediate=True)
        self._show_cursor()
        self.refresh()

    def redraw(self, rows: Sequence[int] | None = None) -> None:
        """Draw rows anew: these, or all."""
        self._missing = False
        if rows is None:
            self._strips.clear()
            self.refresh()
            return
        shown = self.shown
        for index in rows:
            self._strips.pop(index, None)
            if index in shown:
                self._refresh_row(index)

    # -- drawing

    def render_line(self, y: int) -> Strip:
        """Draw the head, a row, or nothing below the last one."""
        width = self.size.width
        if y == 0:
            return self._head()
        index = int(self.scroll_offset.y) + y - 1
        if index >= self._count:
            return self._nothing(y - 2) if self._count == 0 else Strip.blank(width, self.rich_style)
        strip = self._strips.get(index)
        if strip is None:
            row = self.row(index)
            strip = self._draw(index, row)
            if row is None:
                self._ask_for_rows()
                return strip
            if len(self._strips) > _STRIPS:
                self._strips.clear()
            self._strips[index] = strip
        return strip

    def _nothing(self, y: int) -> Strip:
        """Draw a line of what stands in place of rows."""
        lines = list(fold([Para(self._empty, "dim", indent=_MARGIN)], self.size.width - 1))
        text, tone = lines[y] if 0 <= y < len(lines) else ("", "plain")
        style = self.rich_style + self.tone_style(tone)
        return Strip([Segment(fit(text, self.size.width), style)], self.size.width)

    def _ask_for_rows(self) -> None:
        if not self._missing:
            self._missing = True
            # drawing is the screen's doing: a message sent from here would end at the screen
            self.call_later(self._tell_missing)

    def _tell_missing(self) -> None:
        self.post_message(self.Missing(self))

    def _head(self) -> Strip:
        style = self.get_component_rich_style("rows--head")
        segments = [Segment(" " * _MARGIN, style)]
        for field, width in self._laid_out():
            title = fit(field.title, min(width_of(field.title), width - len(field.sign)))
            segments.append(Segment(fit(title + field.sign, width, right=field.right), style))
            segments.append(Segment(GAP, style))
        return Strip(segments).adjust_cell_length(self.size.width, style)

    def _draw(self, index: int, row: DrawnRow | None) -> Strip:
        base = self._row_style(index, row)
        lead = self._glyphs.cursor if index == self.cursor else " "
        if row is None:
            drawn = [Segment(f"{lead} {self._glyphs.waiting}", base)]
            return Strip(drawn).adjust_cell_length(self.size.width, base)
        mark = self._glyphs.mark if row.marked else " "
        drawn = [
            Segment(lead, base + self.tone_style("accent" if self.has_focus else "dim")),
            Segment(mark, base + self.tone_style("accent")),
        ]
        given = 0
        for (field, width), cell in zip(self._laid_out(), self._kept(row.cells), strict=True):
            if cell.gives_way:
                given += width + len(GAP)
                continue
            drawn += self._with_marks(self._cell(cell, field, given + width, base))
            drawn.append(Segment(GAP, base))
            given = 0
        return Strip(drawn).adjust_cell_length(self.size.width, base)

    def _cell(self, cell: Cell, field: Field, width: int, base: Style) -> list[Segment]:
        cut = self._glyphs.cut
        style = base + self.tone_style(cell.tone)
        room = width - width_of(cell.text) - 1
        if not cell.note or field.right or room < min(_LEAST_NOTE, width_of(cell.note)):
            text = fit(cell.text, width, right=field.right, ellipsis=cut, keep=field.keep)
            return [Segment(text, style)]
        return [
            Segment(fit(cell.text, width - room, ellipsis=cut), style),
            Segment(fit(cell.note, room, ellipsis=cut), base + self.tone_style(cell.note_tone)),
        ]

    def _with_marks(self, segments: Iterable[Segment]) -> Iterator[Segment]:
        """Yield a cell's segments; what is sought stands out in them."""
        for text, style, control in segments:
            at = 0
            for start, end in places_of(self._marked, text):
                yield Segment(text[at:start], style)
                yield Segment(text[start:end], (style or Style.null()) + self.tone_style("found"))
                at = end
            yield Segment(text[at:], style, control)

    def _row_style(self, index: int, row: DrawnRow | None) -> Style:
        if index == self.cursor:
            name = "rows--cursor" if self.has_focus else "rows--cursor-blurred"
            return self.get_component_rich_style(name)
        if row is not None and row.marked:
            return self.get_component_rich_style("rows--marked")
        return self.rich_style

    def _laid_out(self) -> list[tuple[Field, int]]:
        return [
            (field, width)
            for field, width in zip(self._fields, self._widths, strict=True)
            if width > 0
        ]

    def _kept(self, cells: Sequence[Cell]) -> list[Cell]:
        return [cell for cell, width in zip(cells, self._widths, strict=True) if width > 0]

    @property
    def _room(self) -> int:
        """Cells that fields have."""
        # `size` has the scroll bar's place in it
        return self.scrollable_content_region.width - _MARGIN

    def _measure(self) -> None:
        self._widths = lay_out(self._fields, self._room)
        self.virtual_size = Size(self._room + _MARGIN, self._count + 1)

    # -- moving

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw the two rows, keep the new one in view, tell the screen."""
        self.redraw((old, new))
        self._show_cursor()
        if self._count:
            self.post_message(self.Moved(self, new, self._by_hand))

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a row."""
        return max(min(cursor, self._count - 1), 0)

    def _show_cursor(self) -> None:
        if self.size.height < 2:
            return  # not laid out yet: it is looked at again as soon as it is
        top = int(self.scroll_offset.y)
        room = self.size.height - 1
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True, immediate=True)
        elif self.cursor >= top + room:
            self.scroll_to(y=self.cursor - room + 1, animate=False, force=True, immediate=True)

    def _refresh_row(self, index: int) -> None:
        line = index - int(self.scroll_offset.y) + 1
        self.refresh(Region(0, line, self.size.width, 1))

    def move(self, cursor: int) -> None:
        """Go to a row, or as near as there is one, because a person wants it."""
        self._by_hand = True
        self.cursor = cursor
        self._by_hand = False

    def action_down(self) -> None:
        """Go to the next row."""
        self.move(self.cursor + 1)

    def action_up(self) -> None:
        """Go to the row before."""
        self.move(self.cursor - 1)

    def action_first(self) -> None:
        """Go to the first row."""
        self.move(0)

    def action_last(self) -> None:
        """Go to the last row."""
        self.move(self._count - 1)

    def action_page(self, pages: int) -> None:
        """Go screens down, or up where negative."""
        self.move(self.cursor + pages * max(self.size.height - 2, 1))

    # -- events

    def on_resize(self) -> None:
        """Lay the fields out for the new width."""
        self._measure()
        self._strips.clear()
        self._show_cursor()

    def on_focus(self) -> None:
        """Show that keys act here."""
        self.redraw((self.cursor,))

    def on_blur(self) -> None:
        """Show that keys act elsewhere."""
        self.redraw((self.cursor,))

    def notify_style_update(self) -> None:
        """Forget what was drawn in another theme."""
        self._strips.clear()
        super().notify_style_update()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is; twice opens the row. A head is told of."""
        field = self._field_at(event.x)
        if event.y == 0:
            if field is not None:
                self.post_message(self.HeadClicked(self, field))
            return
        index = int(self.scroll_offset.y) + event.y - 1
        if event.y < 1 or index >= self._count:
            return
        self.move(index)
        if field is not None:
            self.post_message(self.CellClicked(self, field))
        if event.chain == 2:
            self.post_message(self.Opened(self, index))

    def _field_at(self, x: int) -> Field | None:
        end = _MARGIN
        for field, width in self._laid_out():
            end += width + len(GAP)
            if x < end:
                return field
        return None
