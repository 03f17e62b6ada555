"""Resuming a run: at a cap the person says first how much more it may take."""

from typing import TypeVar

from textual.screen import Screen

from tui_eval.format import many
from tui_eval.model.json import JsonObject
from tui_eval.store.read import run_queries
from tui_eval.store.requests import Verb
from tui_eval.ui.dialogs.cap_dialog import CapDialog
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.actions.action_group import ActionGroup
from tui_eval.ui.run.actions.capping import After, capped, error_args, error_choices
from tui_eval.ui.run.actions.commands import Command
from tui_eval.ui.run.actions.request_sender import RequestSender
from tui_eval.ui.run.head.notice import awaits_cap
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.screens.base.base_screen import BaseScreen

T = TypeVar("T")

_LOOK_S = 0.5
"""How often a run is looked at while the person is asked about its cap."""


class CapActions(ActionGroup):
    """Resumes the run, and says once whenever it has paused at a cap."""

    def __init__(self, screen: BaseScreen, run: ObservedRun, sender: RequestSender) -> None:
        super().__init__(screen, run)
        self._sender = sender
        self._told_at_change: int | None = None
        """The run's change at which the person was told that it waits."""
        run.watch(self._tell, Snapshot)

    def action_resume(self) -> None:
        """Finish what is missing; a run at its cap goes on as the person says."""
        found = self.run.snapshot
        if found is not None and awaits_cap(found.run):
            self.screen.run_worker(self._ask(found), exclusive=True, group="cap")
        else:
            self._sender.start(Command(Verb.RESUME, {}))

    def _tell(self) -> None:
        assert self.run.snapshot is not None, "it has just been replaced"
        run = self.run.snapshot.run
        if awaits_cap(run) and run.change != self._told_at_change:
            self._told_at_change = run.change
            resume = key("run.resume", "u")
            self.screen.say(f"{run.name} waits at its cap; {resume} asks how to resume")

    async def _ask(self, found: Snapshot) -> None:
        cap = capped(found)
        args: JsonObject | None
        if cap is not None:
            typed = await self._while_at_cap(CapDialog(cap.question))
            args = None if typed is None else cap.args(typed)
        else:
            errored = f"{many(found.total.error, 'trial has', 'trials have')} errored"
            menu = Menu(f"paused: {errored}", error_choices(found), self.context.glyphs)
            after: After | None = await self._while_at_cap(menu)
            args = None if after in (None, "leave") else error_args(found, after)
        if args is not None:
            await self._sender.send(Command(Verb.RESUME, args))
        elif awaits_cap(await self.client.read(run_queries.run, self.run.id)):
            self.screen.say(f"the run stays paused; {key('run.resume', 'u')} asks again")
        else:
            self.screen.say("the run has moved on meanwhile")

    async def _while_at_cap(self, question: Screen[T]) -> T | None:
        """Ask as long as the run waits at its cap; None as well where it has moved on."""

        async def look() -> None:
            run = await self.client.read(run_queries.run, self.run.id)
            if not awaits_cap(run) and question.is_active:
                question.dismiss()

        # the screen is covered: it reads no snapshots meanwhile
        clock = self.screen.set_interval(_LOOK_S, look)
        try:
            return await self.screen.app.push_screen_wait(question)
        finally:
            clock.stop()
