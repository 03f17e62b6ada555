"""The detail of the trial under the cursor, in tabs."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.model.visible import visible_line
from tui_eval.store.read.judges.judge_figures import JudgeFigures
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.detail_title import ListPosition, Tab, tab_pieces, trial_pieces
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.live_reader import LiveView
from tui_eval.ui.run.detail.pages.attempts_page import attempts_page
from tui_eval.ui.run.detail.pages.case_page import case_page
from tui_eval.ui.run.detail.pages.judge_page import judge_page
from tui_eval.ui.run.detail.pages.live_page import LiveSeen, live_figures, live_page
from tui_eval.ui.run.detail.pages.messages_page import messages_page
from tui_eval.ui.run.detail.pages.result_page import OutputRendering, result_page
from tui_eval.ui.run.detail.pages.scores_page import scores_page
from tui_eval.ui.run.detail.shortening import PageRoom
from tui_eval.ui.run.detail.trial_context import TrialContext
from tui_eval.ui.run.figures import Figures
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.text.laid_out_text import AT_ONCE, LaidOutText, lay_out_text
from tui_eval.ui.text.prose import LABELS, LONGEST, Para
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.bar import FRAMED, Bar
from tui_eval.ui.widgets.page import FixedPage, Page
from tui_eval.ui.widgets.toned import fit, width_of

ZOOMED = "-zoomed"
"""Class of the screen while the detail has all of it, and keys act on its trial alone."""
_CORNERS = 6
"""Cells of a pane's lower edge around what it says."""
_ALL = 20_000_000
"""Characters of a page that are shown where everything is asked for."""


class TrialPage(Page):
    """The text of a tab; in zoom `j` and `k` go from trial to trial and keep the tab."""

    def action_step(self, by: int) -> None:
        """Go one line on, or in zoom one trial."""
        if self.screen.has_class(ZOOMED):
            self.post_message(TrialDetail.Stepped(by))
        else:
            self.action_scroll_by(by)


