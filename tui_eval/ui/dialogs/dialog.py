"""What all dialogs have in common: each is painted once, over a dimmed screen."""

import time
from functools import lru_cache
from typing import TypeVar

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.geometry import Size
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import ModalScreen

from tui_eval.ui.screens.base.laid_out_once import LaidOutOnce

T = TypeVar("T")

_TICK_S = 0.004
"""Seconds from a layout to the next tick while a dialog opens: enough for what it brings about."""
_MOST_PASSES = 6
"""Ticks after which a dialog is painted, whatever is still to be laid out."""
TOGETHER_S = 0.05
"""Seconds that the first picture may wait for what is read for it."""
_STYLES = 4096
"""Styles of what lies below that are kept with their dimmed ones."""


class PaintedOnce(LaidOutOnce[T]):
    """A dialog whose first picture is its last, until somebody presses a key.

    Textual paints after each layout, and once more where something has asked for that meanwhile: an
    opening takes several layouts, for children, scroll bars and focus, and each painting draws
    the screen below anew. Here a layout paints nothing; what is to be painted is painted with the
    next tick, together. While a dialog opens, ticks are short, and one that had to lay something
    out, or that came before a widget could say what it draws, leaves the painting to the next.
    """

    _lays_out = False
    _unpainted = False
    _passes = 0
    """Ticks that had to lay something out while it opens."""
    _opening = True
    _content_by = float("-inf")
    """Until when it is waited for what the first picture shows, by the monotonic clock."""

    def wait_for_content(self, seconds: float) -> None:
        """Paint nothing before `content_is_there`, or so many seconds have passed."""
        self._content_by = time.monotonic() + seconds

    def content_is_there(self) -> None:
        """Paint now: nothing more is waited for."""
        self._content_by = float("-inf")

    def _on_screen_resume(self, event: events.ScreenResume) -> None:
        # Textual calls its own after this one
        if self._opening:
            event.refresh_styles = False  # they have been applied as widgets were added

    def _refresh_layout(self, size: Size | None = None, scroll: bool = False) -> None:
        self._lays_out = True
        try:
            super()._refresh_layout(size, scroll)
        finally:
            self._lays_out = False

    def _compositor_refresh(self) -> None:
        if self._lays_out or self._opening:
            if not self._unpainted:
                self._unpainted = True
                self._paint_soon()
            return
        self._unpainted = False
        super()._compositor_refresh()

    def _paints_at_once(self) -> bool:
        return not self._opening and super()._paints_at_once()

    def _paint_soon(self) -> None:
        if self._opening:
            self.set_timer(_TICK_S, self._on_timer_update)
        else:
            self._update_timer.resume()

    def _on_timer_update(self) -> None:
        for below in self.app._background_screens:  # noqa: SLF001 - Textual offers no other way
            if below is not self:
                below._on_timer_update()  # noqa: SLF001 - what shows through comes along
        laid_out = self._layout_required or self._scroll_required  # both move scroll bars
        super()._on_timer_update()
        if not self._unpainted or not self.is_current:
            return
        if self._opening and time.monotonic() < self._content_by:
            self._paint_soon()
            return
        self._passes += 1
        unready = laid_out or self._is_awaited()
        if self._opening and unready and self._passes < _MOST_PASSES:
            self._paint_soon()
            return
        self._opening = False
        self._compositor_refresh()

    def _is_awaited(self) -> bool:
        """Whether a widget has something to say yet that is to be painted."""
        widgets = self._compositor.visible_widgets
        waiting = any(one._repaint_required for one in widgets)  # noqa: SLF001 - nothing tells it
        return waiting or self.message_queue_size > 0

    def render(self) -> RenderableType:
        """Draw the screen below, dimmed."""
        drawn = super().render()
        if isinstance(drawn, BackgroundScreen):
            return _Dimmed(drawn.screen, drawn.color)
        return drawn


class Dialog(PaintedOnce[T], ModalScreen[T]):
    """A question that stands on a screen until it is answered.

    What has the focus is said by each dialog when it is mounted: another that had it before, for a
    moment, would be styled and drawn for nothing.
    """

    AUTO_FOCUS = ""


class _Dimmed(BackgroundScreen):
    """The screen below as Textual draws it, with each style mixed only once."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        below = self.screen._compositor  # noqa: SLF001 - as in what it stands in for
        for text, style, control in console.render(below, options):
            yield Segment(text, style if control else _dimmed(style, self.color), control)


@lru_cache(maxsize=_STYLES)
def _dimmed(style: Style | None, color: Color) -> Style | None:
    ((_, dimmed, _),) = BackgroundScreen.process_segments([Segment("", style)], color)
    return dimmed
