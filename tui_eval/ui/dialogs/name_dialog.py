"""A question that is answered with a name, or a few words."""

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.folded import Folded
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.toned import Piece

_SAID = 2
"""Lines for what may be written, or why it cannot be."""


class _Field(Input):
    """A field that takes a pasted text whole: its lines become one."""

    def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()  # Textual's own would drop all lines but the first
        event.stop()
        lines = (line.strip() for line in event.text.splitlines())
        self.replace(" ".join(filter(None, lines)), *sorted(self.selection))


class NameDialog(Dialog[str | None]):
    """One field; returns what was typed, or None where it was closed."""

    CSS_PATH = styles_dir() / "name_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "take", "Take", id="name.take", tooltip="Take this name"),
        Binding("escape", "close", "Close", id="name.close", tooltip="Do nothing"),
    ]

    def __init__(
        self,
        title: str,
        first: str,
        hint: str,
        why_not: Callable[[str], str | None],
        *,
        yes: str = "write",
    ) -> None:
        """Prepare the question.

        Args:
            title: What is asked; may hold foreign names.
            first: What stands in the field at first.
            hint: What may be written.
            why_not: Says why a name cannot be taken; None: it can.
            yes: What `enter` does, as a verb.
        """
        super().__init__()
        self._title = title
        self._hint = hint
        self._why_not = why_not
        self._yes = yes
        self.field = _Field(first, compact=True, select_on_focus=False)
        self._said = Folded()
        self._said.styles.height = _SAID

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box"):
            yield Bar([Piece(self._title, "strong")])
            yield self.field
            yield self._said
            yield Bar()
            yield Hints(("name.take", self._yes), ("name.close", "close"))

    def on_mount(self) -> None:
        """Stand in the field, before the ending."""
        self.set_focus(self.field)
        self.field.cursor_position = len(self.field.value)
        self._look()

    @on(Input.Changed)
    def _look(self) -> None:
        why_not = self._why_not(self.field.value)
        said = Para(self._hint, "dim") if why_not is None else Para(why_not, "ungraded")
        self._said.show([said])

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_take()

    def action_take(self) -> None:
        """Take the name, where it can be taken."""
        if self._why_not(self.field.value) is None:
            self.dismiss(self.field.value)

    def action_close(self) -> None:
        """Do nothing."""
        self.dismiss(None)
