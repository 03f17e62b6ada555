"""A question before something that cannot be taken back, or that costs."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.folded import Folded
from tui_eval.ui.widgets.form_controls import FormButton


class ConfirmDialog(Dialog[bool]):
    """Asks; `enter` is yes, `esc` no. Its two buttons name what is done."""

    CSS_PATH = styles_dir() / "confirm_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "answer(True)", "Yes", id="modal.yes", tooltip="Do it"),
        Binding("escape,q", "answer(False)", "No", id="modal.no", tooltip="Leave it as it is"),
        Binding("left,right", "app.focus_next", "Other", id="modal.other", tooltip="The other one"),
    ]

    def __init__(self, question: str, *, yes: str, no: str, more: str = "") -> None:
        """Prepare the question.

        Args:
            question: One line; may hold foreign names.
            yes: The act that `enter` does, as its button names it: `Cancel 3 trials`.
            no: What stays as it is then, likewise: `Keep them`.
            more: What follows from it.
        """
        super().__init__()
        self.question = question
        self._yes = FormButton(yes, "enter")
        self._no = FormButton(no, "esc")
        self._more = more

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        paras = [Para(self.question, "strong")]
        if self._more:
            paras.append(Para(self._more, "dim"))
        with Vertical(classes="box"):
            yield Folded(paras)
            yield Bar()
            with Horizontal(classes="buttons"):
                yield self._yes
                yield self._no

    def on_mount(self) -> None:
        """Stand on what `enter` does."""
        self.set_focus(self._yes)

    @on(FormButton.Pressed)
    def _pressed(self, event: FormButton.Pressed) -> None:
        self.dismiss(event.button is self._yes)

    def action_answer(self, yes: bool) -> None:
        """Give the answer."""
        self.dismiss(yes)
