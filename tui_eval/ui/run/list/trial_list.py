"""The list of a run's trials: what is listed, in which order, what is marked, what is selected."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input

from tui_eval.reports.live_results import LiveResults
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.rows import TrialRow
from tui_eval.store.search import views
from tui_eval.store.search.views import Condition, Order, View
from tui_eval.ui.context import AppContext
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run import saved_view
from tui_eval.ui.run.actions import commands
from tui_eval.ui.run.detail.detail_title import ListPosition
from tui_eval.ui.run.detail.trial_detail import ZOOMED
from tui_eval.ui.run.figures import Figures
from tui_eval.ui.run.list.case_row import is_unmet
from tui_eval.ui.run.list.filter_line import FilterLine, ShownList
from tui_eval.ui.run.list.loaded_trials import LoadedTrials
from tui_eval.ui.run.list.marking import Marking
from tui_eval.ui.run.list.marks import MarkedTrials
from tui_eval.ui.run.list.trial_table import TrialTable
from tui_eval.ui.run.list.view_lookup import ListedTrials, ViewLookup
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.store_access.read_pace import rest
from tui_eval.ui.widgets.rows import Rows

_RELIST_S = 0.5
_RELIST_SHARE = 10
"""A list that takes a second to find is found again every ten."""


class TrialList(Vertical):
    """The table with its line of figures; selection and scroll stay while rows change.

    It owns the cursor, the marks and the view; what is known of the run it reads where it is.
    """

    @dataclass
    class Changed(Message):
        """Another trial is selected, other trials are listed or marked, or rows have come."""

    def __init__(self, context: AppContext, run: ObservedRun) -> None:
        super().__init__(id="trial-list")
        self.context = context
        self._client = client = context.client
        self._run = run
        self._run_name: str | None = None
        """None: not known yet."""
        glyphs = context.glyphs
        self.view = View()
        """Which trials are listed, and in which order; the list may still be on its way."""
        self.following = False
        """Whether the cursor goes along with what is settled."""
        self._listed: ListedTrials | None = None
        """What was found of the view so far; None: nothing yet."""
        self._chosen = 0
        """The place of the trial that was gone to, or that the view began at: where it leaves the
        list the cursor is on another, and comes back with it."""
        self.trials = LoadedTrials(client, run.id)
        self._lookup = ViewLookup(client, run.id)
        self.marks = MarkedTrials()
        self.table = TrialTable(self.trials, self.marks, glyphs)
        self.marking = Marking(
            self.marks,
            self.trials,
            self.table,
            here=lambda: self._here,
            changed=self._take_marks,
        )
        self._hidden_marks = 0
        """How many trials are marked that are not listed."""
        self.field = Input(
            id="find",
            placeholder="text in id, question, output, error, reason or note",
            compact=True,
            select_on_focus=False,
        )
        """Where one types what to find; shown while one does."""
        self._line = FilterLine(glyphs)
        self._epoch_open = False
        """Whether the epoch to stand on is chosen once its row has been read."""
        self._acted: int | None = None
        """The place of the trial that was acted on last: it stays listed until the cursor leaves
        it, for the next key is for it, too. None: the cursor has left it."""
        self._held: TrialRow | None = None
        """The trial that has the whole screen; None: none has."""
        self._wanted_place: int | None = None
        """A trial to go to as soon as it is listed."""
        self._rows_wanted = asyncio.Event()
        self._list_wanted = asyncio.Event()

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._line
        yield self.field
        yield self.table

    def on_mount(self) -> None:
        """Begin to read."""
        self._line.follow_focus(self.table, self.field)
        self._run.watch(self._take_changes, Snapshot)
        self._run.watch(self._show_line, Snapshot, Figures, LiveResults)
        self._read_rows()
        self._recall()

    def on_resize(self) -> None:
        """Fit the line to the new width."""
        self._show_line()

    @on(Changed)
    def _look_again(self) -> None:
        self._show_line()

    async def on_unmount(self) -> None:
        """Remember how the run was listed."""
        self._keep()
        await self._lookup.close()

    @work
    async def _recall(self) -> None:
        try:
            self._run_name = (await self._client.read(run_queries.run, self._run.id)).name
        except UnknownRunError:
            return  # the screen says so
        self.show_view(saved_view.recall(self.context.remembered, self._run_name))

    def _keep(self) -> None:
        if self._run_name is not None:
            saved_view.keep(self.context.remembered, self._run_name, self.view)

    @property
    def selected(self) -> TrialRow | None:
        """The trial under the cursor; None: there is none, or it is still being read.

        One that is held stays it where it is listed no more.
        """
        held = self._held_unlisted
        return self.trials.row_at(self.table.cursor, self.table.slot) if held is None else held

    @property
    def _here(self) -> int | None:
        """The place of the trial under the cursor, or of the one that is held."""
        held = self._held_unlisted
        if held is not None:
            return held.place
        return self.trials.place_at(self.table.cursor, self.table.slot)

    def hold(self, trial: TrialRow | None) -> None:
        """Keep a trial selected whatever becomes of it, until another is gone to; None: none."""
        self._held = trial

    @property
    def _held_unlisted(self) -> TrialRow | None:
        """The trial that is held although it is listed no more; None: there is no such trial."""
        held = self._held
        return held if held is not None and self.trials.index_of(held.place) is None else None

    def step(self, by: int) -> None:
        """Go to the next trial, or with -1 to the one before.

        From one that is listed no more: to what came in its place.
        """
        cursor = self.table.cursor + by
        if self._held_unlisted is not None and by > 0:
            cursor -= 1
        if self.trials.count:
            self._held = None
            self.table.move(cursor)
            self.post_message(self.Changed())

    @property
    def searching(self) -> bool:
        """Whether more trials may come into the list: not all have been looked at."""
        return self._listed is None or self._listed.going_on is not None

    # -- what is listed

    def _take_changes(self) -> None:
        """Show the rows that changed; selection, scroll and focus stay where they are."""
        snapshot, table, trials = self._run.snapshot, self.table, self.trials
        assert snapshot is not None, "it has just been replaced"
        if not trials.view.narrowed:
            reading = ": the cases are being read" if snapshot.run.live else ""
            table.say_empty(f"no trials yet{reading}")
        table.suit(
            [column.name for column in snapshot.columns],
            snapshot.epochs,
            title=snapshot.column_title,
            compared=snapshot.earlier is not None,
            scored=not snapshot.run.is_sweep,
        )
        trials.set_total(snapshot.total.total)
        if trials.compare_with(snapshot.earlier, self._in_view):
            self._rows_wanted.set()
        if snapshot.overflow or snapshot.bulk_moved:
            trials.doubt(self._in_view)
            self._rows_wanted.set()
            table.redraw()
        elif snapshot.changed:
            table.redraw(trials.take(snapshot.changed, snapshot.reasons, snapshot.earlier_results))
            table.suit_rows()
        if trials.view.plain and table.count != trials.count:
            table.resize_to(trials.count)
        self._go_on()
        if snapshot.changed or snapshot.overflow:
            self._lookup.forget()
            self._list_wanted.set()
        if self.following:
            self._go_along(live=snapshot.run.live)
        table.show_asked(commands.PendingRequests(snapshot.pending))
        table.show_progress(snapshot.progress)

    def _show_line(self) -> None:
        """Say what is listed, how it divides, and what is asked of the run."""
        snapshot, results = self._run.snapshot, self._run.results
        if snapshot is None:
            return
        listed = self._listed
        self._line.show_list(
            ShownList(
                total=snapshot.total if results is None else results.total,  # as the head has it
                figures=self._run.figures,
                wanted=self.view,
                view=self.trials.view,
                n=self.trials.count,
                in_row=self.trials.width,
                listing=listed is None,
                search=None if listed is None else listed.going_on,
                following=self.following,
                hidden_marks=self._hidden_marks,
                place=self.place,
                asked=commands.for_run(snapshot.pending),
            ),
            self.size.width,
        )

    def tick(self) -> None:
        """Let the clocks of open trials run on."""
        shown = ((index, self.trials.trials_at(index)) for index in self.table.shown)
        self.table.redraw(
            [at for at, row in shown if not all(trial.state.settled for trial in row)]
        )

    def show_view(self, view: View) -> None:
        """List other trials, or in another order; until they are known the list stays."""
        if self._listed is None or self._listed.going_on is None:
            self._chosen = self._here or 0
        self.view, self._listed, self._acted = view, None, None
        self.table.mark_text(view.text)
        self.table.show_order(view.order, view.reverse)
        self._keep_list(view)
        self.post_message(self.Changed())

    def narrow(self, text: str) -> None:
        """List only trials with a text; empty: whatever their text."""
        if text != self.view.text:
            self.show_view(replace(self.view, text=text))

    def filter(self, parts: Sequence[Condition]) -> None:
        """List only trials that these parts let through."""
        self.show_view(replace(self.view, parts=tuple(parts)))
        self._keep()

    def drop_newest(self) -> None:
        """Take the newest condition away."""
        if self.view.text:
            self.narrow("")
        else:
            self.filter(self.view.parts[:-1])

    def sort(self, order: Order, reverse: bool) -> None:
        """List in another order."""
        self.show_view(replace(self.view, order=order, reverse=reverse))
        self._keep()

    def turn(self) -> None:
        """List a case a row, or a trial; the cursor stays on its trial."""
        self.show_view(replace(self.view, by_case=not self.view.by_case))
        self._keep()

    def turn_column(self, step: int) -> None:
        """Go to the trial of the case in the next column, or with -1 in the one before."""
        epochs = self.table.epochs
        column = self.table.slot // epochs + step
        if 0 <= column < self.trials.width // epochs:
            self.table.go_to_slot(column * epochs)
            self._choose_epoch()
            self._chosen = self._here or 0
            self.post_message(self.Changed())

    def _choose_epoch(self) -> None:
        """Of several epochs go to the first that did not pass, unless one of these is selected."""
        epochs, row = self.table.epochs, self.trials.trials_at(self.table.cursor)
        self._epoch_open = epochs > 1 and len(row) < self.trials.width
        if epochs == 1 or not self.trials.view.by_case or self._epoch_open:
            return
        first = self.table.slot - self.table.slot % epochs
        unmet = [slot for slot in range(first, first + epochs) if is_unmet(row[slot])]
        if unmet and self.table.slot not in unmet:
            self.table.go_to_slot(unmet[0])

    def follow(self) -> None:
        """Go along with what is settled, or stay."""
        self.following = not self.following
        if self.following:
            self._go_along(live=True)
        self.post_message(self.Changed())

    @work(exclusive=True, group="follow")
    async def _go_along(self, *, live: bool) -> None:
        """Go to the trial that was settled last, where it is listed."""
        place = await self._client.read(views.newest_settled, self._run.id)
        if place is not None and self.following:
            self._held = None
            self._stand_on(place)
        self.following = self.following and live

    @on(Rows.HeadClicked)
    def _sort_by(self, event: Rows.HeadClicked) -> None:
        """Sort by the column whose head was clicked; again turns it, and then takes it back."""
        event.stop()
        order, view = self.table.order_of(event.field), self.view
        if order is None:
            return
        if order is not view.order:
            self.sort(order, reverse=False)
        elif not view.reverse:
            self.sort(order, reverse=True)
        else:
            self.sort(Order.PLACE, reverse=False)

    def _stand_on(self, place: int) -> bool:
        """Put the cursor on a trial; False: it is not listed."""
        index = self.trials.index_of(place)
        if index is None or index >= self.table.count:
            return False
        self.table.cursor = index
        self.table.go_to_slot(place % self.trials.width)
        self._chosen = place
        return True

    def go_to(self, place: int) -> None:
        """Go to a trial by its place; where it is not listed all are."""
        self._wanted_place = place
        self._go_on()

    def _go_on(self) -> None:
        """Go to the trial that was asked for, once it is there."""
        if self._wanted_place is None:
            return
        if self._stand_on(self._wanted_place):
            self._wanted_place = None
        elif (
            self.trials.index_of(self._wanted_place) is None
            and self.view.narrowed
            and self._found_all
        ):
            self.show_view(View(by_case=self.view.by_case))

    @property
    def _found_all(self) -> bool:
        return self._listed is not None and self._listed.going_on is None

    async def go_to_unmet(self, step: int) -> bool:
        """Go to the next trial that did not pass (-1: the one before); False: there is none."""
        here = self._here
        if here is None:
            return False
        place = await self.trials.next_unmet(here, back=step < 0)
        index = None if place is None else self.trials.index_of(place)
        if place is None or index is None:
            return False
        self._held = None
        self.table.go_to_slot(place % self.trials.width)
        self.table.move(index)
        self.post_message(self.Changed())
        return True

    # -- marks

    def _take_marks(self) -> None:
        """Say that others are marked."""
        self._hidden_marks = self.marks.outside(self.trials.places)
        self.post_message(self.Changed())

    @property
    def place(self) -> ListPosition:
        """Where the trial under the cursor stands."""
        at, place = self.table.cursor, self._here
        return ListPosition(
            at=min(at + 1, self.trials.count),
            listed=self.trials.count,
            marked=self.marks.count,
            this_one=place is not None and place in self.marks,
            in_list=self._held_unlisted is None,
        )

    async def marked_ids(self) -> list[int]:
        """Return the ids of the marked trials."""
        if not self.marks.count:
            return []
        return await self._client.ponder(views.ids_at, self._run.id, self.marks.places())

    async def acted_on(self) -> list[int]:
        """Return the ids of the trials that keys act on: the marked ones, else the selected one.

        While that one has the whole screen keys act on it alone.
        """
        if self.marks.count and not self.screen.has_class(ZOOMED):
            return await self.marked_ids()
        if self.selected is None:
            return []
        self._chosen = self._acted = self.selected.place
        return [self.selected.id]

    def done_with_marks(self) -> None:
        """Take the marks away that an action was for; in zoom it was for the shown trial alone."""
        if not self.screen.has_class(ZOOMED):
            self.marking.serve()

    # -- reading

    @work
    async def _read_rows(self) -> None:
        while True:
            await self._rows_wanted.wait()
            self._rows_wanted.clear()
            if await self.trials.read(self._in_view):
                if self._epoch_open:
                    self._choose_epoch()
                self.table.suit_rows()
                self.table.redraw()
                self.post_message(self.Changed())

    @property
    def _in_view(self) -> list[int]:
        """The indices of the rows on the screen, and of the selected one, which may be hidden."""
        return [*self.table.shown, self.table.cursor]

    @work(exclusive=True, group="list")
    async def _keep_list(self, view: View) -> None:
        """List a view, and again when trials changed that may come into it or leave it."""
        first = True
        while True:
            began = time.monotonic()
            async for listed in self._lookup.lists(view):
                self._show_list(view, listed)
            # the first time is no measure of what it takes to see what changed
            took = 0.0 if first else time.monotonic() - began
            first = False
            if view.plain and self.trials.listed_for_good:
                return
            await asyncio.sleep(rest(_RELIST_S, took, _RELIST_SHARE))
            await self._list_wanted.wait()
            self._list_wanted.clear()

    def _show_list(self, view: View, listed: ListedTrials) -> None:
        table, before = self.table, self._listed
        here = self._here
        finding = here is None or before is None or before.going_on is not None
        self.trials.use(view, listed, self._acted)
        self._hidden_marks = self.marks.outside(self.trials.places)
        if self._held is not None:
            place = self._held.place  # it is looked at, listed or not
        elif finding or self.trials.index_of(self._chosen) is not None:
            place = self._chosen  # until all is found: what comes may be nearer to it
        else:
            assert here is not None, "something was listed"
            place = here
        table.show_by_case(view.by_case)
        table.go_to_slot(place % self.trials.width)
        self._listed = listed
        if view.narrowed:
            searching = listed.going_on is not None
            drop, others = key("run.drop-filter", "backspace"), key("run.filter", "f")
            table.say_empty(
                "searching"
                if searching
                else f"{_no_match(view)}; {drop} takes "
                f"the newest condition away, {others} lists others"
            )
        table.place(self.trials.count, self.trials.nearest(place, table.cursor))
        if finding and listed.going_on is None and (here := self._here) is not None:
            self._chosen = here
        self._go_on()
        self.post_message(self.Changed())

    @on(Rows.Moved)
    def _moved(self, event: Rows.Moved) -> None:
        event.stop()
        if event.by_hand:
            self.following = False
            self.marking.just_served()  # no more, once somebody moves
            self._choose_epoch()
            self._chosen = self._here or 0
            if self._acted is not None and self._acted != self._here:
                self._acted = None
                self._list_wanted.set()
        self._rows_wanted.set()  # where the list is hidden no row is drawn, and so none asked for
        self.post_message(self.Changed())

    @on(Rows.CellClicked)
    def _go_to_clicked(self, event: Rows.CellClicked) -> None:
        event.stop()
        column = self.table.column_at(event.field)
        if column is not None:
            self.turn_column(column - self.table.slot // self.table.epochs)

    @on(Rows.Missing)
    def _missing(self, event: Rows.Missing) -> None:
        event.stop()
        self._rows_wanted.set()


def _no_match(view: View) -> str:
    """Say that nothing is listed, and where it was looked for."""
    return "no match in id, question, output, error, reason, note" if view.text else "no match"
