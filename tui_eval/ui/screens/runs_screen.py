"""The Runs screen: every run, live ones on top."""

import asyncio
import time
from collections.abc import Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.format import many, number
from tui_eval.model.states import RunState
from tui_eval.model.visible import visible
from tui_eval.resources import styles_dir
from tui_eval.store.errors import StoreError
from tui_eval.store.read.comparing.baseline_queries import refusal
from tui_eval.store.requests import Verb, why_not_resumed
from tui_eval.store.rows import RunRow
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.navigation import OpenRun
from tui_eval.ui.run.head.notice import awaits_cap
from tui_eval.ui.runs import stopping
from tui_eval.ui.runs.run_list import MOST, ListedRun, listed
from tui_eval.ui.runs.run_order import RunOrder, in_order, order_choices
from tui_eval.ui.runs.run_preview import RunPreview
from tui_eval.ui.runs.run_table import RunTable
from tui_eval.ui.runs.stopping import why_not_steered
from tui_eval.ui.screens.base.first_screen import FirstScreen
from tui_eval.ui.store_access import run_requests
from tui_eval.ui.store_access.read_pace import rest
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece

_READ_S = 0.5
_READ_SHARE = 10
"""A list that takes a second to read is read every ten."""
_TICK_S = 1.0
_LEAST_PREVIEW, _MOST_PREVIEW = 5, 24
"""Lines of the preview: a target, the gate and a failure; more than a person reads."""
_OTHER_LINES = 3
"""Title, head of the table, keys."""
_NOT_FOUND = "No run is called so, nor its suite, label or target. esc lists all."


