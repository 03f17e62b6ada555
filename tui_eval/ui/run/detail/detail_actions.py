"""What a person looks at of the trial under the cursor, and takes away: diff, history, copies."""

from tui_eval.store.read.trials import trial_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.navigation import OpenRun
from tui_eval.ui.run.actions.action_group import ActionGroup, in_worker
from tui_eval.ui.run.detail.comparable import ComparableText, comparable_texts, output_text, text_of
from tui_eval.ui.run.detail.copying import NothingToCopyError, copied, copied_words, copy_choices
from tui_eval.ui.run.detail.trial_context import trial_context
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.diff_screen import ComparedTexts, DiffScreen
from tui_eval.ui.screens.history_screen import HistoryScreen
from tui_eval.ui.screens.workspace_screen import WorkspaceScreen


class DetailActions(ActionGroup):
    """Shows the trial under the cursor beside others, and copies something of it."""

    def __init__(self, screen: BaseScreen, run: ObservedRun, trial_list: TrialList) -> None:
        super().__init__(screen, run)
        self._list = trial_list

    async def _whole(self) -> WholeTrial | None:
        """Read the selected trial anew: the detail may still be of the trial before."""
        selected = self._list.selected
        if selected is None:
            return None
        with self.context.keys_wait():
            return await self.client.read(trial_queries.whole, self.run.id, selected.id)

    @in_worker
    async def action_copy(self) -> None:
        """Copy something of the trial."""
        found = await self._whole()
        if found is None:
            return
        menu = Menu("copy", copy_choices(found), self.context.glyphs)
        what = await self.screen.app.push_screen_wait(menu)
        if what is None:
            return
        try:
            text = await self.client.ponder(copied, self.run.id, found, what)
        except NothingToCopyError as error:
            self.screen.say(str(error), "warning")
            return
        self.screen.app.copy_to_clipboard(text)
        self.screen.say(copied_words(what, text))

    @in_worker
    async def action_history(self) -> None:
        """List what became of the case over the runs of its suite, and go to one of them."""
        found = await self._whole()
        if found is None:
            return
        with self.context.keys_wait():
            context = await self.client.ponder(trial_context, self.run.id, found)
        trial, glyphs = found.trial, self.context.glyphs
        history = HistoryScreen(
            trial.case_id, trial.column, context, self.run.id, trial.epoch, glyphs
        )
        chosen = await self.screen.app.push_screen_wait(history)
        if chosen is None:
            return
        if chosen.run == self.run.id:
            self._list.go_to(chosen.place)
        else:  # on top of this one: going back leads here again
            self.screen.post_message(OpenRun(chosen.run, chosen.place, here=True))

    @in_worker
    async def action_workspace(self) -> None:
        """List what the trial's program changed in its workspace."""
        found = await self._whole()
        if found is None:
            return
        if found.workspace is None:
            self.screen.say("nothing of a workspace was kept: its target has none")
            return
        await self.screen.app.push_screen(WorkspaceScreen(self.context, self.run.id, found))

    @in_worker
    async def action_diff(self) -> None:
        """Show what differs between the output and another text for the case."""
        found = await self._whole()
        if found is None or found.output is None:
            return
        with self.context.keys_wait():
            there = await self.client.ponder(comparable_texts, self.run.id, found)
        if not there:
            said = "nothing to compare with: no expected text, earlier full run, target or attempt"
            self.screen.say(said)
            return
        other: ComparableText | None = there[0]
        if len(there) > 1:
            choices = [Choice(one.name, one, one.note) for one in there]
            menu = Menu("compare the output with", choices, self.context.glyphs)
            other = await self.screen.app.push_screen_wait(menu)
        if other is None:
            return
        with self.context.keys_wait():
            old = await self.client.ponder(text_of, other)
        trial = found.trial
        compared = ComparedTexts(
            trial.case_id, trial.column, other.name, old, output_text(found.output)
        )
        await self.screen.app.push_screen(DiffScreen(self.context, compared))
