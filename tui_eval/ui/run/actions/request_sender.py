"""Sending a command to the run: question first, then a request in the store, then its answer."""

from functools import partial

from tui_eval.store.errors import StoreError
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import RequestRow
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.run.actions import commands
from tui_eval.ui.run.actions.commands import Command
from tui_eval.ui.run.actions.undo_stack import UndoStack
from tui_eval.ui.run.monitor import RunMonitor
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.store_access import run_requests


class RequestSender:
    """Sends every command of the Run screen, and says how each ended once it is answered."""

    def __init__(
        self, screen: BaseScreen, run: ObservedRun, monitor: RunMonitor, undo: UndoStack
    ) -> None:
        """Make the sender of a screen.

        Args:
            screen: Where the person is asked and told.
            run: Brings the answers.
            monitor: Told which answers are waited for.
            undo: Given the way back from what was done.
        """
        self._screen = screen
        self._run = run
        self._monitor = monitor
        self._undo = undo
        self._about: dict[int, str] = {}
        """By request that waits, the one trial it is about."""
        run.watch(self._tell_of_answers, Snapshot)

    def start(self, command: Command) -> None:
        """Send a command as a worker of the screen, see `send`."""
        self._screen.run_worker(self.send(command))

    async def send(self, command: Command) -> bool:
        """Ask the person where the command has a question, then write the request down.

        Returns:
            Whether it was written down.
        """
        if command.question is not None:
            question = ConfirmDialog(
                command.question, yes=command.yes, no=command.no, more=command.more
            )
            if not await self._screen.app.push_screen_wait(question):
                return False
        client = self._screen.context.client
        try:
            request = await run_requests.ask(client, self._run.id, command.verb, command.args)
        except (StoreError, OSError) as error:
            self._screen.say(f"not done: {error}", "error", seconds=15)
            return False
        if command.about:
            self._about[request] = command.about
        self._monitor.awaited.add(request)
        self._monitor.wake()
        return True

    def _tell_of_answers(self) -> None:
        assert self._run.snapshot is not None, "it has just been replaced"
        for request in self._run.snapshot.answered:
            about = self._about.pop(request.id, "")
            words, accepted = commands.answer_words(request, self._run.snapshot.columns, about)
            self._screen.say(words, "information" if accepted else "warning")
            self._remember_way_back(request, about)

    def _remember_way_back(self, request: RequestRow, about: str) -> None:
        inverse = commands.inverse_of(request, about)
        if inverse is not None:
            self._undo.add(inverse.words, partial(self.start, inverse.command))
        elif request.verb == Verb.WITHDRAW and request.outcome == Outcome.TOO_EARLY:
            again = Command(Verb.WITHDRAW, request.args)
            self._undo.add("scoring again", partial(self.start, again))
