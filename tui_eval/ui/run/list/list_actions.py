"""What a person does to the list of trials: filters, order, groups, marks, following."""

import sqlite3
from collections.abc import Sequence
from functools import partial

from tui_eval.format import many
from tui_eval.store.search.confusion import choice_scorers
from tui_eval.store.search.views import Condition, FilterKind, TrialOutcome
from tui_eval.ui.dialogs.filter_menu import FilterMenu, FilterTotal
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.run.actions.action_group import ActionGroup, in_worker
from tui_eval.ui.run.actions.undo_stack import UndoStack
from tui_eval.ui.run.list import filters
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.groups_screen import GroupsScreen


class ListActions(ActionGroup):
    """Changes which trials are listed, in which order, and which are marked."""

    def __init__(
        self, screen: BaseScreen, run: ObservedRun, trial_list: TrialList, undo: UndoStack
    ) -> None:
        super().__init__(screen, run)
        self._list = trial_list
        self._undo = undo

    # -- filters and order

    def action_list_only(self, which: str) -> None:
        """List only trials that stand so, whatever was listed before."""
        self._list.filter([Condition(FilterKind.STANDS, TrialOutcome[which])])

    @in_worker
    async def action_filter(self) -> None:
        """Choose which trials are listed."""
        if self.run.snapshot is None:
            return
        view, trials = self._list.view, self._list.trials
        offers = filters.offers(self.run.snapshot, self.run.figures, view, self._list.selected)
        total = FilterTotal(self.run.snapshot.total.total, "trial")
        if view.by_case:
            total = FilterTotal(total.n // trials.width, "case")
        menu = FilterMenu(offers, view.parts, total, self._count_parts, self.context.glyphs)
        parts = await self.screen.app.push_screen_wait(menu)
        if parts is not None:
            self._list.filter(parts)

    async def _count_parts(
        self, parts: Sequence[Condition], *, by_case: bool, waited_for: bool
    ) -> int:
        ask = self.client.ponder if waited_for else self.client.survey
        return await ask(_count, self.run.id, parts, by_case=by_case)

    def action_by_case(self) -> None:
        """List a case a row with a mark for each target, or a trial a row."""
        self._list.turn()

    def action_turn_column(self, step: int) -> None:
        """By case, go to the trial of the next target, or with -1 of the one before."""
        self._list.turn_column(step)

    def action_drop_filter(self, at: int | None = None) -> None:
        """Take a condition away: the one at a place in the line, else the newest."""
        parts = self._list.view.parts
        if at is None:
            self._list.drop_newest()
        elif at < len(parts):
            self._list.filter([*parts[:at], *parts[at + 1 :]])
        else:
            self._list.narrow("")

    @in_worker
    async def action_sort(self) -> None:
        """Choose the order of the list."""
        if self.run.snapshot is None:
            return
        choices = filters.orders(self._list.view, self.run.snapshot)
        menu = Menu("sort by", choices, self.context.glyphs)
        chosen = await self.screen.app.push_screen_wait(menu)
        if chosen is not None:
            self._list.sort(*chosen)

    @in_worker
    async def action_groups(self) -> None:
        """Show what the listed trials have in common; what is chosen there is listed."""
        if self.run.snapshot is None:
            self.screen.say("the run is still being read")
            return
        with self.context.keys_wait():
            scorers = await self.context.client.read(choice_scorers, self.run.id)
        columns = [column.name for column in self.run.snapshot.columns]
        groups = GroupsScreen(self.context, self.run.id, self._list, columns, scorers)
        part = await self.screen.app.push_screen_wait(groups)
        if part is not None:
            self._list.filter(self._list.view.with_part(part).parts)

    # -- marks

    def action_mark(self) -> None:
        """Mark the trial, or take its mark away, and go on to the next."""
        self._can_undo_marks("the last mark")
        self._list.marking.toggle()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self._can_undo_marks("taking the marks away")
        self._list.marking.clear()

    def action_mark_all(self) -> None:
        """Mark all trials that are listed."""
        self._can_undo_marks("marking all that are shown")
        self._list.marking.mark_all()
        marked = many(self._list.marks.count, "trial")
        self.screen.say(f"{marked} marked; esc takes the marks away")

    def _can_undo_marks(self, words: str) -> None:
        self._undo.add(words, partial(self._list.marking.put_back, self._list.marks.taken()))


def _count(
    db: sqlite3.Connection, run_id: int, parts: Sequence[Condition], *, by_case: bool
) -> int:
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison import case_values

    return case_values.count(db, run_id, parts, by_case=by_case)
