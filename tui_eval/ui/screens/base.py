"""What all screens have in common: actions that say why they cannot be done, and going back."""

from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.timer import Timer

from tui_eval.model.visible import visible
from tui_eval.ui.bench import Bench
from tui_eval.ui.widgets.keyline import KeyLine

if TYPE_CHECKING:
    from tui_eval.store.follow import Pulse


class BaseScreen(Screen[None]):
    """A screen whose every action is a binding with an id and a tooltip.

    `why_not` is the one truth about what can be done now: it greys keys and answers presses.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "back",
            "one step back",
            show=False,
            id="back",
            tooltip="Close what is open, take back what is narrowed or marked, else leave",
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

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        self._clocks: list[Timer] = []

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
        self.bench.pulse.subscribe(self, heed, immediate=True)

    def on_screen_suspend(self) -> None:
        """Rest while covered."""
        for clock in self._clocks:
            clock.pause()

    def on_screen_resume(self) -> None:
        """Go on."""
        for clock in self._clocks:
            clock.resume()

    def why_not(self, action: str) -> str | None:
        """Say why an action makes no sense now; None: it does."""
        return None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what makes no sense now."""
        return True if self.why_not(action) is None else None

    def answer(self, event: events.Key) -> None:
        """Say why a greyed key does nothing."""
        active = self.active_bindings.get(event.key)
        if active is None or active.enabled or not isinstance(active.node, BaseScreen):
            return
        reason = active.node.why_not(active.binding.action.partition("(")[0])
        if reason is not None:
            event.prevent_default()
            self.say(reason)

    def on_key_line_refused(self, event: KeyLine.Refused) -> None:
        """Say why what was clicked cannot be done."""
        event.stop()
        self.refuse(event.action)

    def refuse(self, action: str) -> None:
        """Say why an action cannot be done now."""
        reason = self.why_not(action.partition("(")[0])
        if reason is not None:
            self.say(reason)

    def say(
        self,
        text: str,
        severity: Literal["information", "warning", "error"] = "information",
        *,
        seconds: float = 4.0,
    ) -> None:
        """Show a word in a corner for a while, in place of the last one; may hold foreign text."""
        self.app.clear_notifications()
        self.notify(visible(text[:600]), severity=severity, timeout=seconds, markup=False)

    async def action_back(self) -> None:
        """Go one step back: close what is open, else leave the screen."""
        await self.action_leave()

    async def action_leave(self) -> None:
        """Go back to the screen before."""
        self.dismiss()
