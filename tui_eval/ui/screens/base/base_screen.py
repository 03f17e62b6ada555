"""What all screens have in common: actions that say why they cannot be done, and going back."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import ActiveBinding, Binding, BindingType
from textual.screen import Screen
from textual.timer import Timer

from tui_eval.ui.context import AppContext
from tui_eval.ui.keys.acting import Acting, Severity, say
from tui_eval.ui.keys.available_actions import bound_to
from tui_eval.ui.keys.restrictions import Restrictions
from tui_eval.ui.screens.base.laid_out_once import LaidOutOnce
from tui_eval.ui.widgets.keyline import KeyLine

if TYPE_CHECKING:
    from tui_eval.store.follow import Pulse


class BaseScreen(LaidOutOnce[None], Acting, Screen[None]):
    """A screen whose every action is a binding with an id and a tooltip."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "back",
            "one step back",
            show=False,
            id="back",
            tooltip="One step back: close, widen, unmark, else leave",
        ),
        Binding(
            "q",
            "leave",
            "leave this screen",
            show=False,
            id="leave",
            tooltip="To the screen before; from a first screen: quit",
        ),
    ]

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.context = context
        self._clocks: list[Timer] = []
        self.leaving = False
        """Whether the screen leaves as soon as nothing covers it any more."""

    @property
    def restrictions(self) -> Restrictions:
        """What the session does not permit."""
        return self.context.restrictions

    # A screen that is covered does nothing: whatever reaches it would draw all screens anew,
    # however little has changed.

    def every(self, seconds: float, act: Callable[[], object]) -> None:
        """Do something now and again, as long as nothing covers the screen."""
        self._clocks.append(self.set_interval(seconds, act))

    def on_pulse(self, act: Callable[[], object]) -> None:
        """Do something when the store changed and nothing covers the screen."""

        def heed(_: "Pulse") -> None:
            if self.is_active:
                act()

        # at once: as a message it would wake the screen even where it is covered
        self.context.pulse.subscribe(self, heed, immediate=True)

    def on_screen_suspend(self) -> None:
        """Rest while covered."""
        for clock in self._clocks:
            clock.pause()

    def on_screen_resume(self) -> None:
        """Go on."""
        for clock in self._clocks:
            clock.resume()
        if self.leaving and self.is_active:
            self.dismiss()

    def leave_when_seen(self) -> None:
        """Leave by itself: now, or once nothing covers the screen any more."""
        self.leaving = True
        if self.is_active:
            self.dismiss()

    def answer(self, event: events.Key) -> None:
        """Say why a greyed key does nothing."""
        active = bound_to(self, event.key)
        if active is not None and self.refuse(active):
            event.prevent_default()

    def on_key_line_refused(self, event: KeyLine.Refused) -> None:
        """Say why what was clicked cannot be done."""
        event.stop()
        self.refuse(event.active)

    def refuse(self, active: ActiveBinding) -> bool:
        """Say why an action cannot be done now; False: it can, or nobody knows why not."""
        reason = self.restrictions.why_not(active.binding.id or "")
        if reason is None and isinstance(active.node, Acting):
            reason = active.node.why_not(active.binding.action.partition("(")[0])
        if reason is not None:
            self.say(f"not available: {reason}")
        return reason is not None

    def permits(self, action: str) -> bool:
        """Say whether the session permits an action that no key was pressed for; tell why not."""
        reason = self.not_permitted(action)
        if reason is not None:
            self.say(f"not available: {reason}")
        return reason is None

    def say(self, text: str, severity: Severity = "information", *, seconds: float = 4.0) -> None:
        """Show a word in a corner for a while, in place of the last one; may hold foreign text."""
        say(self, text, severity, seconds=seconds)

    async def action_back(self) -> None:
        """Go one step back: close what is open, else leave the screen."""
        await self.action_leave()

    async def action_leave(self) -> None:
        """Go back to the screen before."""
        self.dismiss()
