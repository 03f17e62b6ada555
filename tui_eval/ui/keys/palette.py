"""The palette: every action of the screen under the words of its key, suites, runs, and themes."""

from collections.abc import Callable, Coroutine, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.binding import ActiveBinding
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.fuzzy import Matcher

from tui_eval.model.visible import visible_line
from tui_eval.ui.context import AppContext
from tui_eval.ui.keys.available_actions import offered
from tui_eval.ui.navigation import LaunchSuite, OpenRun
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.theme.themes import THEMES
from tui_eval.ui.widgets.toned import fit

if TYPE_CHECKING:
    from tui_eval.store.rows import RunRow

_TOLD = 0.3
"""How much a match counts in what is told of an action, beside one in its name."""
_RUNS = 30
"""Runs that are offered, the newest."""
_LONGEST = 120
WIDTH = 84
"""Cells of the palette, as its style sheet has them."""
_AROUND = 7
"""Of them, cells that are no text: frame, padding, scroll bar."""
_WORDS = 24
"""Cells of an action's name, where the screen has room; what is told of it has two thirds."""


class _Entry(NamedTuple):
    """One line of the palette."""

    words: str
    do: Callable[[], Coroutine[Any, Any, None]]
    told: str
    """What comes of it; never foreign."""
    key: str
    """Its key, as it is shown; empty: it has none."""


class Actions(Provider):
    """Offers what the keys do, what is not available now left out; then where one may go."""

    _runs: "list[RunRow]" = []  # noqa: RUF012 - replaced, never changed

    async def startup(self) -> None:
        """Look which runs there are."""
        from tui_eval.store.read import run_queries

        client = self._app_context.client
        if client.opened:
            self._runs = await client.read(run_queries.runs, limit=_RUNS)

    async def discover(self) -> Hits:
        """Offer everything."""
        for entry in self._entries():
            line = _line(entry, self._room)
            yield DiscoveryHit(Content(line), entry.do, text=entry.words)

    async def search(self, query: str) -> Hits:
        """Offer what has the letters asked for."""
        matcher = self.matcher(query)
        for entry in self._entries():
            # what is told of it counts too, after all that is called so
            likeness = matcher.match(entry.words) or matcher.match(entry.told) * _TOLD
            if likeness > 0:
                line = _highlighted(matcher, entry.words, _line(entry, self._room))
                yield Hit(likeness, line, entry.do, text=entry.words)

    @property
    def _app_context(self) -> AppContext:
        assert isinstance(self.screen, BaseScreen), "boxes have no palette"
        return self.screen.context

    @property
    def _room(self) -> int:
        return min(WIDTH, self.app.size.width) - _AROUND

    def _entries(self) -> Iterator[_Entry]:
        app = self.app
        for one in offered(self.screen):
            binding = one.active.binding
            if one.active.enabled and binding.id != "palette":
                key = app.get_key_display(binding)
                do = partial(self._do, one.active)
                yield _Entry(binding.description, do, binding.tooltip, key)
        launching = self._app_context.restrictions.why_not("suites.launch") is None
        for entry in self._app_context.suites if launching else ():
            if entry.usable or entry.wants_trust:
                words = visible_line(f"Launch {entry.name}…", _LONGEST)
                yield _Entry(words, partial(self._launch, str(entry.path)), "A suite: its form", "")
        for run in self._runs:
            label = f"  {run.label}" if run.label else ""
            words = visible_line(f"Open {run.name}{label}", _LONGEST)
            told = "A run, live" if run.live else f"A run, {run.state}"
            yield _Entry(words, partial(self._open, run.id), told, "")
        for name in THEMES:
            if name != app.theme:
                told = "Changes the colours; remembered"
                yield _Entry(f"Theme {name}", partial(self._set_theme, name), told, "")

    async def _do(self, active: ActiveBinding) -> None:
        await self.app.run_action(active.binding.action, active.node)

    async def _launch(self, path: str) -> None:
        self.screen.post_message(LaunchSuite(path))

    async def _open(self, run_id: int) -> None:
        self.screen.post_message(OpenRun(run_id))

    async def _set_theme(self, name: str) -> None:
        await self.app.run_action(f"set_theme({name!r})")


def _line(entry: _Entry, room: int) -> str:
    """Return an entry in one line: its words, what is told of it, and its key at the right."""
    words = entry.words.ljust(min(_WORDS, room // 3) - 2)
    left = max(room - len(entry.key) - 1, 0)
    return f"{fit(f'{words}  {entry.told}', left)} {entry.key}"


def _highlighted(matcher: Matcher, words: str, line: str) -> Content:
    """Mark the letters that were asked for; Textual's own would read markup in the words."""
    content = Content(line)
    _, places = matcher.fuzzy_search.match(matcher.query, words)
    for place in (one for one in places if one < len(line)):
        content = content.stylize(matcher.match_style, place, place + 1)
    return content
