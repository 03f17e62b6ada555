"""The last line of a box: its keys, as the person has them, with what they do."""

from collections.abc import Sequence

from textual.binding import Binding
from textual.screen import Screen

from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.toned import Piece

_NAMES = {"enter": "enter", "escape": "esc", "down": "down", "up": "up"}
"""Keys that are said by name here, where there is room."""


class Hints(Bar):
    """Keys of the screen it stands on; each can be clicked."""

    def __init__(self, *hints: tuple[str, str], more: Sequence[Piece] = ()) -> None:
        """Make the line.

        Args:
            hints: Ids of the screen's bindings, each with what the key does.
            more: Stands after them.
        """
        super().__init__()
        self._hints = hints
        self._more = more

    def on_mount(self) -> None:
        """Look which keys they are."""
        pieces: list[Piece] = []
        found = screen_bindings(self.screen, [name for name, _ in self._hints])
        for (_, words), binding in zip(self._hints, found, strict=True):
            action = f"screen.{binding.action}" if "." not in binding.action else binding.action
            key = _NAMES.get(binding.key) or self.app.get_key_display(binding)
            pieces += [Piece(key, "accent", action), Piece(f" {words}   ", "plain", action)]
        self.show([*pieces, *self._more])


def screen_bindings(screen: Screen[object], names: Sequence[str]) -> list[Binding]:
    """Return bindings of a screen with the keys they have now, even if a field takes these."""
    found: dict[str | None, Binding] = {}
    for active in screen.active_bindings.values():
        found.setdefault(active.binding.id, active.binding)
    for binding in Binding.make_bindings(type(screen).BINDINGS):
        found.setdefault(binding.id, binding)
    return [found[name] for name in names]
