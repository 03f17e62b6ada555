"""The list of trials that is shown, and the rows of it that have been read."""

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tui_eval.store.read import suite_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.rows import TrialRow
from tui_eval.store.search import views
from tui_eval.store.search.case_conditions import EarlierResult, EarlierResults, EarlierRun
from tui_eval.store.search.views import UNMET, FilterKind, Places, View
from tui_eval.ui.run.list.seen_rows import SeenRows
from tui_eval.ui.run.list.view_lookup import ListedTrials
from tui_eval.ui.store_access.store_client import StoreClient

PAGE = 100
_SAMPLE = 64
"""Trials, spread over the run, that tell what its rows are like: the first of them are often of one
kind."""
_MOST_KEPT = 4000
"""Rows that are kept; beyond that all but those in view are read again when they are shown."""


class LoadedTrials:
    """Trials by their index in the list; reads pages, and only those asked for.

    A row is a trial, or by case all trials of a case: an entry of the list stands for `width`
    places in a row. Without filter and in dataset order the list is the run itself, an index is
    an entry, and nothing is kept of trials that were never shown.
    """

    def __init__(self, client: StoreClient, run_id: int) -> None:
        self._client = client
        self._run_id = run_id
        self._listed = ListedTrials(None)
        self._rows: dict[int, TrialRow] = {}
        """By place."""
        self._doubted: set[int] = set()
        """Places of rows that may have changed: they are shown as they were until read again."""
        self._doubts = 0
        """How often rows have been doubted."""
        self._reasons: dict[int, str] = {}
        """By trial id."""
        self._earlier: dict[tuple[int, int], EarlierResult] = {}
        """By case and column, what else cases of rows came to in the earlier run."""
        self._earlier_run: EarlierRun | None = None
        self.seen = SeenRows()
        """What was in the rows that have been read."""
        self._sampled = 0
        """How many trials the run had when it was last looked at what its rows are like."""
        self._sole_scorer: str | None = None
        """The run's scorer that decides, where it is but one."""
        self._total = 0
        self._ascending = True
        self.view = View()

    @property
    def width(self) -> int:
        """How many trials each row has."""
        return max(self._listed.width, 1)

    @property
    def listed_for_good(self) -> bool:
        """Whether it is known how many trials each row has."""
        return self._listed.width > 0

    @property
    def count(self) -> int:
        """How many rows are listed."""
        entries = self._entries
        return self._total // self.width if entries is None else len(entries)

    @property
    def listed(self) -> int:
        """How many trials the view lets through."""
        return self._total if self.places is None else len(self.places)

    @property
    def total(self) -> int:
        """How many trials the run has."""
        return self._total

    @property
    def places(self) -> Places | None:
        """The places of trials that the view lets through; None: all, in dataset order."""
        return self._listed.places

    @property
    def _entries(self) -> Places | None:
        """What the rows stand for: places, or numbers of cases; None: all, in dataset order."""
        return self._listed.cases if self.view.by_case else self._listed.places

    def place_at(self, index: int, slot: int = 0) -> int | None:
        """Return the place of a trial of a row; None: there is no such row.

        Args:
            index: The row's index.
            slot: Which of the row's trials; the first is 0.
        """
        if not 0 <= index < self.count:
            return None
        entry = index if self._entries is None else self._entries[index]
        return entry * self.width + slot

    def index_of(self, place: int) -> int | None:
        """Return where a trial's row stands in the list; None: it is not in it."""
        entry = place // self.width
        if self._entries is None:
            return entry if 0 <= entry < self.count else None
        return _index_in(self._entries, entry, ascending=self._ascending)

    def nearest(self, place: int, otherwise: int) -> int:
        """Return where a trial's row stands; where it is not listed, the one that follows it.

        Args:
            place: The trial.
            otherwise: The index to give where the list is sorted, and no trial follows another.
        """
        found = self.index_of(place)
        if found is None and self._entries is not None and self._ascending:
            found = bisect_left(self._entries, place // self.width)
        return max(min(otherwise if found is None else found, self.count - 1), 0)

    def row_at(self, index: int, slot: int = 0) -> TrialRow | None:
        """Return a trial of a row, see `place_at`; None: it has not been read."""
        place = self.place_at(index, slot)
        return None if place is None else self._rows.get(place)

    def trials_at(self, index: int) -> list[TrialRow]:
        """Return the trials of a row that have been read, in dataset order."""
        first = self.place_at(index)
        if first is None:
            return []
        found = (self._rows.get(place) for place in range(first, first + self.width))
        return [trial for trial in found if trial is not None]

    def reason(self, trial: TrialRow) -> str | None:
        """Return why a trial did not pass, as far as it has been read."""
        reason = self._reasons.get(trial.id)
        if reason is None or self._sole_scorer is None:
            return reason
        # whose it is goes without saying, and the room is short
        return reason.removeprefix(f"{self._sole_scorer}: ")

    def earlier(self, trial: TrialRow) -> EarlierResult | None:
        """Return what a trial's case came to in the earlier run; None: the same, or nothing."""
        return self._earlier.get((trial.seq, trial.col))

    def compare_with(self, earlier: EarlierRun | None, indices: Sequence[int]) -> bool:
        """Compare with another run; say whether that is news, and all rows are doubted.

        Args:
            earlier: The run; None: with none.
            indices: See `doubt`.
        """
        if earlier == self._earlier_run:
            return False
        self._earlier_run = earlier
        self.doubt(indices)
        return True

    def places_in(self, indices: Iterable[int]) -> list[int]:
        """Return the places of all trials of these rows."""
        firsts = (self.place_at(index) for index in indices)
        return [
            place
            for first in firsts
            if first is not None
            for place in range(first, first + self.width)
        ]

    def set_total(self, total: int) -> None:
        """Say how many trials the run has by now."""
        self._total = total

    def use(self, view: View, listed: ListedTrials, kept: int | None = None) -> None:
        """List what was found of a view.

        Args:
            view: The view.
            listed: What was found of it.
            kept: The place of a trial whose row stays where it is though the view lets it through
                no more; None: of no trial.
        """
        at = None if kept is None else self.index_of(kept)
        self.view = view
        self._listed = listed
        self._ascending = view.in_dataset_order
        entries = self._entries
        if kept is None or at is None or entries is None or self.index_of(kept) is not None:
            return
        entry = kept // self.width
        at = bisect_left(entries, entry) if self._ascending else min(at, len(entries))
        longer = array("I", (*entries[:at], entry, *entries[at:]))
        if view.by_case:
            self._listed = replace(listed, cases=longer)
        else:
            self._listed = replace(listed, places=longer)

    async def read(self, indices: Sequence[int]) -> bool:
        """Read the rows at these indices and around them that are not there yet, or doubted.

        Returns:
            Whether any came.
        """
        wanted, doubts = self._missing(indices), self._doubts
        if not wanted:
            return False
        rows, reasons, earlier = await self._client.read(
            _rows_at, self._run_id, wanted, self._earlier_run
        )
        if not self._rows or self._doubted:  # at first, and where everything may be another
            self._sole_scorer = await self._client.read(suite_queries.sole_scorer, self._run_id)
        if self._sampled != self._total:
            self._sampled = self._total
            spread = range(0, self._total, max(self._total // _SAMPLE, 1))
            self.seen.see(await self._client.read(trial_rows.trials_at, self._run_id, spread))
        if len(self._rows) > _MOST_KEPT:
            self._keep_only(indices)
        self._keep(rows, reasons, earlier)
        if doubts == self._doubts:
            self._doubted.difference_update(wanted)
        else:  # they may have changed since they were read, also those that were not there then
            self._doubted.update(trial.place for trial in rows)
        return bool(rows)

    def take(
        self,
        changed: Sequence[TrialRow],
        reasons: Mapping[int, str],
        earlier: EarlierResults | None = None,
    ) -> list[int] | None:
        """Take newer rows of trials.

        Args:
            changed: The rows.
            reasons: Why those that did not pass did not, by trial id.
            earlier: What else their cases came to in the earlier run, by case and column.

        Returns:
            The indices of those that are listed and were read, and of their cases' other epochs
            where what stands beside them is another; None: nobody knows, as where a trial stands
            in a list that is sorted takes long to find out.
        """
        known = [trial for trial in changed if trial.place in self._rows]
        before = {(trial.seq, trial.col): self.earlier(trial) for trial in known}
        self._keep(known, reasons, earlier or {})
        self._doubted.difference_update(trial.place for trial in known)
        if known and not self._ascending:
            return None
        # what a case came to before stands in the rows of all its epochs
        moved = {cell for cell, was in before.items() if was != self._earlier.get(cell)}
        places = {trial.place for trial in known}
        if moved:
            places.update(
                place for place, trial in self._rows.items() if (trial.seq, trial.col) in moved
            )
        found = (self.index_of(place) for place in sorted(places))
        return [index for index in found if index is not None]

    def doubt(self, indices: Sequence[int]) -> None:
        """Doubt all rows: any may have changed.

        Args:
            indices: Rows in view: they stay as they are until they are read again. All others are
                forgotten, and read when they are shown.
        """
        self._keep_only(indices)
        self._doubted = set(self._rows)
        self._doubts += 1

    def _keep_only(self, indices: Sequence[int]) -> None:
        places = self.places_in(indices)
        self._rows = {place: self._rows[place] for place in places if place in self._rows}
        ids = {trial.id for trial in self._rows.values()}
        self._reasons = {trial: why for trial, why in self._reasons.items() if trial in ids}
        cells = {(trial.seq, trial.col) for trial in self._rows.values()}
        self._earlier = {cell: was for cell, was in self._earlier.items() if cell in cells}
        self._doubted.intersection_update(self._rows)

    def _keep(
        self, rows: Sequence[TrialRow], reasons: Mapping[int, str], earlier: EarlierResults
    ) -> None:
        for cell in {(trial.seq, trial.col) for trial in rows}:
            self._earlier.pop(cell, None)
            if (was := earlier.get(cell)) is not None:
                self._earlier[cell] = was
        self.seen.see(rows)
        for trial in rows:
            known = self._rows.get(trial.place)
            if known is not None and known.change > trial.change:
                continue  # it was read before that
            self._rows[trial.place] = trial
            self._reasons.pop(trial.id, None)
            if (why := reasons.get(trial.id)) is not None:
                self._reasons[trial.id] = why

    def _missing(self, indices: Sequence[int]) -> list[int]:
        """Return the places whose rows are wanted: of all pages where one of these is missing."""
        page_rows = max(PAGE // self.width, 1)
        pages = {
            index // page_rows
            for index in indices
            if any(map(self._is_missing, self.places_in([index])))
        }
        return [
            place
            for page in sorted(pages)
            for place in self.places_in(range(page * page_rows, (page + 1) * page_rows))
            if self._is_missing(place)
        ]

    def _is_missing(self, place: int) -> bool:
        return place not in self._rows or place in self._doubted

    async def next_unmet(self, place: int, *, back: bool) -> int | None:
        """Return the place of the next listed trial that did not pass; None: there is none.

        In a list of trials that stand in some way it is the next of them.
        """
        places = self.places
        if places is None:
            return await self._client.ponder(
                views.next_place, self._run_id, [UNMET], place, back=back
            )
        if not places:
            return None
        found = _index_in(places, place, ascending=self._ascending)
        if found is None:  # of a case that is listed for another of its trials
            found = bisect_left(places, place) - (not back) if self._ascending else 0
        if self.view.has(FilterKind.STANDS):
            return places[(found + (-1 if back else 1)) % len(places)]
        return await self._client.ponder(
            views.next_unmet_in, self._run_id, places, found, back=back
        )


def _index_in(entries: Places, entry: int, *, ascending: bool) -> int | None:
    """Return where an entry stands; None: it is not there."""
    if not ascending:
        try:
            return entries.index(entry)
        except ValueError:
            return None
    at = bisect_left(entries, entry)
    return at if at < len(entries) and entries[at] == entry else None


def _rows_at(
    db: sqlite3.Connection, run_id: int, places: Sequence[int], earlier: EarlierRun | None
) -> tuple[list[TrialRow], dict[int, str], EarlierResults]:
    first, last = min(places), max(places)
    if last - first + 1 == len(places):
        rows = trial_rows.trials_from(db, run_id, first, len(places))
    else:
        rows = trial_rows.trials_at(db, run_id, places)
    reasons = trial_rows.reasons(db, [trial.id for trial in rows])
    if earlier is None:
        return rows, reasons, {}
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison.earlier import earlier_results

    return rows, reasons, earlier_results(db, run_id, earlier, {trial.seq for trial in rows})
