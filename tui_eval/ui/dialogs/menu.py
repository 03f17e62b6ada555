"""A list to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import width_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice(Generic[T]):
    """One line of a menu."""

    label: str
    """May be foreign."""
    value: T
    note: str = ""
    """At the right: a count, say."""
    chosen: bool = False
    """Whether it is in force now."""


class Menu(Dialog[T | None], Generic[T]):
    """Returns the value of the line chosen with `enter`; None: none was."""

    CSS_PATH = styles_dir() / "menu.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "choose", "Choose", id="menu.choose", tooltip="Take this line"),
        Binding("escape,q", "close", "Close", id="menu.close", tooltip="Change nothing"),
    ]

    def __init__(self, title: str, choices: Sequence[Choice[T]], glyphs: Glyphs) -> None:
        super().__init__()
        self.choices = tuple(choices)
        self._title = title
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        notes = max([width_of(choice.note) for choice in self.choices] + [0])
        wide = max([width_of(choice.label) for choice in self.choices] + [len(self._title), 20])
        self._wanted = wide + notes + 12
        with Vertical(classes="box"):
            yield _Choices(self._title, self.choices, self._glyphs, notes)
            yield Hints(("menu.choose", "choose"), ("menu.close", "close"))

    def on_resize(self) -> None:
        """Be as large as what it says, and no larger than the screen."""
        size = self.app.size
        self.query_one(".box").styles.width = min(self._wanted, max(size.width - 4, 24))
        height = min(len(self.choices) + 1, max(size.height - 6, 3))
        self.query_one(_Choices).styles.height = height

    def on_mount(self) -> None:
        """Stand on what is in force."""
        self.on_resize()
        rows = self.query_one(_Choices)
        rows.resize_to(len(self.choices))
        chosen = [at for at, choice in enumerate(self.choices) if choice.chosen]
        rows.cursor = chosen[0] if chosen else 0
        self.set_focus(rows)

    def on_rows_opened(self) -> None:
        """Take the line that was clicked twice."""
        self.action_choose()

    def action_choose(self) -> None:
        """Take the line under the cursor."""
        if self.choices:
            self.dismiss(self.choices[self.query_one(_Choices).cursor].value)

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)


class _Choices(Rows):
    def __init__(
        self, title: str, choices: Sequence[Choice[T]], glyphs: Glyphs, notes: int
    ) -> None:
        fields = [Field(title, 16, share=1), Field("", notes, right=True)]
        super().__init__(fields, glyphs=glyphs, empty="nothing to choose from")
        self._choices: tuple[Choice[T], ...] = tuple(choices)

    def row(self, index: int) -> DrawnRow | None:
        choice = self._choices[index]
        return DrawnRow((Cell(choice.label), Cell(choice.note, "dim")), marked=choice.chosen)
