"""Parts of the screen that act: each says why an action of its own is not available now."""

from typing import Literal

from textual.widget import Widget

from tui_eval.model.visible import visible
from tui_eval.ui.keys.restrictions import UNRESTRICTED, Restrictions

Severity = Literal["information", "warning", "error"]

_LONGEST = 600
_ACTION = "action_"
"""What Textual has before the name of an action's method."""


class Acting:
    """A screen, or a part of one with keys of its own.

    `why_not` is the one truth about what can be done now: it greys keys and answers presses.
    """

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        return None

    @property
    def restrictions(self) -> Restrictions:
        """What the session does not permit, whatever `why_not` says."""
        return UNRESTRICTED

    def not_permitted(self, action: str) -> str | None:
        """Return why the session does not permit an action of this node; None: it does."""
        return self.restrictions.why_not_done(type(self), action)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Grey what is not available now, and what the session does not permit."""
        refused = self.not_permitted(action) or self.why_not(action)
        return True if refused is None else None

    def delegate_to(self, *parts: object) -> None:
        """Have actions of this node done by parts: by their methods `action_…`.

        Textual looks for an action's method on the node that has the key. The keys of a screen are
        bound on what stands around everything that can have the focus, while the methods belong
        to what they change: a list, a detail, the requests of a run.
        """
        for part in parts:
            for name in vars(type(part)):
                if name.startswith(_ACTION):
                    assert not hasattr(self, name), f"{name} is done by two parts"
                    setattr(self, name, getattr(part, name))


def say(
    widget: Widget, text: str, severity: Severity = "information", *, seconds: float = 4.0
) -> None:
    """Show a word in a corner for a while, in place of the last one; may hold foreign text."""
    widget.app.clear_notifications()
    widget.notify(visible(text[:_LONGEST]), severity=severity, timeout=seconds, markup=False)
