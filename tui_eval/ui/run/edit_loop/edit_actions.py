"""Editing the suite while its run is open: `e`, and `D` for the verdicts that would change."""

from tui_eval.ui.dialogs.would_change import WouldChange
from tui_eval.ui.editor import NoEditorError, edit
from tui_eval.ui.run.actions.action_group import ActionGroup
from tui_eval.ui.run.edit_loop.edit_line import EditLine
from tui_eval.ui.run.edit_loop.flip_words import rate_words, turn_words
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.screens.base.base_screen import BaseScreen


class EditActions(ActionGroup):
    """Opens the suite's file, and lists what its edited scorers would change."""

    def __init__(
        self, screen: BaseScreen, run: ObservedRun, edits: EditLine, trial_list: TrialList
    ) -> None:
        super().__init__(screen, run)
        self._edits = edits
        self._list = trial_list

    def action_edit(self) -> None:
        """Edit the run's suite; what that changes is tried at once."""
        if self._edits.file is None:
            return
        try:
            edit(self.screen.app, self._edits.file, self._edits.tried.line)
        except NoEditorError as error:
            self.screen.say(str(error), "warning")

    def action_would_change(self) -> None:
        """List the verdicts that the edited scorers would change."""
        snapshot = self.run.snapshot
        assert snapshot is not None, "the run is on the screen"
        tried = self._edits.tried
        title = ", ".join(tried.changed)
        turns = turn_words(tried.turns, self.context.glyphs)
        rates = rate_words(tried.turns, self.run.results, self.context.glyphs)
        self.screen.app.push_screen(
            WouldChange(
                self.context,
                title,
                self._edits.flips,
                snapshot.column_title if len(snapshot.columns) > 1 else "",
                tried.flips,
                ", ".join(filter(None, (turns, rates))),
                tried.judged,
                self._list.go_to,
                lambda: self.screen.call_later(self.screen.run_action, "rescore_all"),
            )
        )
