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
        for name, words in self._hints:
            binding = screen_binding(self.screen, name)
            action = f"screen.{binding.action}" if "." not in binding.action else binding.action
            key = _NAMES.get(binding.key) or self.app.get_key_display(binding)
            pieces += [Piece(key, "accent", action), Piece(f" {words}   ", "plain", action)]
        self.show([*pieces, *self._more])


def screen_binding(screen: Screen[object], name: str) -> Binding:
    """Return a binding of a screen with the key it has now, even if a field takes that."""
    for active in screen.active_bindings.values():
        if active.binding.id == name:
            return active.binding
    made = Binding.make_bindings(type(screen).BINDINGS)
    return next(binding for binding in made if binding.id == name)
