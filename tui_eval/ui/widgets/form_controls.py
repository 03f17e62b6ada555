"""Things of a form that are one line high: labels, boxes to tick, words to choose from, buttons."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.hints import screen_bindings
from tui_eval.ui.widgets.toned import Piece, Toned, fit, width_of


class FieldLabel(Bar):
    """What stands before a field: the key that leads to it, and its name; a click does too."""

    DEFAULT_CSS = "FieldLabel { height: 1; width: 14; }"

    def __init__(self, binding: str = "", words: str = "") -> None:
        """Make the label.

        Args:
            binding: The id of the screen's binding whose key leads to the field; empty: none does.
            words: The field's name; empty: it has one of its own, and the label is the key alone.
        """
        super().__init__()
        self._binding = binding
        self._words = words
        self.set_class(bool(binding) and not words, "-key")

    def on_mount(self) -> None:
        """Look which key it is."""
        if self._binding:
            (found,) = screen_bindings(self.screen, [self._binding])
            action = f"screen.{found.action}"
            key = self.app.get_key_display(found)
            self.show([Piece(key, "accent", action), Piece(f" {self._words}", "dim", action)])


class TickBox(Toned, can_focus=True):
    """A box to tick with `space`; `enter` is left to the form."""

    DEFAULT_CSS = "TickBox { height: 1; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "tick", "Tick", show=False, id="form.tick", tooltip="Tick or untick"),
    ]

    ticked: reactive[bool] = reactive(False)

    @dataclass
    class Changed(Message):
        """It was ticked or unticked."""

        tick: "TickBox"

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
        self.set_reactive(TickBox.ticked, ticked)

    def render_line(self, y: int) -> Strip:
        """Draw it."""
        box = "[x] " if self.ticked else "[ ] "
        pieces = [Piece(box, "accent" if self.ticked else "dim"), Piece(self.label)]
        base = self.rich_style
        width = self.size.width
        return self.line(pieces, width).adjust_cell_length(width, base)

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


class ChoiceField(Toned, can_focus=True):
    """One of a few words, chosen with `space`, `left` and `right`."""

    DEFAULT_CSS = "ChoiceField { height: 1; width: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "pick(1)", "Next", show=False, id="form.pick", tooltip="The next"),
        Binding(
            "left",
            "pick(-1)",
            "Before",
            show=False,
            id="form.pick-before",
            tooltip="The one before",
        ),
    ]

    picked: reactive[int] = reactive(0)

    @dataclass
    class Changed(Message):
        """Another word was chosen."""

        pick: "ChoiceField"

    def __init__(
        self,
        words: Sequence[str],
        *,
        first: int = 0,
        id: str | None = None,  # noqa: A002 - Textual's name for it
    ) -> None:
        super().__init__(id=id)
        self.words = tuple(words)
        self.set_reactive(ChoiceField.picked, first)

    @property
    def word(self) -> str:
        """The one that is chosen."""
        return self.words[self.picked]

    @property
    def _first(self) -> int:
        """The word that is drawn first: the chosen one is in view, however many there are."""
        first, end = 0, sum(len(word) + 2 for word in self.words[: self.picked + 1])
        while end > self.size.width and first < self.picked:
            end -= len(self.words[first]) + 2
            first += 1
        return first

    def render_line(self, y: int) -> Strip:
        """Draw it."""
        pieces = []
        for at, word in enumerate(self.words[self._first :], self._first):
            chosen = at == self.picked
            # not by its colour alone
            pieces.append(
                Piece(f"({word})" if chosen else f" {word} ", "accent" if chosen else "dim")
            )
        base = self.rich_style
        width = self.size.width
        return self.line(pieces, width).adjust_cell_length(width, base)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all there is."""
        return container.width

    def action_pick(self, by: int) -> None:
        """Choose the next word, or with -1 the one before."""
        self.picked = (self.picked + by) % len(self.words)
        self.post_message(self.Changed(self))

    def on_click(self, event: Click) -> None:
        """Choose the word that was clicked."""
        start = 0
        for at, word in enumerate(self.words[self._first :], self._first):
            end = start + len(word) + 2
            if start <= event.x < end:
                self.picked = at
                self.post_message(self.Changed(self))
            start = end


class FormButton(Toned, can_focus=True):
    """A button; `enter` and `space` press it."""

    DEFAULT_CSS = "FormButton { height: 1; width: auto; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,enter", "press", "Press", show=False, id="form.press", tooltip="Do it"),
    ]

    @dataclass
    class Pressed(Message):
        """It was pressed."""

        button: "FormButton"

    def __init__(self, label: str, key: str = "") -> None:
        """Make the button.

        Args:
            label: What it does; may hold foreign names.
            key: The key of the screen that does it too; stands after it.
        """
        super().__init__()
        self._label = f" {label}"
        self._key = f"{key} " if key else ""

    def render_line(self, y: int) -> Strip:
        """Draw it."""
        width = self.size.width
        room = width - width_of(self._key) - 1
        label = fit(self._label, min(width_of(self._label), room))  # the key stays
        pieces = [Piece(f"{label} ", "strong"), *([Piece(self._key)] if self._key else [])]
        return self.line(pieces, width).adjust_cell_length(width, self.rich_style)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Be as wide as the words."""
        return width_of(self._label) + 1 + width_of(self._key)

    def action_press(self) -> None:
        """Say that it was pressed."""
        self.post_message(self.Pressed(self))

    def on_click(self) -> None:
        """Say that it was pressed."""
        self.action_press()
