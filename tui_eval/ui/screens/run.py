"""The Run screen: one run, live or finished, and everything one can do with its trials."""

import asyncio
import time
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.widgets import Input

from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState
from tui_eval.resources import styles_dir
from tui_eval.store import browse
from tui_eval.store.board import Counts
from tui_eval.store.browse import View, Which
from tui_eval.store.errors import StoreError, UnknownRunError
from tui_eval.store.requests import Verb
from tui_eval.store.rows import TrialRow
from tui_eval.ui import steering
from tui_eval.ui.bench import Bench
from tui_eval.ui.run import errands, filters, rescoring
from tui_eval.ui.run.acts import Standing, why_not
from tui_eval.ui.run.capping import capped, error_args, error_choices
from tui_eval.ui.run.copying import NothingToCopyError, copied, copy_choices
from tui_eval.ui.run.detail import Detail, Tab
from tui_eval.ui.run.errands import Errand
from tui_eval.ui.run.feed import Feed, Figures, Gate, Snapshot
from tui_eval.ui.run.head import RunHead
from tui_eval.ui.run.keys import KEYS
from tui_eval.ui.run.listing import Listing
from tui_eval.ui.run.notice import awaits_cap
from tui_eval.ui.run.pace import Pace
from tui_eval.ui.run.requests import messages
from tui_eval.ui.run.rescoring import Rescoring
from tui_eval.ui.screens.ask import Ask
from tui_eval.ui.screens.base import BaseScreen
from tui_eval.ui.screens.cap import Cap
from tui_eval.ui.screens.menu import Choice, Menu
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.words import many, number

_ABOUT_TRIALS = frozenset(("retry", "rescore", "cancel"))
_TICK_S = 1.0
_UNSEEN_S = 3.0
"""Seconds after which the pace is asked of the store: the screen was covered, or suspended."""
_LOOK_AGAIN_S = 5.0
"""A run whose engine was killed commits nothing: its lease is looked at without being told to."""


