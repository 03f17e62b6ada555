"""The least that a Textual app does for a key: a cursor on some lines; it is asked in turns."""

from typing import ClassVar

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

_ROWS = 20


class Lines(Widget, can_focus=True):
    """Lines one of which has a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "step(1)", "Down"),
        Binding("k", "step(-1)", "Up"),
        Binding("home", "step(-20)", "First"),
    ]
    cursor: reactive[int] = reactive(0, repaint=False)

    def render_line(self, y: int) -> Strip:
        """Draw a line as long as one of the table."""
        lead = "▸" if y == self.cursor + 1 else " "
        text = f"{lead} c{y - 1}     pass" if y else "  case  verdict"
        return Strip([Segment(text)]).adjust_cell_length(self.size.width)

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw the two lines anew."""
        for row in (old, new):
            self.refresh(Region(0, row + 1, self.size.width, 1))

    def action_step(self, by: int) -> None:
        """Go so many lines on."""
        self.cursor = min(max(self.cursor + by, 0), _ROWS)


class FloorApp(App[None]):
    """An app of these lines alone."""

    def compose(self) -> ComposeResult:
        """Lay them out."""
        yield Lines()
