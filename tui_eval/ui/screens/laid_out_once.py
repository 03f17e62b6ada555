"""A screen that is laid out only where its size has changed."""

from typing import TYPE_CHECKING, Generic, TypeVar

from textual.geometry import Size
from textual.screen import Screen

T = TypeVar("T")

if TYPE_CHECKING:

    class _OfScreen(Screen[T]):
        pass

else:

    class _OfScreen(Generic[T]):
        """Nothing: another base that is a node would hide the style sheets of the first."""


class LaidOutOnce(_OfScreen[T]):
    """A screen that heeds a size only where it is another than it is laid out for.

    Textual tells a screen of its size after its first layout too, and with it all screens that
    show through: each would be laid out anew, and what they are covered by painted again.
    """

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:
            super()._screen_resized(size)

    def _compositor_refresh(self) -> None:
        super()._compositor_refresh()
        if self is not self.app.screen:
            # what covers it is told; Textual would tell it again with every message that comes
            self._repaint_required = False