class RunScreen(BaseScreen):
    """Owns what is known of the run; the listing, the detail and the head show it."""

    CSS_PATH = styles_dir() / "run.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def __init__(self, bench: Bench, run_id: int) -> None:
        super().__init__(bench)
        self.run_id = run_id
        self.feed = Feed(bench.desk, run_id)
        self.snapshot: Snapshot | None = None
        """As last read; None: not yet."""
        self.figures: Figures | None = None
        self.gate: Gate | None = None
        """None: the run has none, or nobody knows yet."""
        self.head = RunHead(bench.glyphs)
        self.listing = Listing(bench.desk, run_id, bench.glyphs)
        self.detail = Detail(bench.glyphs)
        self._pace = Pace()
        self._pace_seen_at: float | None = None
        """When it was looked at last, monotonic; None: never, or no engine works on the run."""
        self._detail_wanted = asyncio.Event()
        self._standing: tuple[object, ...] = ()
        self._asked_at_change: int | None = None
        """The run's change at which it was asked how it goes on at its cap."""

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.head
        with Container(id="body"):
            yield self.listing
            yield self.detail
        yield KeyLine(self._key_words)

    def on_mount(self) -> None:
        """Begin to follow the run."""
        self.listing.table.focus()
        self.on_pulse(self.feed.wake)
        self.every(_TICK_S, self._tick)
        self.every(_LOOK_AGAIN_S, self.feed.wake)
        self._follow_run()
        self._count()
        self._judge()
        self._read_details()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self.feed.wake()

    # -- reading

    @work
    async def _follow_run(self) -> None:
        try:
            async for snapshot in self.feed.snapshots():
                self._take(snapshot)
        except UnknownRunError:
            self.say(
                "The run could not start and was taken back; its log is beside the store.",
                "error",
                seconds=12,
            )
            self.dismiss()

    @work
    async def _count(self) -> None:
        async for figures in self.feed.figures():
            self.figures = figures
            self._show_head()

    @work
    async def _judge(self) -> None:
        async for gate in self.feed.gates():
            self.gate = gate
            self._show_head()

    @work(exclusive=True, group="lately")
    async def _recall_pace(self) -> None:
        lately = await self.feed.lately()
        self._pace.recall(time.monotonic(), lately)
        self._show_head()

    @work
    async def _read_details(self) -> None:
        while True:
            await self._detail_wanted.wait()
            self._detail_wanted.clear()
            trial = self.selected
            if trial is None:
                if not self.listing.trials.count:
                    self.detail.show(None)
                continue
            found = await self.bench.desk.read(browse.whole, self.run_id, trial.id)
            if self.selected is not None and self.selected.id == trial.id:
                self.detail.show(found)

    def _take(self, snapshot: Snapshot) -> None:
        """Show what is new; selection, scroll and focus stay where they are."""
        self.snapshot = snapshot
        self._see_pace()
        self.listing.take(snapshot)
        if snapshot.changed or snapshot.overflow:
            self._detail_wanted.set()
        for request in snapshot.answered:
            words, accepted = errands.answer_words(request)
            self.say(words, "information" if accepted else "warning")
        self._show_head()
        self._show_what_can_be_done()
        self._ask_at_cap()

    def _see_pace(self) -> None:
        """Look at how fast the run goes; what nobody looked at is asked of the store."""
        assert self.snapshot is not None, "there is a run to look at"
        now, before = time.monotonic(), self._pace_seen_at
        if not self.snapshot.run.live:
            self._pace, self._pace_seen_at = Pace(), None  # what comes next begins anew
            return
        self._pace.see(now, self.snapshot.total.settled, self.snapshot.total.cost_usd)
        self._pace_seen_at = now
        if before is None or now - before > _UNSEEN_S:
            self._recall_pace()

    def _tick(self) -> None:
        """Let the clocks run on."""
        if self.snapshot is None:
            return
        if self.snapshot.run.live:
            self._see_pace()
            self.listing.tick()
            self.detail.tick()
        if self.snapshot.run.live or not self.snapshot.run.state.settled or self.snapshot.pending:
            self._show_head()
        self._ask_at_cap()

    # -- showing

    @property
    def selected(self) -> TrialRow | None:
        """The trial under the cursor; None: there is none, or it is still being read."""
        return self.listing.selected

    def _show_head(self) -> None:
        if self.snapshot is not None:
            now = time.time()
            self.head.show(self.snapshot, self.figures, self.gate, self._pace, now)
            self.listing.show_words(self.snapshot, self.figures)
            self.detail.show_place(self.listing.place)

    def _key_words(self, binding: Binding) -> str:
        """Give the words of a key: what acts on trials says on how many, where it is not plain."""
        words, marked = binding.description, self.listing.marks.count
        if binding.action == "zoom" and self.zoomed:
            return "list"
        if binding.action not in _ABOUT_TRIALS or not marked:
            return words
        return f"{words} this one" if self.zoomed else f"{words} {number(marked)}"

    def _show_what_can_be_done(self) -> None:
        if self.snapshot is None:
            return
        run, total, trial = self.snapshot.run, self.snapshot.total, self.selected
        if trial is None and self.listing.trials.count:
            return  # in a moment it has been read: no key shall flicker
        standing = (
            run.live,
            run.state,
            trial is not None and (trial.state, trial.output is not None),
            self.listing.marks.count,
            self.zoomed,
            total.settled == total.total,
            total.error + total.ungraded > 0,
            total.failed > 0,
            total.done > 0,
        )
        if standing != self._standing:
            self._standing = standing
            self.refresh_bindings()

    def why_not(self, action: str) -> str | None:
        """Say why an action makes no sense now."""
        if action in ("back", "leave"):
            return None
        if self.snapshot is None:
            return "the run is still being read"
        if action == "next_unmet" and self._in_detail and self.detail.page.hits:
            return None
        standing = Standing(
            self.snapshot.run,
            self.snapshot.total,
            self.selected,
            0 if self.zoomed else self.listing.marks.count,
            self.listing.trials.count,
            self.zoomed,
        )
        return why_not(action, standing)

    @property
    def _in_detail(self) -> bool:
        return self.detail.page.has_focus or self.zoomed

    @property
    def zoomed(self) -> bool:
        """Whether the detail has the whole screen; then keys act on its trial alone."""
        return self.has_class("-zoomed")

    # -- what widgets say

    @on(Listing.Changed)
    def _look_again(self) -> None:
        self._detail_wanted.set()
        self._show_head()
        self._show_what_can_be_done()

    @on(Rows.Opened)
    def _open(self) -> None:
        self.action_zoom()

    @on(Detail.Stepped)
    def _step(self, event: Detail.Stepped) -> None:
        self.listing.table.cursor += event.by

    @on(Detail.Wanted)
    def _render_request(self, event: Detail.Wanted) -> None:
        self._render_messages(event)

    @work(exclusive=True, group="messages")
    async def _render_messages(self, event: Detail.Wanted) -> None:
        found = await self.bench.desk.ponder(messages, self.run_id, event.trial)
        self.detail.show_asked(event.trial.trial.id, found)

    # -- asking

    @work
    async def _ask(self, errand: Errand) -> None:
        """Ask something of the run, the person first where it matters."""
        if errand.question is not None:
            question = Ask(errand.question, yes=errand.yes, more=errand.more)
            if not await self.app.push_screen_wait(question):
                return
        try:
            request = await steering.ask(self.bench.desk, self.run_id, errand.verb, errand.args)
        except (StoreError, OSError) as error:
            self.say(f"not done: {error}", "error", seconds=15)
            return
        self.feed.awaited.add(request)
        self.feed.wake()

    @work
    async def _ask_about_trials(self, verb: Verb) -> None:
        """Ask something about the marked trials, or the one under the cursor."""
        trials = await self.listing.chosen(alone=self.zoomed)
        if trials:
            self._ask(errands.about_trials(verb, trials))

    def action_cancel(self) -> None:
        """Cancel the trial or the marked ones."""
        self._ask_about_trials(Verb.CANCEL)

    def action_retry(self) -> None:
        """Ask again for the trial or the marked ones."""
        self._ask_about_trials(Verb.RETRY)

    def action_rescore(self) -> None:
        """Score the trial or the marked ones again."""
        self._ask_about_trials(Verb.RESCORE)

    def action_retry_all(self) -> None:
        """Retry everything errored or ungraded."""
        total = self._total
        self._ask(errands.retry_all(total.error, total.ungraded))

    @work
    async def action_rescore_all(self) -> None:
        """Choose what is scored again, and with what."""
        if self.snapshot is None:
            return
        store = self.bench.desk.path
        found = await self.bench.desk.ponder(rescoring.scored, store, self.run_id)
        if found.problem is not None:
            self.say(f"the suite's file cannot be used: {found.problem}", "warning")
        marked = await self.listing.chosen(alone=False) if self.listing.marks.count else []
        lines = rescoring.choices(found, self._total, marked)
        chosen: Rescoring | None = lines[0].value
        if len(lines) > 1:
            menu = Menu("score again", lines, self.bench.glyphs)
            chosen = await self.app.push_screen_wait(menu)
        if chosen is not None:
            self._ask(rescoring.errand(found, chosen))

    def action_stop_run(self) -> None:
        """Stop the run."""
        self._ask(errands.stop(self._total.total - self._total.settled))

    def action_pause(self) -> None:
        """Start nothing new, or go on."""
        assert self.snapshot is not None
        paused = self.snapshot.run.state is RunState.PAUSED
        self._ask(Errand(Verb.CONTINUE if paused else Verb.PAUSE, {}))

    def action_resume(self) -> None:
        """Finish what is missing; at a cap the person says first how much more it may take."""
        if self.snapshot is not None and awaits_cap(self.snapshot.run):
            self._ask_for_cap(self.snapshot, unasked=False)
        else:
            self._ask(Errand(Verb.RESUME, {}))

    def _ask_at_cap(self) -> None:
        """Ask once how a run goes on that has paused at a cap, unless the person is busy."""
        found = self.snapshot
        if found is None or not awaits_cap(found.run) or found.run.change == self._asked_at_change:
            return
        if self.is_current and not self.has_class("-finding"):
            self._asked_at_change = found.run.change
            self._ask_for_cap(found, unasked=True)

    @work(exclusive=True, group="cap")
    async def _ask_for_cap(self, found: Snapshot, *, unasked: bool) -> None:
        cap = capped(found)
        args: JsonObject | None
        if cap is not None:
            typed = await self.app.push_screen_wait(Cap(cap.question, unasked=unasked))
            args = None if typed is None else cap.args(typed)
        else:
            errored = f"{many(found.total.error, 'trial has', 'trials have')} errored"
            menu = Menu(f"paused: {errored}", error_choices(found), self.bench.glyphs)
            after = await self.app.push_screen_wait(menu)
            args = None if after in (None, "leave") else error_args(found, after)
        if args is None:
            self.say("the run stays paused; u asks again")
        else:
            self._ask(Errand(Verb.RESUME, args))

    def action_limit(self, by: int) -> None:
        """Change the concurrency of the trial's endpoint."""
        trial = self.selected
        if self.snapshot is None or trial is None:
            return
        endpoint = next(c.endpoint for c in self.snapshot.columns if c.index == trial.col)
        self._ask(Errand(Verb.SET_LIMIT, {"endpoint": endpoint, "by": by}))

    # -- looking about

    def action_mark(self) -> None:
        """Mark the trial, or take its mark away, and go on to the next."""
        self.listing.mark()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.listing.unmark()

    def action_list_only(self, which: str) -> None:
        """List only trials that stand so, whatever was listed before."""
        self.listing.show_view(View(which=Which[which]))

    def action_mark_all(self) -> None:
        """Mark all trials that are listed."""
        self.listing.mark_all()
        marked = many(self.listing.marks.count, "trial")
        self.say(f"{marked} marked; esc takes the marks away")

    @work
    async def action_next_unmet(self, step: int) -> None:
        """Go to the next failure, or to the next find hit in the text."""
        if self._in_detail and self.detail.page.hits:
            self.detail.page.next_hit(step)
        elif not await self.listing.go_to_unmet(step):
            self.say("no failure in this list")

    @work
    async def action_filter(self) -> None:
        """Choose which trials are listed."""
        if self.snapshot is not None:
            found = filters.choices(self.snapshot, self.figures, self.listing.view)
            await self._choose_view("filter", found)

    @work
    async def action_sort(self) -> None:
        """Choose the order of the list."""
        await self._choose_view("sort by", filters.orders(self.listing.view))

    async def _choose_view(self, title: str, choices: list[Choice[View]]) -> None:
        view = await self.app.push_screen_wait(Menu(title, choices, self.bench.glyphs))
        if view is not None:
            self.listing.show_view(view)

    @work
    async def action_copy(self) -> None:
        """Copy something of the trial."""
        trial = self.selected
        if trial is None:
            return
        # read anew: the detail may still be of the trial before
        found = await self.bench.desk.read(browse.whole, self.run_id, trial.id)
        if found is None:
            return
        menu = Menu("copy", copy_choices(found), self.bench.glyphs)
        what = await self.app.push_screen_wait(menu)
        if what is None:
            return
        try:
            text = await self.bench.desk.ponder(copied, self.run_id, found, what)
        except NothingToCopyError as error:
            self.say(str(error), "warning")
            return
        self.app.copy_to_clipboard(text)
        self.say(f"{what}: {many(len(text), 'character')} copied")

    # -- finding

    def action_find(self) -> None:
        """Narrow the list by text, or find in the detail."""
        field = self.listing.field
        field.value = "" if self._in_detail else self.listing.view.text
        field.set_class(self._in_detail, "-in-detail")
        field.select_all()
        self.add_class("-finding")
        self.set_focus(field)  # now: the next key of a burst is for it

    @on(Input.Changed, "#find")
    def _sought(self, event: Input.Changed) -> None:
        if not self.has_class("-finding"):
            return
        if event.input.has_class("-in-detail"):
            self.detail.page.seek(event.value)
        else:
            self.listing.narrow(event.value)

    @on(Input.Submitted, "#find")
    def _found(self, event: Input.Submitted) -> None:
        in_detail = event.input.has_class("-in-detail")
        self._close_find(in_detail)
        if in_detail and event.value:
            hits = self.detail.page.hits
            self.say(f"{many(hits, 'line')}; n goes to the next" if hits else "not in this text")
            self.detail.page.next_hit(1)

    def _close_find(self, in_detail: bool) -> None:
        self.remove_class("-finding")
        self.set_focus(self.detail.page if in_detail else self.listing.table)

    async def action_back(self) -> None:
        """Go one step back: find, marks, zoom, screen."""
        if self.has_class("-finding"):
            in_detail = self.listing.field.has_class("-in-detail")
            if in_detail:
                self.detail.page.seek("")
            else:
                self.listing.narrow("")
            self._close_find(in_detail)
        elif self.zoomed:
            self.action_zoom()  # the list is hidden: what it is like stays
        elif self.listing.view.text:
            self.listing.narrow("")
        elif self.listing.marks.count:
            self.listing.unmark()
        else:
            await self.action_leave()

    # -- the detail

    def action_zoom(self) -> None:
        """Give the detail the whole screen, or take it back."""
        zoomed = not self.zoomed
        self.set_class(zoomed, "-zoomed")
        (self.detail.page if zoomed else self.listing.table).focus()
        self._show_what_can_be_done()

    def action_switch_focus(self) -> None:
        """Go between the table and the detail."""
        page = self.detail.page
        to_table = page.has_focus and not self.zoomed
        (self.listing.table if to_table else page).focus()

    def action_turn_tab(self, step: int) -> None:
        """Go to the next tab of the detail, or the one before."""
        self.detail.turn(step)

    def action_open_tab(self, tab: str) -> None:
        """Go to a tab of the detail."""
        self.detail.open_tab(Tab(tab))

    @property
    def _total(self) -> Counts:
        assert self.snapshot is not None, "greyed until the run has been read"
        return self.snapshot.total
