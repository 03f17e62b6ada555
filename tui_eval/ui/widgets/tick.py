"""Things of a form that are one line high: a box to tick, a button."""

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tui_eval.ui.widgets.toned import Piece, Toned


class Tick(Toned, can_focus=True):
    """A box to tick with `space`; `enter` is left to the form."""

    DEFAULT_CSS = "Tick { height: 1; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "Tick", show=False, id="form.tick", tooltip="Tick or untick"),
    ]

    ticked: reactive[bool] = reactive(False)

    @dataclass
    class Changed(Message):
        """It was ticked or unticked."""

        tick: "Tick"

    def __init__(
        self,
        label: str,
        ticked: bool,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(name=name, id=id)
        self.label = label
        self.set_reactive(Tick.ticked, ticked)

    def render_line(self, y: int) -> Strip:
        """Draw it."""
        box = "[x] " if self.ticked else "[ ] "
        pieces = [Piece(box, "accent" if self.ticked else "dim"), Piece(self.label)]
        base = self.rich_style
        return Strip(self.segments(pieces, base)).adjust_cell_length(self.size.width, base)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all there is."""
        return container.width

    def action_tick(self) -> None:
        """Tick or untick it."""
        self.ticked = not self.ticked
        self.post_message(self.Changed(self))

    def on_click(self) -> None:
        """Tick or untick it."""
        self.action_tick()


class Press(Toned, can_focus=True):
    """A button; `enter` and `space` press it."""

    DEFAULT_CSS = "Press { height: 1; width: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "press", "Press", show=False, id="form.press", tooltip="Do it"),
    ]

    @dataclass
    class Pressed(Message):
        """It was pressed."""

    def __init__(self, label: str) -> None:
        super().__init__()
        self._label = f"  {label}  "

    def render_line(self, y: int) -> Strip:
        """Draw it."""
        base = self.rich_style
        return Strip(self.segments([Piece(self._label, "strong")], base)).adjust_cell_length(
            self.size.width, base
        )

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Be as wide as the words."""
        return len(self._label)

    def action_press(self) -> None:
        """Say that it was pressed."""
        self.post_message(self.Pressed())

    def on_click(self) -> None:
        """Say that it was pressed."""
        self.action_press()
