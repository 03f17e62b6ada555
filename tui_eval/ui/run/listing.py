"""The list of a run's trials: what is listed, in which order, what is marked, what is selected."""

import asyncio
import time
from dataclasses import dataclass, replace

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from tui_eval.store import browse
from tui_eval.store.browse import Places, View
from tui_eval.store.rows import TrialRow
from tui_eval.ui.desk import Desk
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.run import errands, filters
from tui_eval.ui.run.detail import Place
from tui_eval.ui.run.feed import Figures, Snapshot
from tui_eval.ui.run.head import filter_words
from tui_eval.ui.run.marks import Marks
from tui_eval.ui.run.table import TrialTable
from tui_eval.ui.run.trials import Trials
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece, width_of
from tui_eval.ui.words import number

_RELIST_S = 0.5
_RELIST_SHARE = 10
"""A list that takes a second to find is found again every ten."""


class Listing(Vertical):
    """The table with its line of figures; selection and scroll stay while rows change."""

    @dataclass
    class Changed(Message):
        """Another trial is selected, other trials are listed or marked, or rows have come."""

    def __init__(self, desk: Desk, run_id: int, glyphs: Glyphs) -> None:
        super().__init__(id="list")
        self._desk = desk
        self._run_id = run_id
        self._glyphs = glyphs
        self.trials = Trials(desk, run_id)
        self.marks = Marks()
        self.table = TrialTable(self.trials, self.marks, glyphs)
        self.field = Input(
            id="find",
            placeholder="text in id, output or error",
            compact=True,
            select_on_focus=False,
        )
        """Where one types what to find; shown while one does."""
        self._line = Bar(id="filter", fill=glyphs.rule)
        self._rows_wanted = asyncio.Event()
        self._list_wanted = asyncio.Event()

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._line
        yield self.field
        yield self.table

    def on_mount(self) -> None:
        """Begin to read."""
        self._read_rows()
        self._keep_list(self.trials.view)

    @property
    def selected(self) -> TrialRow | None:
        """The trial under the cursor; None: there is none, or it is still being read."""
        return self.trials.row_at(self.table.cursor)

    @property
    def view(self) -> View:
        """Which trials are listed, and in which order."""
        return self.trials.view

    # -- what is listed

    def take(self, snapshot: Snapshot) -> None:
        """Take the rows that changed."""
        table, trials = self.table, self.trials
        if not trials.view.narrowed:
            reading = ": the cases are being read" if snapshot.run.live else ""
            table.say_empty(f"no trials yet{reading}")
        table.suit(several_columns=len(snapshot.columns) > 1, several_epochs=snapshot.epochs > 1)
        trials.set_total(snapshot.total.total)
        if snapshot.overflow:
            trials.forget()
            table.redraw()
        elif snapshot.changed:
            table.redraw(trials.take(snapshot.changed, snapshot.reasons))
        if trials.view.plain and table.count != trials.count:
            table.resize_to(trials.count)
        if snapshot.changed or snapshot.overflow:
            self._list_wanted.set()
        table.show_asked(errands.Pending(snapshot.pending))

    def show_words(self, snapshot: Snapshot, figures: Figures | None) -> None:
        """Say what is listed, how it divides, and what is asked of the run."""
        right = [Piece(f" {word} ", "accent") for word in errands.for_run(snapshot.pending)]
        if self.marks.count:
            marked = f" {number(self.marks.count)} marked "
            right.append(Piece(marked, "accent", "unmark"))
        right.append(Piece(f" {number(self.place.at)}/{number(self.place.listed)} ", "dim"))
        right.append(Piece(self._glyphs.rule, "dim"))
        left = filter_words(
            snapshot,
            figures,
            filters.words(self.view, snapshot),
            filters.order_words(self.view),
            self.trials.count,
            self._glyphs,
            self.size.width - sum(width_of(piece.text) for piece in right),
        )
        self._line.show(left, right)

    def tick(self) -> None:
        """Let the clocks of open trials run on."""
        shown = ((index, self.trials.row_at(index)) for index in self.table.shown)
        self.table.redraw([at for at, row in shown if row is not None and not row.state.settled])

    def show_view(self, view: View) -> None:
        """List other trials, or in another order."""
        self._keep_list(view)

    def narrow(self, text: str) -> None:
        """List only trials with a text; empty: whatever their text."""
        if text != self.view.text:
            self._keep_list(replace(self.view, text=text))

    async def go_to_unmet(self, step: int) -> bool:
        """Go to the next trial that did not pass (-1: the one before); False: there is none."""
        here = self.trials.place_at(self.table.cursor)
        if here is None:
            return False
        place = await self.trials.next_unmet(here, back=step < 0)
        index = None if place is None else self.trials.index_of(place)
        if index is not None:
            self.table.cursor = index
        return index is not None

    # -- marks

    @property
    def place(self) -> Place:
        """Where the trial under the cursor stands."""
        at = self.table.cursor
        place = self.trials.place_at(at)
        return Place(
            at=min(at + 1, self.trials.count),
            listed=self.trials.count,
            marked=self.marks.count,
            this_one=place is not None and place in self.marks,
        )

    async def chosen(self, *, alone: bool) -> list[int]:
        """Give the ids of the trials that keys act on: the marked ones, else the selected one.

        Args:
            alone: Whether keys act on the selected one whatever is marked.
        """
        if self.marks.count and not alone:
            return await self._desk.ponder(browse.ids_at, self._run_id, self.marks.places())
        return [] if self.selected is None else [self.selected.id]

    def mark(self) -> None:
        """Mark the selected trial, or take its mark away, and go on to the next."""
        place = self.trials.place_at(self.table.cursor)
        if place is not None:
            self.marks.toggle(place)
        self.table.redraw((self.table.cursor,))
        self.table.action_down()
        self.post_message(self.Changed())

    def mark_all(self) -> None:
        """Mark all trials that are listed."""
        self.marks.add(self.trials.places_in(range(self.trials.count)))
        self.table.redraw()
        self.post_message(self.Changed())

    def unmark(self) -> None:
        """Take all marks away."""
        self.marks.clear()
        self.table.redraw()
        self.post_message(self.Changed())

    def put_marks_back(self, taken: bytes) -> None:
        """Mark what was marked before, see `Marks.taken`."""
        self.marks.put_back(taken)
        self.table.redraw()
        self.post_message(self.Changed())

    # -- reading

    @work
    async def _read_rows(self) -> None:
        while True:
            await self._rows_wanted.wait()
            self._rows_wanted.clear()
            if await self.trials.read(self.table.shown):
                self.table.redraw()
                self.post_message(self.Changed())

    @work(exclusive=True, group="list")
    async def _keep_list(self, view: View) -> None:
        """List a view, and again when trials changed that may come into it or leave it."""
        while True:
            began = time.monotonic()
            self._show_list(view, await self.trials.look(view))
            took = time.monotonic() - began
            if view.plain:
                return
            await asyncio.sleep(max(_RELIST_S, took * _RELIST_SHARE))
            await self._list_wanted.wait()
            self._list_wanted.clear()

    def _show_list(self, view: View, places: Places | None) -> None:
        table = self.table
        place = self.trials.place_at(table.cursor) or 0
        self.trials.use(view, places)
        if view.narrowed:
            table.say_empty("no trial is like that; f lists others")
        table.place(self.trials.count, self.trials.nearest(place, table.cursor))
        self.post_message(self.Changed())

    @on(Rows.Moved)
    def _moved(self, event: Rows.Moved) -> None:
        event.stop()
        self.post_message(self.Changed())

    @on(Rows.Missing)
    def _missing(self, event: Rows.Missing) -> None:
        event.stop()
        self._rows_wanted.set()
