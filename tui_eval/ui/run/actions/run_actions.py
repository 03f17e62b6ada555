"""What a person does to the run as a whole: `R`, `S`, `C`, `p`, `+`, `-`, and what it shows.

A key goes as `trial_actions.py` says; here it begins with the run instead of with trials.
"""

from tui_eval.model.states import RunState
from tui_eval.store.requests import Verb
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.run.actions import commands, rescoring
from tui_eval.ui.run.actions.action_group import ActionGroup, in_worker
from tui_eval.ui.run.actions.commands import Command
from tui_eval.ui.run.actions.request_sender import RequestSender
from tui_eval.ui.run.actions.rescoring import Rescoring
from tui_eval.ui.run.edit_loop.edit_line import EditLine
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.screens.base.base_screen import BaseScreen


class RunActions(ActionGroup):
    """Retries, rescores, pauses and stops a run, changes its concurrency, exports, compares."""

    def __init__(
        self,
        screen: BaseScreen,
        run: ObservedRun,
        trial_list: TrialList,
        edits: EditLine,
        sender: RequestSender,
    ) -> None:
        """Make the actions of a screen.

        Args:
            screen: Where the person is asked and told.
            run: What is known of the run.
            trial_list: Which trials are marked, and whose endpoint is meant.
            edits: What the suite's file would change.
            sender: Sends what is asked of the run.
        """
        super().__init__(screen, run)
        self._list = trial_list
        self._edits = edits
        self._sender = sender

    @property
    def _snapshot(self) -> Snapshot:
        assert self.run.snapshot is not None, "greyed until the run has been read"
        return self.run.snapshot

    @in_worker
    async def action_retry_all(self) -> None:
        """Retry everything errored or ungraded."""
        total = self._snapshot.total
        args = commands.retry_all(total.error, total.ungraded).args
        with self.context.keys_wait():
            cost = await self.client.ponder(commands.forecast_words, self.run.id, Verb.RETRY, args)
        await self._sender.send(commands.retry_all(total.error, total.ungraded, cost))

    @in_worker
    async def action_rescore_all(self) -> None:
        """Choose what is scored again, and with what."""
        with self.context.keys_wait():
            found = await self.client.ponder(rescoring.scored, self.client.path, self.run.id)
        if found.problem is not None:
            self.screen.say(f"the suite's file cannot be used: {found.problem}", "warning")
        with self.context.keys_wait():
            marked = await self._list.marked_ids()
        total, edited_first = self._snapshot.total, bool(self._edits.tried.changed)
        lines = rescoring.choices(found, total, marked, edited_first=edited_first)
        chosen: Rescoring | None = lines[0].value
        if len(lines) > 1:
            menu = Menu("score again", lines, self.context.glyphs)
            chosen = await self.screen.app.push_screen_wait(menu)
        if chosen is not None:
            with self.context.keys_wait():
                cost = await self.client.ponder(
                    commands.forecast_words, self.run.id, Verb.RESCORE, chosen.args
                )
            await self._sender.send(rescoring.command(chosen, cost))

    def action_stop_run(self) -> None:
        """Stop the run."""
        total = self._snapshot.total
        self._sender.start(commands.stop(total.total - total.settled))

    def action_pause(self) -> None:
        """Start nothing new, or go on."""
        paused = self._snapshot.run.state is RunState.PAUSED
        self._sender.start(Command(Verb.CONTINUE if paused else Verb.PAUSE, {}))

    def action_limit(self, by: int) -> None:
        """Change the concurrency of the endpoint of the trial under the cursor."""
        trial = self._list.selected
        if trial is None:
            return
        endpoint = next(c.endpoint for c in self._snapshot.columns if c.index == trial.col)
        self._sender.start(Command(Verb.SET_LIMIT, {"endpoint": endpoint, "by": by}))

    @in_worker
    async def action_export(self) -> None:
        """Write the run's trials into a file."""
        from tui_eval.ui.runs.exporting import export

        await export(self.screen, [self._snapshot.run])

    @in_worker
    async def action_baseline(self) -> None:
        """Pin the run as its suite's baseline, or unpin it."""
        from tui_eval.ui.runs.pinning import pin_or_unpin

        await pin_or_unpin(self.screen, self._snapshot.run)

    @in_worker
    async def action_compare(self) -> None:
        """Compare the run with its baseline, or with what a person chooses."""
        from tui_eval.ui.compare.choosing import choose_sides
        from tui_eval.ui.screens.compare_screen import CompareScreen

        sides = await choose_sides(self.screen, self.run.id)
        if sides is not None:
            await self.screen.app.push_screen(CompareScreen(self.context, sides))

    @in_worker
    async def action_charts(self) -> None:
        """Show charts of the run."""
        from tui_eval.ui.screens.charts_screen import ChartsScreen

        await self.screen.app.push_screen(ChartsScreen(self.context, self._snapshot.run))
