"""Finding out which trials a view lists: at once where that is quick, else bit by bit."""

import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from tui_eval.store import finding, views
from tui_eval.store.finding import Finding, Library
from tui_eval.store.views import Places, View
from tui_eval.ui.desk import Desk

_SHOWN_S = 0.15
"""Seconds between two lists of a search that goes on."""


@dataclass(frozen=True, slots=True)
class Search:
    """How far a search has come."""

    searched: int
    total: int


@dataclass(frozen=True, slots=True)
class Listed:
    """The trials of a view, as far as they are known."""

    places: Places | None
    """None: all of them, in dataset order."""
    going_on: Search | None = None
    """None: this is all of them."""


class Lookup:
    """Looks up the lists of one run, one view at a time."""

    def __init__(self, desk: Desk, run_id: int) -> None:
        self._desk = desk
        self._run_id = run_id
        self._library = Library(desk.path, run_id)
        self._text = ""
        self._finding: Finding | None = None
        self._base: Places | None = None
        self._base_of: View | None = None
        """Whose list `_base` is; None: it is good no more."""
        self._changes = 0

    def forget(self) -> None:
        """Say that trials changed: lists are not what they were."""
        self._changes += 1
        self._base_of = None

    async def lists(self, view: View) -> AsyncGenerator[Listed, None]:
        """Give the list of a view; where its text is sought, first what is found so far."""
        base = await self._without_text(replace(view, text=""))
        if not view.text:
            self._finding = None
            yield Listed(base)
            return
        if self._finding is None or self._text != view.text:
            self._finding, self._text = Finding(self._library, view.text), view.text
        sought, shown_at, fresh = self._finding, time.monotonic(), not self._finding.complete
        first = True
        while await self._desk.seek(sought.step):
            now = time.monotonic()
            if fresh and (now - shown_at >= _SHOWN_S or (first and 1 in sought.hits)):
                found = await self._desk.seek(lambda _: finding.among(base, sought.hits))
                yield Listed(found, Search(sought.searched, sought.total))
                shown_at, first = time.monotonic(), first and not found
        yield Listed(await self._desk.seek(lambda _: finding.among(base, sought.hits)))

    async def close(self) -> None:
        """Let go of what was opened."""
        if not self._desk.closed:
            await self._desk.seek(lambda _: self._library.close())

    async def _without_text(self, view: View) -> Places | None:
        if view.plain:
            return None
        if view != self._base_of:
            self._base_of, changes = None, self._changes
            self._base = await self._desk.seek(views.places, self._run_id, view)
            if changes == self._changes:
                self._base_of = view
        return self._base
