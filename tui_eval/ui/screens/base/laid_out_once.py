"""A screen that is laid out only where its size has changed, and painted at once after a key."""

import time
from typing import TYPE_CHECKING, Generic, TypeVar

from textual import events
from textual.app import App
from textual.geometry import Size
from textual.screen import Screen

T = TypeVar("T")

_AFTER_KEY_S = 0.1
"""Seconds after a key in which what changes is taken for what the key brings about."""

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

    What changes is painted with the next tick of a clock, sixty times a second. What a key brings
    about is not kept waiting for that: it is painted as soon as the screen has taken note of it.
    """

    _key_at = float("-inf")
    """When a key was pressed last, by the monotonic clock."""

    def key_pressed(self) -> None:
        """Paint what changes in the next moment without waiting for a tick."""
        self._key_at = time.monotonic()

    def _paints_at_once(self) -> bool:
        """Whether what is to be painted waits for no tick."""
        return time.monotonic() - self._key_at < _AFTER_KEY_S

    async def _on_idle(self, _: events.Idle) -> None:
        # Textual calls its own after this one: it has a tick paint what is left
        if self._paints_at_once() and self._is_changed():
            self._on_timer_update()

    def _is_changed(self) -> bool:
        """Whether there is anything to lay out or to paint."""
        to_lay_out = self._layout_required or self._scroll_required
        return to_lay_out or self._repaint_required or bool(self._dirty_widgets)

    def _post_register(self, app: App[object]) -> None:
        """Have the classes of the size from the first: with others everything is styled twice."""
        super()._post_register(app)
        breakpoints = (
            (app.size.width, self.HORIZONTAL_BREAKPOINTS or app.HORIZONTAL_BREAKPOINTS or []),
            (app.size.height, self.VERTICAL_BREAKPOINTS or app.VERTICAL_BREAKPOINTS or []),
        )
        for cells, of_kind in breakpoints:
            self.add_class(*self._get_breakpoint_classes(cells, of_kind), update=False)

    def _screen_resized(self, size: Size) -> None:
        if size != self._compositor.size:
            super()._screen_resized(size)

    def _on_timer_update(self) -> None:
        if self.is_current and self._repaint_required:
            # maybe for a part of it alone, where a screen below changed: Textual forgets the rest
            self._compositor.update_widgets(self._dirty_widgets)
        super()._on_timer_update()

    def _compositor_refresh(self) -> None:
        # Textual takes all for painted then, also what came after the layout that this belongs to
        self._compositor.update_widgets(self._dirty_widgets)
        super()._compositor_refresh()
        if self is not self.app.screen:
            # what covers it is told; Textual would tell it again with every message that comes
            self._repaint_required = False
