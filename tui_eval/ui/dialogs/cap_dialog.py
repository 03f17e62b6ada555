"""A run has paused at its cap: how much more may it take?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widgets import Input

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.folded import Folded
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.toned import Piece


@dataclass(frozen=True, slots=True)
class CapQuestion:
    """What is asked of the person."""

    title: str
    told: str
    """How it stands."""
    label: str
    """Before the field."""
    suggested: str
    problem: Callable[[str], str | None]
    """Says what is wrong with what was typed; None: nothing."""
    whole: bool = False
    """Whether the cap is a whole number."""


class CapDialog(Dialog[str | None]):
    """Returns the cap that was typed; None: the run stays paused."""

    CSS_PATH = styles_dir() / "cap_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "go_on", "Go on", id="cap.yes", tooltip="Go on with this cap"),
        Binding("escape", "close", "Leave", id="cap.no", tooltip="Leave the run paused"),
    ]

    def __init__(self, question: CapQuestion) -> None:
        super().__init__()
        self.question = question
        self._problem = Bar(id="problem")

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        asked = self.question
        with Vertical(classes="box"):
            yield Folded([Para(asked.title, "strong"), Para(asked.told)])
            yield Bar()
            with Horizontal(classes="field"):
                yield Bar([Piece(asked.label)], classes="label")
                # a key that was meant for the run types nothing here
                takes = r"[0-9]*" if asked.whole else r"[0-9]*\.?[0-9]*"
                yield Input(asked.suggested, restrict=takes, id="cap", compact=True)
            yield self._problem
            yield Hints(("cap.yes", "go on"), ("cap.no", "leave it paused"))

    def on_mount(self) -> None:
        """Stand in the field."""
        self.query_one(".label").styles.width = len(self.question.label) + 1
        self.set_focus(self.query_one(Input))

    @on(Input.Changed)
    def _look(self) -> None:
        problem = self.question.problem(self.query_one(Input).value)
        self._problem.show([Piece(problem or "", "error")])

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.action_go_on()

    def action_go_on(self) -> None:
        """Go on with what was typed, if it makes sense."""
        typed = self.query_one(Input).value
        if self.question.problem(typed) is None:
            self.dismiss(typed)

    def action_close(self) -> None:
        """Leave the run paused."""
        self.dismiss(None)
