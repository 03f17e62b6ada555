"""Lines of our own layout: a bar with a left and a right side, and several plain lines."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece, Toned

FRAMED = "-framed"
"""Class of a screen that has room for frames around its panes."""
_CORNERS = ("╭", "╮")


class Bar(Toned):
    """A title, a rule with words in it, a line of figures."""

    DEFAULT_CSS = "Bar { height: 1; width: 1fr; }"

    def __init__(
        self,
        left: Sequence[Piece] = (),
        right: Sequence[Piece] = (),
        *,
        fill: str = " ",
        frame: bool = False,
        id: str | None = None,  # noqa: A002 - Textual's name for it
        classes: str | None = None,
    ) -> None:
        """Make a line.

        Args:
            left: From the left edge on.
            right: Up to the right edge.
            fill: The character between.
            frame: Whether it is the upper edge of a pane: with corners on a screen that has room
                for frames, else with a piece of rule at both ends.
            id: Its name in style sheets.
            classes: Its classes in them.
        """
        super().__init__(id=id, classes=classes)
        self._left = tuple(left)
        self._right = tuple(right)
        self._fill = fill
        self._frame = frame
        self._drawn_framed = False
        """Whether it was drawn with corners."""
        self._followed: tuple[Widget, ...] = ()
        self._seen: Callable[[], bool] = lambda: True
        self._then: Callable[[], object] | None = None

    @property
    def room(self) -> int:
        """Cells there are for its pieces."""
        return self.size.width - (2 if self._frame else 0)

    def follow_focus(
        self,
        *widgets: Widget,
        then: Callable[[], object] | None = None,
        seen: Callable[[], bool] = lambda: True,
    ) -> None:
        """Accent the rule while one of some widgets has the focus.

        It follows from what each widget says of itself. Events say it in no order: one widget's
        `DescendantBlur` may arrive after the next one's `DescendantFocus`.

        Args:
            widgets: What the line is the upper edge of.
            then: Called when one of them gets or loses the focus; None: nothing else changes.
            seen: Whether the focus is shown at all.
        """
        self._followed, self._then, self._seen = widgets, then, seen
        for widget in widgets:
            self.watch(widget, "has_focus", self._show_focus)

    def _show_focus(self) -> None:
        self.refresh()
        if self._then is not None:
            self._then()

    @property
    def focused(self) -> bool:
        """Whether keys act in what it is the upper edge of."""
        return self._seen() and any(widget.has_focus for widget in self._followed)

    @property
    def frame_tone(self) -> Tone:
        """The tone of the rule and its corners."""
        return "accent" if self.focused else "dim"

    @property
    def text(self) -> str:
        """All words of the line, for tests and screen readers."""
        return " ".join(piece.text for piece in (*self._left, *self._right))

    def show(
        self, left: Sequence[Piece], right: Sequence[Piece] = (), *, fill: str | None = None
    ) -> None:
        """Show other pieces; where the line is too short those at the left are cut.

        Args:
            left: From the left edge on.
            right: Up to the right edge.
            fill: The character between; None: as it was.
        """
        wanted = (tuple(left), tuple(right), self._fill if fill is None else fill)
        if wanted != (self._left, self._right, self._fill):
            self._left, self._right, self._fill = wanted
            self.refresh()

    def notify_style_update(self) -> None:
        """Draw anew where the screen has got room for frames, or has lost it, since it was drawn.

        The screen's class may come after its size: nothing of the line itself changes with it.
        """
        super().notify_style_update()
        if not self._frame or not self.is_attached:
            return
        if self.screen.has_class(FRAMED) != self._drawn_framed:
            self.refresh()

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all there is."""
        return container.width

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        base = self.rich_style
        if y:
            return Strip.blank(self.size.width, base)
        width = self.room
        right = self.segments(self._right, base)
        right_cells = sum(cell_len(segment.text) for segment in right)
        if right_cells > width:
            right, right_cells = [], 0
        room = width - right_cells
        left = self.line(self._left, room)
        gap = room - left.cell_length
        fill_style = base if self._fill == " " else base + self.tone_style(self.frame_tone)
        line = [*left, Segment(self._fill * gap, fill_style), *right]
        if self._frame:
            self._drawn_framed = self.screen.has_class(FRAMED)
            ends = _CORNERS if self._drawn_framed else (self._fill, self._fill)
            line = [Segment(ends[0], fill_style), *line, Segment(ends[1], fill_style)]
        return Strip(line, self.size.width)


class Lines(Toned):
    """Some lines of pieces; as high as there are lines."""

    DEFAULT_CSS = "Lines { height: auto; width: 1fr; }"

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name for it
        super().__init__(id=id)
        self._rows: tuple[tuple[Piece, ...], ...] = ()

    def show(self, rows: Sequence[Sequence[Piece]]) -> None:
        """Show other lines."""
        wanted = tuple(tuple(row) for row in rows)
        if wanted != self._rows:
            higher = len(wanted) != len(self._rows)
            self._rows = wanted
            self.refresh(layout=higher)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all there is."""
        return container.width

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Take a line for each."""
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        base = self.rich_style
        pieces = self._rows[y] if y < len(self._rows) else ()
        width = self.size.width
        return self.line(pieces, width).adjust_cell_length(width, base)
