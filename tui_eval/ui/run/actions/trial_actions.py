"""What a person does to trials: `r`, `s`, `c`, `t`; on the marked, else the selected one; `U`.

The life of such a key press, `r` for example:

1. `ui/keys/key_queue.py` gives the key its turn; Textual finds its binding (`run/run_keys.py`) on
   the `TrialsPane`, and `availability.why_not` says whether `retry` is available.
2. `TrialActions.action_retry` looks up the trials it is about and makes a `Command` of it, with a
   question and what it costs where it loses an answer or is about several.
3. `RequestSender.send` asks the question and has `ui/store_access/run_requests.py` write the
   request into the store, off the app's loop; an engine is started where none works on the run.
4. The commit wakes the `RunMonitor`; the next snapshot has the request as pending, and the list
   shows "retrying…" on its trials.
5. The engine answers; a later snapshot has the answer. `RequestSender` says it, and puts the way
   back, if there is one, onto the `UndoStack`.

Keys about the whole run (`R`, `S`, `C`, `p`, …) begin in `run_actions.py`, `u` in `cap_actions.py`;
they go on at 3.
"""

from collections.abc import Mapping
from dataclasses import replace

from tui_eval.format import many
from tui_eval.store.errors import StoreError
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.rows import TrialRow
from tui_eval.ui.run.actions import commands
from tui_eval.ui.run.actions.action_group import ActionGroup, in_worker
from tui_eval.ui.run.actions.commands import Command
from tui_eval.ui.run.actions.noting import ask_note, write_notes
from tui_eval.ui.run.actions.request_sender import RequestSender
from tui_eval.ui.run.actions.undo_stack import UndoStack
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen


class TrialActions(ActionGroup):
    """Retries, rescores, cancels and annotates trials, and undoes that."""

    def __init__(
        self,
        screen: BaseScreen,
        run: ObservedRun,
        trial_list: TrialList,
        sender: RequestSender,
        undo: UndoStack,
    ) -> None:
        """Make the actions of a screen.

        Args:
            screen: Where the person is asked and told.
            run: What is known of the run.
            trial_list: Which trials they are about.
            sender: Sends what is asked of them.
            undo: What can be undone.
        """
        super().__init__(screen, run)
        self._list = trial_list
        self._sender = sender
        self._undo = undo

    @in_worker
    async def action_cancel(self) -> None:
        """Cancel the trial or the marked ones."""
        await self._send(Verb.CANCEL)

    @in_worker
    async def action_retry(self) -> None:
        """Ask again for the trial or the marked ones."""
        await self._send(Verb.RETRY)

    @in_worker
    async def action_rescore(self) -> None:
        """Score the trial or the marked ones again."""
        await self._send(Verb.RESCORE)

    async def _send(self, verb: Verb) -> None:
        with self.context.keys_wait():  # the next keys may be for the question
            trials = await self._list.acted_on()
            command = await self._command(verb, trials) if trials else None
        if command is not None and await self._sender.send(command):
            self._list.done_with_marks()

    async def _command(self, verb: Verb, trials: list[int]) -> Command:
        """Return the command about trials; of several, or with an answer to lose, with its cost."""
        lost, about = None, ""
        if len(trials) == 1:
            trial = await self.client.read(trial_rows.trial, trials[0])
            about = "" if trial is None else self._named(trial)
            if trial is not None and trial.output is not None and verb is Verb.RETRY:
                lost = trial.case_id
        if len(trials) == 1 and lost is None:
            return replace(commands.about_trials(verb, trials), about=about)
        args = commands.trial_args(trials)
        cost = await self.client.ponder(commands.forecast_words, self.run.id, verb, args)
        return replace(commands.about_trials(verb, trials, cost, lost), about=about)

    def _named(self, trial: TrialRow) -> str:
        """Return a trial's case, with its target where the run has several."""
        several = self.run.snapshot is not None and len(self.run.snapshot.columns) > 1
        return f"{trial.case_id} · {trial.column}" if several else trial.case_id

    @in_worker
    async def action_note(self) -> None:
        """Write a note on the trial or the marked ones."""
        with self.context.keys_wait():
            trials = await self._list.acted_on()
        if not trials:
            return
        selected = self._list.selected
        one = "the trial" if selected is None else selected.case_id
        about = one if len(trials) == 1 else many(len(trials), "trial")
        found = await ask_note(self.screen.app, self.context, trials, about)
        if found is not None and await self._write_notes(found[0]):
            self._list.done_with_marks()
            before = found[1]
            self._undo.add(
                f"the note on {about}",
                lambda: self.screen.run_worker(self._write_notes(before)),
            )

    async def _write_notes(self, wanted: Mapping[int, str]) -> bool:
        try:
            await write_notes(self.client, wanted)
        except (StoreError, OSError) as error:
            self.screen.say(f"not written: {error}", "error", seconds=15)
            return False
        return True

    def action_undo(self) -> None:
        """Undo what was done last: a cancel, a rescore, a note, marks."""
        words = self._undo.undo()
        if words is not None:
            self.screen.say(f"undone: {words}")
