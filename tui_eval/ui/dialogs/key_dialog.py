"""The key that is pressed next is an action's new one."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.keys.keymap import key_named
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.folded import Folded
from tui_eval.ui.widgets.toned import Piece

_SAID = 3
"""Lines for why a key cannot be had; they are there from the first, so that nothing moves."""


class KeyDialog(Dialog[str | None]):
    """Returns the key that was pressed; None: the action keeps its own.

    Every key is taken here but `escape`, and `ctrl+q`, which quits.
    """

    CSS_PATH = styles_dir() / "key_dialog.tcss"
    TAKES_EVERY_KEY: ClassVar[bool] = True

    def __init__(self, words: str, now: str, why_not: Callable[[str], str | None]) -> None:
        """Prepare the question.

        Args:
            words: What the action does.
            now: Its keys, as they are shown.
            why_not: Says why the action cannot have a key; None: it can.
        """
        super().__init__()
        self._words = words
        self._now = now
        self._why_not = why_not
        self._said = Folded(id="said")

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box"):
            yield Folded([Para(self._words, "strong")])
            yield Bar([Piece("now ", "dim"), Piece(self._now, "accent")])
            self._said.styles.height = _SAID
            yield self._said
            yield Bar(
                [
                    Piece("press the new key   "),
                    Piece("esc", "accent", "screen.close"),
                    Piece(" leaves it", "plain", "screen.close"),
                ]
            )

    def on_key(self, event: events.Key) -> None:
        """Take the key, or say why it cannot be."""
        if event.key == "ctrl+q":
            return  # the app takes it
        event.stop()
        event.prevent_default()
        if event.key == "escape":
            self.dismiss(None)
            return
        key = key_named(event.key)
        wrong = self._why_not(key) if key is not None else f"{event.key} has no name to write down"
        if wrong is None:
            self.dismiss(key)
            return
        self._said.show([Para(wrong, "ungraded")])

    def action_close(self) -> None:
        """Leave the action its key."""
        self.dismiss(None)