class RunsScreen(FirstScreen):
    """Lists runs; opens, stops, resumes, exports and deletes them."""

    table: RunTable

    CSS_PATH = styles_dir() / "runs_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="runs.open", tooltip="Open the run"),
        Binding("space", "mark", "mark", id="runs.mark", tooltip="Mark the run, or unmark it"),
        Binding(
            "a",
            "mark_all",
            "mark all",
            show=False,
            id="runs.mark-all",
            tooltip="Mark all runs that are listed, or unmark them",
        ),
        Binding(
            "equals_sign",
            "compare",
            "compare",
            id="runs.compare",
            tooltip="Compare two marked runs, or this one with its baseline",
        ),
        Binding("u", "resume", "resume", id="runs.resume", tooltip="Finish what is missing"),
        Binding(
            "p",
            "pause",
            "pause",
            show=False,
            id="runs.pause",
            tooltip="Pause or resume the run",
        ),
        Binding("C", "stop", "stop", show=False, id="runs.stop", tooltip="Stop the run"),
        Binding("o", "sort", "sort", id="runs.sort", tooltip="Sort the runs"),
        Binding("slash", "find", "find", id="runs.find", tooltip="List runs by their names"),
        Binding(
            "B",
            "baseline",
            "baseline",
            show=False,
            id="runs.baseline",
            tooltip="Pin the run as its suite's baseline, or unpin it",
        ),
        Binding("E", "export", "export", id="runs.export", tooltip="Write the trials into a file"),
        Binding("D", "delete", "delete", id="runs.delete", tooltip="Delete the run for good"),
        Binding(
            "h",
            "history",
            "history",
            show=False,
            id="runs.history",
            tooltip="What became of its suite's cases over the last full runs",
        ),
        Binding("1", "app.suites", "suites", id="suites", tooltip="The suites there are"),
    ]

    def __init__(self, context: AppContext, opening: str | None = None) -> None:
        """Prepare the screen.

        Args:
            context: What all screens share.
            opening: A run that is being opened: nothing is listed before that is done.
        """
        super().__init__(context, "Runs", "part of a run's name, suite, label or target")
        self._opening = opening
        self.table = RunTable(context.glyphs, context.rates)
        self.preview = RunPreview(context)
        self._order = RunOrder.NEWEST
        self._all: Sequence[ListedRun] = ()
        self._read = False
        """Whether the runs have been read once: before that nobody knows that there are none."""
        self._marked: set[int] = set()
        self._leaving: set[int] = set()
        self._selected: int | None = None
        """The id of the run under the cursor."""
        self._changed = asyncio.Event()
        self._changed.set()
        self._rates_due = asyncio.Event()

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.head
        yield self.find
        yield self.table
        yield self.preview
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin to follow the store."""
        if self._opening is not None:
            self.table.say_empty(visible(f"opening {self._opening}…"))
        self.set_focus(self.table)
        self.on_pulse(self._changed.set)
        self.every(_TICK_S, self._tick)
        self._keep_up()
        self._keep_rates()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self._changed.set()

    def opened(self) -> None:
        """List what is known by now: the run that was to be opened has its screen."""
        self._opening = None
        self._list()

    # -- reading

    def _tick(self) -> None:
        if any(one.run.live for one in self._all):
            self._changed.set()

    @work
    async def _keep_up(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            began = time.monotonic()
            known = {one.run.id: one for one in self._all}
            self._all = await self.context.client.read(listed, known)
            self._read = True
            there = {one.run.id for one in self._all}
            self._marked &= there
            self._leaving &= there
            self._list()
            self._rates_due.set()
            await asyncio.sleep(rest(_READ_S, time.monotonic() - began, _READ_SHARE))

    @work
    async def _keep_rates(self) -> None:
        """Work out rates, those in view first."""
        while True:
            await self._rates_due.wait()
            self._rates_due.clear()
            while await self.context.rates.learn(self.context.client, self._wanted()):
                self.table.show_rates()
                self.preview.show(self.table.selected)
            if self._order is RunOrder.RATE:
                self._list()

    def _wanted(self) -> list[tuple[int, int]]:
        runs = self.table.runs
        shown = self.table.shown
        order = [*shown, *range(shown.start), *range(shown.stop, len(runs))]
        return [(runs[at].run.id, runs[at].stamp) for at in order if at < len(runs)]

    # -- showing

    def _list(self) -> None:
        if not self._read or self._opening is not None:
            return  # what stands there says what is waited for
        table = self.table
        sought = self._sought.casefold()
        found = [one for one in self._all if not sought or one.has(sought)]
        runs = in_order(found, self._order, self.context.rates, time.time())
        table.say_empty(_NOT_FOUND if self._all else _no_runs())
        table.marked = frozenset(self._marked)
        table.leaving = frozenset(self._leaving)
        ids = [one.run.id for one in runs]
        table.list_runs(runs, ids.index(self._selected) if self._selected in ids else table.cursor)
        self._suit_preview()
        self.preview.show(table.selected)
        self._show_head()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """Show the preview where there is room for it."""
        self._suit_preview()

    def _suit_preview(self) -> None:
        """On a low screen the preview gives way to runs that have no room without its lines."""
        left = self.size.height - _OTHER_LINES - len(self.table.runs)
        low = self.has_class("-low")
        self.set_class(left >= _LEAST_PREVIEW, "-few")
        self.preview.styles.max_height = min(left, _MOST_PREVIEW) if low else _MOST_PREVIEW

    def _show_head(self) -> None:
        of = len(self._all)
        left = self._count(len(self.table.runs), of, ", the newest" if of == MOST else "")
        if self._marked:
            left.append(Piece(f"  {many(len(self._marked), 'run')} marked", "accent"))
        right = []
        if self._leaving:
            right.append(Piece(f"deleting {many(len(self._leaving), 'run')}… ", "error"))
        live = sum(one.run.live and one.run.id not in self._leaving for one in self._all)
        if live:
            right.append(Piece(f"{self.context.glyphs.live} {number(live)} live ", "accent"))
        self.head.show(left, right)

    @property
    def selected(self) -> RunRow | None:
        """The run under the cursor; None: there is none."""
        chosen = self.table.selected
        return None if chosen is None else chosen.run

    @property
    def chosen(self) -> list[ListedRun]:
        """The marked runs, or the one under the cursor."""
        if self._marked:
            return [one for one in self._all if one.run.id in self._marked]
        under = self.table.selected
        return [] if under is None else [under]

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action in ("back", "leave", "app.suites", "find"):
            return None
        if not self.chosen:
            if not self._read:
                return "the runs are still being read"
            return "there is no run here" if self._all else "there is no run yet"
        if action == "compare":
            return _why_not_compared(self.chosen)
        if action in ("stop", "pause"):
            return why_not_steered(self.chosen)
        if action == "baseline":
            under = self.table.selected
            return None if under is None or under.pinned else refusal(under.run)
        if action == "resume":
            reasons = [why for one in self.chosen if (why := _why_not_resumed(one))]
            if len(reasons) == len(self.chosen):
                return reasons[0]
        if action == "delete":
            live = [one.run.name for one in self.chosen if one.run.live]
            if live:
                stop = key("runs.stop", "C")
                return f"{', '.join(live[:3])} is live: stop it first ({stop})"
        return None

    # -- what widgets say

    @on(Rows.Moved)
    def _select(self) -> None:
        run = self.selected
        self._selected = None if run is None else run.id
        self.preview.show(self.table.selected)
        self._rates_due.set()  # others may be in view
        self.refresh_bindings()

    @on(Rows.Opened)
    def _clicked(self) -> None:
        self.action_open()

    # -- acting

    def action_open(self) -> None:
        """Open the run."""
        run = self.selected
        if run is not None:
            self.post_message(OpenRun(run.id))

    def action_mark(self) -> None:
        """Mark the run, or unmark it, and go on to the next."""
        run = self.selected
        if run is not None:
            self._marked ^= {run.id}
            self._list()
            self.table.action_down()

    def action_mark_all(self) -> None:
        """Mark all runs that are listed, or unmark them."""
        shown = {one.run.id for one in self.table.runs}
        if shown <= self._marked:
            self._marked -= shown
        else:
            self._marked |= shown
        self._list()

    @work
    async def action_sort(self) -> None:
        """Sort the runs; the first of them is selected then."""
        menu = Menu("sort by", order_choices(self._order), self.context.glyphs)
        chosen = await self.app.push_screen_wait(menu)
        if chosen is not None:
            self._order, self._selected, self.table.order = chosen, None, chosen
            self.table.cursor = 0
            self._list()

    @work
    async def action_resume(self) -> None:
        """Finish what is missing; a single run is opened."""
        runs = [one.run for one in self.chosen if _why_not_resumed(one) is None]
        capped = [run for run in runs if awaits_cap(run)]
        if len(runs) == 1 and capped:
            self.post_message(OpenRun(runs[0].id))  # there a person says how much more
            return
        runs = [run for run in runs if run not in capped]
        try:
            await run_requests.ask_all(self.context.client, [run.id for run in runs], Verb.RESUME)
        except (StoreError, OSError) as error:
            self.say(f"not resumed: {error}", "error", seconds=15)
            return
        if len(runs) == 1:
            self.post_message(OpenRun(runs[0].id))
            return
        said = f"{many(len(runs), 'run')} resumed"
        if capped:
            said += f"; {many(len(capped), 'waits', 'wait')} at a cap: open each to move it"
        self.say(said)

    @work
    async def action_stop(self) -> None:
        """Stop the run, or the live ones that are marked."""
        await stopping.stop(self, self.chosen)

    @work
    async def action_pause(self) -> None:
        """Pause the run, or the live ones that are marked; or go on."""
        await stopping.pause(self, self.chosen)

    @work
    async def action_baseline(self) -> None:
        """Pin the run under the cursor as its suite's baseline, or unpin it."""
        from tui_eval.ui.runs.pinning import pin_or_unpin

        run = self.selected
        if run is not None:
            await pin_or_unpin(self, run)

    @work
    async def action_compare(self) -> None:
        """Compare two marked runs, or one with its baseline, or with what a person chooses."""
        from tui_eval.ui.compare.choosing import choose_sides, two_runs
        from tui_eval.ui.screens.compare_screen import CompareScreen

        runs = [one.run.id for one in self.chosen]
        sides = two_runs(*runs) if len(runs) == 2 else await choose_sides(self, runs[0])
        if sides is not None:
            await self.app.push_screen(CompareScreen(self.context, sides))

    def action_history(self) -> None:
        """List what became of the cases of the run's suite."""
        from tui_eval.ui.screens.suite_history_screen import SuiteHistoryScreen

        run = self.selected
        if run is not None:
            self.app.push_screen(SuiteHistoryScreen(self.context, run.suite))

    @work
    async def action_export(self) -> None:
        """Write the trials of the run, or of each marked one, into a file."""
        from tui_eval.ui.runs.exporting import export

        await export(self, [one.run for one in self.chosen])

    @work
    async def action_delete(self) -> None:
        """Delete the run, or all that are marked, once a person has said yes."""
        from tui_eval.ui.runs.deleting import confirm_deletion, delete

        runs = [one.run for one in self.chosen]
        if not await confirm_deletion(self, runs):
            return
        for run in runs:
            self._leaving.add(run.id)
        self._marked -= self._leaving
        self._list()
        for run in runs:
            await delete(self, run)
            self._leaving.discard(run.id)
            self._changed.set()

    async def action_back(self) -> None:
        """List all again, then take marks back."""
        if self._marked and not self.has_class("-finding"):
            self._marked.clear()
            self._list()
        else:
            await super().action_back()


def _no_runs() -> str:
    suites, launch = key("suites", "1"), key("suites.launch", "enter")
    return f"No runs yet.\n\n{suites} shows the suites; there {launch} launches one."


def _why_not_compared(chosen: Sequence[ListedRun]) -> str | None:
    if len(chosen) > 2:
        return f"two runs are compared, and {number(len(chosen))} are marked"
    unknown = [one.run.name for one in chosen if not one.total.graded]
    return f"{unknown[0]}: no trial has been graded yet" if unknown else None


def _why_not_resumed(one: ListedRun) -> str | None:
    run = one.run
    unfinished = run.state is not RunState.DONE or bool(one.unfinished)
    return why_not_resumed(run.state, run.name, live=run.live, unfinished=unfinished)
