"""The detail of the trial under the cursor, in tabs."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from tui_eval.model.json import JsonObject
from tui_eval.store.browse import WholeTrial
from tui_eval.store.judge_figures import JudgeFigures
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.prose import Para
from tui_eval.ui.run import pages
from tui_eval.ui.run.judge_page import judge_page
from tui_eval.ui.run.standing import standing_words
from tui_eval.ui.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece, fit, width_of
from tui_eval.ui.words import number


class Tab(StrEnum):
    """The tabs, from left to right."""

    OUTPUT = "Output"
    SCORES = "Scores"
    MESSAGES = "Messages"
    ATTEMPTS = "Attempts"
    JUDGE = "Judge"
    CASE = "Case"


_TABS = list(Tab)
_LEAST_NAME = 6
"""Cells below which the case's name is left out beside the tabs."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the trial that is shown stands in a list that zoom hides."""

    at: int = 0
    """From 1."""
    listed: int = 0
    marked: int = 0
    """How many trials are marked."""
    this_one: bool = False
    """Whether this one is."""


class TrialPage(Page):
    """The text of a tab; in zoom `j` and `k` go from trial to trial and keep the tab."""

    def action_step(self, by: int) -> None:
        """Go one line on, or in zoom one trial."""
        if self.screen.has_class("-zoomed"):
            self.post_message(Detail.Stepped(by))
        else:
            self.action_scroll_by(by)


class Detail(Vertical):
    """Shows one trial; the tab stays when another trial is shown."""

    @dataclass
    class Wanted(Message):
        """The Messages tab is shown and lacks the request's messages."""

        trial: WholeTrial

    @dataclass
    class Stepped(Message):
        """The next trial is wanted, or with -1 the one before."""

        by: int

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="detail")
        self._glyphs = glyphs
        self.page = TrialPage(id="page")
        self._trial = Bar(id="trial")
        """Which trial it is: shown in zoom, elsewhere the list says so."""
        self._tabs = Bar(id="tabs")
        self._found: WholeTrial | None = None
        self._asked: Sequence[JsonObject] | str | None = None
        self._judges: Sequence[JudgeFigures] = ()
        self._place = Place()
        self.tab = Tab.OUTPUT

    @property
    def found(self) -> WholeTrial | None:
        """The trial that is shown."""
        return self._found

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._trial
        yield self._tabs
        yield self.page

    def on_mount(self) -> None:
        """Begin with nothing."""
        self.show(None)

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._show_trial()
        self._show_tabs()

    @property
    def _zoomed(self) -> bool:
        return self.screen.has_class("-zoomed")

    def show(self, found: WholeTrial | None) -> None:
        """Show a trial; the same one again keeps the place one reads at."""
        same = (
            found is not None and self._found is not None and found.trial.id == self._found.trial.id
        )
        if not same:
            self._asked = None
        self._found = found
        self._show_trial()
        self._show_tabs()
        self._show_page(keep_place=same)

    def show_asked(self, trial_id: int, asked: Sequence[JsonObject] | str) -> None:
        """Take the messages of a trial's request, or why there are none."""
        if self._found is not None and self._found.trial.id == trial_id:
            self._asked = asked
            self._show_page(keep_place=True)

    def take_judges(self, judges: Sequence[JudgeFigures]) -> None:
        """Learn what is known of the run's judges."""
        if judges != self._judges:
            self._judges = judges
            if self.tab is Tab.JUDGE and self._found is not None:
                self._show_page(keep_place=True)

    def show_place(self, place: Place) -> None:
        """Say where the trial stands in the list."""
        if place != self._place:
            self._place = place
            self._show_trial()

    def tick(self) -> None:
        """Let the clocks of an open trial run on."""
        if self._found is not None and not self._found.trial.state.settled:
            self._show_page(keep_place=True)

    def turn(self, step: int) -> None:
        """Go to the next tab, or with -1 to the one before."""
        self.open_tab(_TABS[(_TABS.index(self.tab) + step) % len(_TABS)])

    def open_tab(self, tab: Tab) -> None:
        """Go to a tab."""
        self.tab = tab
        self._show_tabs()
        self._show_page(keep_place=False)

    def _show_tabs(self) -> None:
        rule = self._glyphs.rule
        left = [Piece(f"{rule} ", "dim")]
        room = self.size.width - sum(len(tab) + 3 for tab in _TABS) - 4
        # in zoom the line above says it
        if self._found is not None and room >= _LEAST_NAME and not self._zoomed:
            name = fit(self._found.trial.case_id, room, ellipsis=self._glyphs.cut).rstrip()
            left += [Piece(name, "strong"), Piece(f" {rule} ", "dim")]
        for at, tab in enumerate(_TABS):
            if at:
                left.append(Piece(f" {self._glyphs.dot} ", "dim"))
            tone: Tone = "accent" if tab is self.tab else "plain"
            left.append(Piece(tab, tone, f"open_tab('{tab}')"))
        left.append(Piece(" "))
        room = self.size.width - sum(width_of(piece.text) for piece in left)
        turning = [Piece(f"{rule} ", "dim"), Piece("[", "accent", "turn_tab(-1)")]
        turning += [
            Piece(" "),
            Piece("]", "accent", "turn_tab(1)"),
            Piece(f" {rule}", "dim"),
        ]
        self._tabs.show(left, turning if room > len(turning) + 2 else [], fill=rule)

    def _show_trial(self) -> None:
        if self._found is None:
            self._trial.show([])
            return
        trial, place = self._found.trial, self._place
        words, tone = standing_words(trial, self._glyphs)
        right = [Piece(f" {self._glyphs.mark} ", "accent")] if place.this_one else []
        if place.marked:
            right.append(Piece(f" {number(place.marked)} marked ", "dim"))
        right.append(Piece(f" {number(place.at)}/{number(place.listed)} ", "dim"))
        left = [Piece(f"  {words}  ", tone)]
        epoch = f"  epoch {trial.epoch + 1}" if trial.epoch else ""
        room = self.size.width - sum(width_of(piece.text) for piece in [*left, *right]) - len(epoch)
        cut = self._glyphs.cut
        case = fit(trial.case_id, min(width_of(trial.case_id), room // 2), ellipsis=cut, keep=4)
        room -= width_of(case) + 2
        column = fit(trial.column, min(width_of(trial.column), room), ellipsis=cut, keep=6)
        left += [Piece(case, "strong"), Piece(f"  {column}"), Piece(epoch, "dim")]
        self._trial.show(left, right)

    def _show_page(self, *, keep_place: bool) -> None:
        self.page.show(list(self._paras()), keep_place=keep_place)

    def _paras(self) -> Iterable[Para]:
        found = self._found
        if found is None:
            return pages.nothing_selected()
        match self.tab:
            case Tab.OUTPUT:
                return pages.output_page(found, self._glyphs, time.time())
            case Tab.SCORES:
                return pages.scores_page(found, self._glyphs)
            case Tab.MESSAGES:
                if self._asked is None:
                    self.post_message(self.Wanted(found))
                return pages.messages_page(found, self._asked)
            case Tab.ATTEMPTS:
                return pages.attempts_page(found, self._glyphs, time.time())
            case Tab.JUDGE:
                return judge_page(found, self._glyphs, self._judges)
            case Tab.CASE:
                return pages.case_page(found)
