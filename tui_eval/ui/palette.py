"""Every action of the screen in the palette, under the words of its key; and the themes."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import Any, NamedTuple

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui_eval.ui.offered import offered
from tui_eval.ui.themes import THEMES

_TOLD = 0.3
"""How much a match counts in what is told of an action, beside one in its name."""


class _Entry(NamedTuple):
    """One line of the palette."""

    words: str
    do: Callable[[], Coroutine[Any, Any, None]]
    told: str
    """What comes of it."""


class Actions(Provider):
    """Offers what the keys do; what makes no sense now is left out."""

    async def discover(self) -> Hits:
        """Offer everything."""
        for words, do, told in self._entries():
            yield DiscoveryHit(Content(words), do, text=words, help=told)

    async def search(self, query: str) -> Hits:
        """Offer what has the letters asked for."""
        matcher = self.matcher(query)
        for words, do, told in self._entries():
            # what is told of it counts too, after all that is called so
            likeness = matcher.match(words) or matcher.match(told) * _TOLD
            if likeness > 0:
                yield Hit(likeness, matcher.highlight(words), do, text=words, help=told)

    def _entries(self) -> Iterator[_Entry]:
        for one in offered(self.screen):
            binding = one.active.binding
            if one.active.enabled:
                words = f"{binding.description}  ({self.app.get_key_display(binding)})"
                yield _Entry(words, partial(self._do, one.active), binding.tooltip)
        for name in THEMES:
            if name != self.app.theme:
                told = "Changes the colours; remembered"
                yield _Entry(f"Theme: {name}", partial(self._wear, name), told)

    async def _do(self, active: ActiveBinding) -> None:
        await self.app.run_action(active.binding.action, active.node)

    async def _wear(self, name: str) -> None:
        await self.app.run_action(f"app.wear({name!r})")
