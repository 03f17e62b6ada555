"""Finding out which trials a view lists: at once where that is quick, else bit by bit."""

import sqlite3
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace

from tui_eval.store.search import text_search, views
from tui_eval.store.search.text_search import SearchLibrary, TextSearch
from tui_eval.store.search.views import Places, View
from tui_eval.ui.store_access.store_client import StoreClient

_SHOWN_S = 0.15
"""Seconds between two lists of a search that goes on."""


@dataclass(frozen=True, slots=True)
class TrialSearch:
    """How far a search has come."""

    searched: int
    total: int


@dataclass(frozen=True, slots=True)
class ListedTrials:
    """The trials of a view, as far as they are known."""

    places: Places | None
    """None: all of them, in dataset order."""
    going_on: TrialSearch | None = None
    """None: this is all of them."""
    width: int = 1
    """How many trials each row has: of a list by case those of a case; 0: nobody knows yet."""
    cases: Places | None = None
    """Of a list by case, which it has; None: all, in dataset order."""


class ViewLookup:
    """Looks up the lists of one run, one view at a time."""

    def __init__(self, client: StoreClient, run_id: int) -> None:
        self._client = client
        self._run_id = run_id
        self._library = SearchLibrary(client.path, run_id)
        self._text = ""
        self._finding: TextSearch | None = None
        self._base: Places | None = None
        self._base_of: View | None = None
        """Whose list `_base` is; None: it is good no more."""
        self._changes = 0

    def forget(self) -> None:
        """Say that trials changed: lists are not what they were."""
        self._changes += 1
        self._base_of = None

    async def lists(self, view: View) -> AsyncGenerator[ListedTrials, None]:
        """Yield the list of a view; where its text is sought, first what is found so far."""
        base = await self._without_text(replace(view, text="", by_case=False))
        if not view.text:
            self._finding = None
            yield await self._listed(view, base)
            return
        if self._finding is None or self._text != view.text:
            self._finding, self._text = TextSearch(self._library, view.text), view.text
        sought, shown_at, fresh = self._finding, time.monotonic(), not self._finding.complete
        first = True
        while await self._client.seek(sought.step):
            now = time.monotonic()
            if fresh and (now - shown_at >= _SHOWN_S or (first and 1 in sought.hits)):
                found = await self._client.seek(
                    lambda _: text_search.places_with_hits(base, sought.hits)
                )
                yield await self._listed(view, found, TrialSearch(sought.searched, sought.total))
                shown_at, first = time.monotonic(), first and not found
        found = await self._client.seek(lambda _: text_search.places_with_hits(base, sought.hits))
        yield await self._listed(view, found)

    async def close(self) -> None:
        """Let go of what was opened."""
        if not self._client.closed:
            await self._client.seek(lambda _: self._library.close())

    async def _listed(
        self, view: View, places: Places | None, going_on: TrialSearch | None = None
    ) -> ListedTrials:
        if not view.by_case:
            return ListedTrials(places, going_on)
        width, cases = await self._client.seek(_by_case, self._run_id, places)
        return ListedTrials(places, going_on, width, cases)

    async def _without_text(self, view: View) -> Places | None:
        if view.plain:
            return None
        if view != self._base_of:
            self._base_of, changes = None, self._changes
            self._base = await self._client.seek(_places, self._run_id, view)
            if changes == self._changes:
                self._base_of = view
        return self._base


def _places(db: sqlite3.Connection, run_id: int, view: View) -> Places:
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison import case_values

    return case_values.places(db, run_id, view)


def _by_case(
    db: sqlite3.Connection, run_id: int, places: Places | None
) -> tuple[int, Places | None]:
    width = views.trials_a_case(db, run_id)
    return width, None if places is None else views.cases_of(places, max(width, 1))