class TrialDetail(Vertical):
    """Shows one trial; tab and form, laid out or raw, stay when another trial is shown."""

    @dataclass
    class LookWanted(Message):
        """The Live tab is shown: its attempt is to be looked at."""

        trial: WholeTrial

    @dataclass
    class Stepped(Message):
        """The next trial is wanted, or with -1 the one before."""

        by: int

    def __init__(self, glyphs: Glyphs, run: ObservedRun) -> None:
        super().__init__(id="trial-detail")
        self._glyphs = glyphs
        self._run = run
        self.page = TrialPage(id="page")
        self._figures = FixedPage(id="live-figures")
        """What a running attempt takes: it stays above the steps that run through below."""
        self._trial = Bar(id="trial")
        """Which trial it is: shown in zoom, elsewhere the list says so."""
        self._tabs = Bar(id="tabs", fill=glyphs.rule, frame=True)
        self._found: WholeTrial | None = None
        self._trial_context: TrialContext | None = None
        self._folds = Folds()
        self._laid_out: tuple[tuple[str, int], LaidOutText | None] | None = None
        """A long text and its width, with how it is shown; None: a thread is still at it."""
        self._live: LiveView | None = None
        self._drawn_tabs: list[Tab] = []
        self._below = ""
        """What stands in the lower edge of the page."""
        self._place = ListPosition()
        self.tab = Tab.RESULT
        self.raw = False
        """Whether outputs are shown as they came."""

    @property
    def found(self) -> WholeTrial | None:
        """The trial that is shown."""
        return self._found

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._trial
        yield self._tabs
        yield self._figures
        yield self.page

    def on_mount(self) -> None:
        """Begin with nothing."""
        # in zoom keys act nowhere else
        self._tabs.follow_focus(self.page, then=self._show_tabs, seen=lambda: not self.zoomed)
        self._run.watch(self._show_progress, Snapshot)
        self._run.watch(self._show_judges, Figures)
        self.show(None)

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._show_trial()
        self._show_tabs()
        self.call_after_refresh(self._show_page, keep_place=True)

    @property
    def zoomed(self) -> bool:
        """Whether it has the whole screen; False as well once it has left the screen.

        What was read for it may come when the app is being quit.
        """
        return self.is_attached and self.screen.has_class(ZOOMED)

    def show(self, found: WholeTrial | None, context: TrialContext | None = None) -> None:
        """Show a trial; the same one again keeps the place one reads at.

        Args:
            found: The trial; None: there is none.
            context: What stands around it; None: it is not read yet, see `show_context`.
        """
        same = (
            found is not None and self._found is not None and found.trial.id == self._found.trial.id
        )
        if not same:
            self._trial_context = self._live = None
            self._folds = Folds(self._folds.all_open)
        self._found, self._trial_context = found, context or self._trial_context
        if self.tab is Tab.LIVE and Tab.LIVE not in self._tabs_there:
            self.tab = Tab.RESULT
            self.page.follow(False)
        self._show_trial()
        self._show_tabs()
        self._show_page(keep_place=same)

    def show_live(self, trial_id: int, view: LiveView) -> None:
        """Take what was seen of a trial's running attempt."""
        if self._found is not None and self._found.trial.id == trial_id and self.tab is Tab.LIVE:
            self._live = view
            self._show_page(keep_place=True)

    @property
    def _progress(self) -> AttemptProgress | None:
        snapshot, found = self._run.snapshot, self._found
        if snapshot is None or found is None:
            return None
        return snapshot.progress.get(found.trial.id)

    @property
    def _tabs_there(self) -> list[Tab]:
        """The tabs of the trial: Live while it runs and tells how far it is, or is looked at."""
        found = self._found
        running = found is not None and found.trial.state is TrialState.RUNNING
        live = running and (self._progress is not None or self._live is not None)
        return [tab for tab in Tab if tab is not Tab.LIVE or live]

    def _show_progress(self) -> None:
        """Show how far a running attempt is now, and that it can be looked at."""
        there = self._tabs_there
        if there != self._drawn_tabs:
            self._show_tabs()
        if self.tab is Tab.LIVE:
            self._show_page(keep_place=True)

    def follow_end(self) -> None:
        """Keep the end of what is printed in view, or no more."""
        self.page.follow(not self.page.following)
        self._show_tabs()

    def _show_judges(self) -> None:
        if self.tab is Tab.JUDGE and self._found is not None:
            self._show_page(keep_place=True)

    def show_context(self, trial_id: int, context: TrialContext) -> None:
        """Show what was asked in a trial, what is expected, and what became of its case before."""
        if self._found is not None and self._found.trial.id == trial_id:
            self._trial_context = context
            self._show_page(keep_place=True)

    def action_raw(self) -> None:
        """Show outputs as they came, or laid out again."""
        self.raw = not self.raw
        self._show_page(keep_place=False)

    def action_unfold(self) -> None:
        """Unfold all that is folded, or fold it again; a text that is cut is shown whole."""
        self._folds = self._folds.all_turned()
        self._show_page(keep_place=True)

    def action_turn_fold(self, number: int) -> None:
        """Unfold one thing, or fold it again."""
        self._folds = self._folds.turned(number)
        self._show_page(keep_place=True)

    def mark(self, text: str) -> None:
        """Mark what the list is narrowed by, wherever it stands."""
        if text.casefold() != self.page.marked:
            self.page.mark(text)
            self._show_page(keep_place=True)  # what is shortened opens where it stands

    def seek(self, text: str) -> None:
        """Find a text in the page; empty: none."""
        self.page.seek(text)
        self._show_page(keep_place=True)

    def show_place(self, place: ListPosition) -> None:
        """Say where the trial stands in the list."""
        if place != self._place:
            self._place = place
            self._show_trial()

    def tick(self) -> None:
        """Let the clocks of an open trial run on."""
        if self._found is not None and not self._found.trial.state.settled:
            if self.tab is Tab.LIVE:
                self.post_message(self.LookWanted(self._found))
            self._show_page(keep_place=True)

    def action_turn_tab(self, step: int) -> None:
        """Go to the next tab, or with -1 to the one before."""
        there = self._tabs_there
        self.action_open_tab(there[(there.index(self.tab) + step) % len(there)])

    def action_open_tab(self, tab: str) -> None:
        """Go to a tab by its name."""
        self.tab = Tab(tab)
        self.page.follow(self.tab is Tab.LIVE)
        if self.tab is Tab.LIVE and self._found is not None:
            self.post_message(self.LookWanted(self._found))
        self._show_tabs()
        self._show_page(keep_place=False)

    def _show_tabs(self) -> None:
        self._drawn_tabs = there = self._tabs_there
        # in zoom the line above says which trial it is
        name = "" if self._found is None or self.zoomed else self._found.trial.case_id
        room = self._tabs.room
        if self._tabs.focused and name:
            name = f"{self._glyphs.cursor} {name}"  # colour is never the only sign
        left, right = tab_pieces(there, self.tab, name, self._column, room, self._glyphs)
        told = "".join(piece.text for piece in left)
        whole = name in told and self._column in told
        below = bool(name) and not whole and self.is_attached and self.screen.has_class(FRAMED)
        if below:  # it is said once: the lower edge has room for all of it
            left, right = tab_pieces(there, self.tab, "", "", room, self._glyphs)
        self._tabs.show(left, right)
        self._show_below(name if below else "")

    @property
    def _column(self) -> str:
        """The column of the trial; empty where the run has no other."""
        snapshot, found = self._run.snapshot, self._found
        several = snapshot is not None and len(snapshot.columns) > 1
        return found.trial.column if found is not None and several else ""

    def _show_below(self, name: str) -> None:
        """Say in the lower edge which trial it is, where the tabs left no room; empty: nothing."""
        whose = f" {self._glyphs.dot} {self._column}" if name and self._column else ""
        words = visible_line(f"{name}{whose}")
        room = self.page.outer_size.width - _CORNERS
        below = fit(words, min(width_of(words), room), keep=6)
        if below != self._below:  # Textual draws the whole page anew, whatever is set
            self._below = below
            self.page.border_subtitle = Text(below)

    def _show_trial(self) -> None:
        if self._found is None:
            self._trial.show([])
        else:
            trial, place = self._found.trial, self._place
            snapshot, room = self._run.snapshot, self.size.width
            scored = snapshot is None or not snapshot.run.is_sweep
            self._trial.show(*trial_pieces(trial, place, room, self._glyphs, scored=scored))

    def _show_page(self, *, keep_place: bool) -> None:
        # steps are a line each, however many there are
        self._show_figures()
        whole = self._folds.all_open or self.tab is Tab.MESSAGES
        most = _ALL if whole else LONGEST
        more = f"; {key('run.unfold', 'x')} shows all of it"
        self.page.show(list(self._paras()), keep_place=keep_place, most=most, more=more)

    def _show_figures(self) -> None:
        """Show what a running attempt takes, in at most half of what there is."""
        found, paras = self._found, []
        if self.tab is Tab.LIVE and found is not None:
            seen = LiveSeen(self._progress, self._live, self.raw)
            half = (self._figures.outer_size.height + self.page.size.height) // 2
            width = self._page_width
            paras = live_figures(found, seen, width, half, self._glyphs, time.time())
        self._figures.display = bool(paras)
        self._figures.styles.height = len(paras)
        self._figures.show(paras)

    def _paras(self) -> Iterable[Para]:
        found, glyphs, now = self._found, self._glyphs, time.time()
        if found is None:
            return [Para("No trial selected.", "dim")]
        match self.tab:
            case Tab.LIVE:
                seen = LiveSeen(self._progress, self._live, self.raw)
                return live_page(found, seen, self._folds, self._page_width, glyphs, now)
            case Tab.RESULT:
                context, room = self._trial_context, PageRoom(self._page_width, self._page_height)
                looks = self._looks(found)
                folds = replace(self._folds, sought=self.page.marked)
                return result_page(found, context, looks, folds, room, glyphs, now)
            case Tab.SCORES:
                return scores_page(found, self._trial_context, glyphs)
            case Tab.MESSAGES:
                asked = None if self._trial_context is None else self._trial_context.asked
                return messages_page(found, asked, self._folds, self._page_width, glyphs)
            case Tab.ATTEMPTS:
                return attempts_page(found, self._page_width, glyphs, now)
            case Tab.JUDGE:
                return judge_page(found, glyphs, self._judges, raw=self.raw)
            case Tab.CASE:
                return case_page(found, self._trial_context, glyphs)

    @property
    def _judges(self) -> Sequence[JudgeFigures]:
        return () if self._run.figures is None else self._run.figures.judges

    @property
    def _page_width(self) -> int:
        return self.page.size.width - 1

    @property
    def _page_height(self) -> int:
        return self.page.size.height

    def _looks(self, found: WholeTrial) -> OutputRendering:
        text, width = None if found.output is None else found.output.text, self._page_width - LABELS
        if self.raw or not text:
            return OutputRendering(self.raw)
        if len(text) <= AT_ONCE:
            return OutputRendering(shown=lay_out_text(text, width, self._glyphs))
        wanted = (text, width)
        if self._laid_out is None or self._laid_out[0] != wanted:
            self._laid_out = (wanted, None)
            self._lay_out(text, width)
        return OutputRendering(shown=self._laid_out[1])

    @work(exclusive=True, group="lay-out")
    async def _lay_out(self, text: str, width: int) -> None:
        made = await asyncio.to_thread(lay_out_text, text, width, self._glyphs)
        if self._laid_out is not None and self._laid_out[0] == (text, width):
            self._laid_out = ((text, width), made)
            self._show_page(keep_place=True)
