"""The last line: the keys that do something now, the others greyed; each can be clicked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual.binding import ActiveBinding, Binding
from textual.events import Click
from textual.geometry import Size
from textual.message import Message
from textual.screen import Screen
from textual.strip import Strip

from tui_eval.ui.keys.available_actions import place
from tui_eval.ui.widgets.toned import Piece, Toned

_MARGIN = "  "
WHILE_POSSIBLE = Binding.Group("while possible")
"""Of keys that leave the line where they make no sense: another stands in their place then."""


@dataclass(frozen=True, slots=True)
class _Key:
    """One key as it is drawn."""

    label: str
    words: str
    active: ActiveBinding
    start: int
    end: int


class KeyLine(Toned):
    """Keys with their words, as many as fit; the last one always leads to all of them."""

    DEFAULT_CSS = "KeyLine { dock: bottom; height: 1; width: 1fr; }"

    @dataclass
    class Refused(Message):
        """A greyed key was clicked."""

        active: ActiveBinding

    def __init__(
        self,
        words: Callable[[Binding], str] = lambda binding: binding.description,
        order: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """Make the line.

        Args:
            words: Gives what stands beside a key just now.
            order: Gives the ids of bindings in the order they are wanted in just now, whatever has
                them; the others follow.
        """
        super().__init__()
        self._words = words
        self._order = order
        self._keys: tuple[_Key, ...] = ()

    @property
    def text(self) -> str:
        """The line's words, for tests."""
        return "  ".join(f"{key.label} {key.words}" for key in self._keys)

    def on_mount(self) -> None:
        """Keep up with what can be done."""
        self.screen.bindings_updated_signal.subscribe(self, self._look_again)
        self._look_again(self.screen)

    def on_resize(self) -> None:
        """Choose again how many fit."""
        self._look_again(self.screen)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Take all there is."""
        return container.width

    def _look_again(self, screen: Screen[object]) -> None:
        keys = self._chosen(screen)
        if keys != self._keys:
            self._keys = keys
            self.refresh()

    def _chosen(self, screen: Screen[object]) -> tuple[_Key, ...]:
        shown: dict[str, ActiveBinding] = {}
        more: ActiveBinding | None = None
        for active in screen.active_bindings.values():
            if active.binding.id == "help":
                more = active
            elif active.binding.show and (
                active.enabled or active.binding.group is not WHILE_POSSIBLE
            ):
                shown.setdefault(active.binding.action, active)
        # a key of the person's own stands where the usual one did
        nodes = list(dict.fromkeys(active.node for active in shown.values()))
        ranks = {name: rank for rank, name in enumerate(self._order())}

        def wanted(one: ActiveBinding) -> tuple[int, int, int]:
            rank = ranks.get(one.binding.id or "", len(ranks))
            return rank, nodes.index(one.node), place(one)

        in_order = sorted(shown.values(), key=wanted)
        words = [(active, self._words(active.binding)) for active in in_order]
        last = [(more, "more")] if more is not None else []
        kept, start = [], len(_MARGIN)
        room = self.size.width - sum(self._cells(active, text) + 2 for active, text in last)
        taken: set[str] = set()  # of two keys that read alike the first that does something
        for active, text in words:
            end = start + self._cells(active, text)
            if end <= room and text not in taken:
                taken.update([text] if active.enabled else [])
                kept.append(
                    _Key(self.app.get_key_display(active.binding), text, active, start, end)
                )
                start = end + 2
        for active, text in last:
            end = start + self._cells(active, text)
            kept.append(_Key(self.app.get_key_display(active.binding), text, active, start, end))
        return tuple(kept)

    def _cells(self, active: ActiveBinding, words: str) -> int:
        return cell_len(self.app.get_key_display(active.binding)) + 1 + cell_len(words)

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        base = self.rich_style
        pieces = [Piece(_MARGIN)]
        for key in self._keys:
            live = key.active.enabled
            pieces.append(Piece(key.label, "accent" if live else "dim"))
            pieces.append(Piece(f" {key.words}  ", "plain" if live else "dim"))
        return Strip(self.segments(pieces, base)).adjust_cell_length(self.size.width, base)

    async def on_click(self, event: Click) -> None:
        """Do what the key under the mouse does."""
        for key in self._keys:
            if key.start <= event.x < key.end:
                event.stop()
                if key.active.enabled:
                    await self.app.run_action(key.active.binding.action, key.active.node)
                else:
                    self.post_message(self.Refused(key.active))
