"""Textual's app, without what it does again although nothing has changed."""

from textual.app import App
from textual.await_remove import AwaitRemove
from textual.dom import DOMNode
from textual.screen import Screen
from textual.widget import Widget


class LeanApp(App[None]):
    """An app that writes to its terminal only what is another than before."""

    _shape = "default"
    """Of the mouse's pointer, as the terminal was told last, or has it from the first."""

    def _set_pointer_shape(self, shape: str) -> None:
        # every screen that is opened or closed begins with its own, mostly the same
        if shape != self._shape:
            self._shape = shape
            super()._set_pointer_shape(shape)

    def _prune(self, *nodes: Widget, parent: DOMNode | None = None) -> AwaitRemove:
        """Take widgets away, and have laid out anew what they stood in.

        What a screen covered is as it was: it has been painted when the screen left the stack.
        """
        screens = all(isinstance(node, Screen) for node in nodes)
        return super()._prune(*nodes, parent=None if screens else parent)
