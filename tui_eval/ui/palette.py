"""Every action of the screen in the palette, under the words of its key."""

from collections.abc import Iterator
from functools import partial

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tui_eval.ui.themes import THEMES

_LASTS = "Changes the colours; remembered"
_TOLD = 0.3
"""How much a match counts in what is told of an action, beside one in its name."""


class Actions(Provider):
    """Offers what the keys do; what makes no sense now is left out."""

    async def discover(self) -> Hits:
        """Offer everything."""
        for words, active in self._offered():
            yield DiscoveryHit(
                Content(words),
                partial(self._do, active),
                text=words,
                help=active.binding.tooltip,
            )

    async def search(self, query: str) -> Hits:
        """Offer what has the letters asked for."""
        matcher = self.matcher(query)
        for words, active in self._offered():
            told = active.binding.tooltip
            # what is told of it counts too, after all that is called so
            likeness = matcher.match(words) or matcher.match(told) * _TOLD
            if likeness > 0:
                yield Hit(
                    likeness,
                    matcher.highlight(words),
                    partial(self._do, active),
                    text=words,
                    help=told,
                )

    def _offered(self) -> Iterator[tuple[str, ActiveBinding]]:
        seen: set[str] = set()
        active_bindings = self.screen.active_bindings.values()
        # moving about is better done with its keys: it comes last
        for active in sorted(active_bindings, key=lambda one: _moves(one.binding.id)):
            binding = active.binding
            if binding.id is None or not active.enabled or binding.action in seen:
                continue
            seen.add(binding.action)
            yield f"{binding.description}  ({self.app.get_key_display(binding)})", active

    async def _do(self, active: ActiveBinding) -> None:
        await self.app.run_action(active.binding.action, active.node)


def _moves(binding_id: str | None) -> bool:
    return (binding_id or "").startswith(("table.", "page."))


class Themes(Provider):
    """Offers the themes that are not worn now."""

    async def discover(self) -> Hits:
        """Offer them all."""
        for name in self._others():
            words = f"Theme: {name}"
            yield DiscoveryHit(Content(words), partial(self._wear, name), text=words, help=_LASTS)

    async def search(self, query: str) -> Hits:
        """Offer those that have the letters asked for."""
        matcher = self.matcher(query)
        for name in self._others():
            words = f"Theme: {name}"
            likeness = matcher.match(words)
            if likeness > 0:
                yield Hit(
                    likeness,
                    matcher.highlight(words),
                    partial(self._wear, name),
                    text=words,
                    help=_LASTS,
                )

    def _others(self) -> list[str]:
        return [name for name in THEMES if name != self.app.theme]

    async def _wear(self, name: str) -> None:
        await self.app.run_action(f"app.wear({name!r})")
