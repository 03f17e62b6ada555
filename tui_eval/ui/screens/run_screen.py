"""The Run screen: what a live or finished run comes to, its trials, and one of them in detail."""

from collections.abc import AsyncIterator
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType

from tui_eval.resources import styles_dir
from tui_eval.store.errors import UnknownRunError
from tui_eval.ui.context import AppContext
from tui_eval.ui.grade.grading_choice import GradingChoice
from tui_eval.ui.run.actions import availability
from tui_eval.ui.run.actions.availability import RunSituation
from tui_eval.ui.run.actions.cap_actions import CapActions
from tui_eval.ui.run.actions.grade_actions import GradeActions
from tui_eval.ui.run.actions.request_sender import RequestSender
from tui_eval.ui.run.actions.run_actions import RunActions
from tui_eval.ui.run.actions.trial_actions import TrialActions
from tui_eval.ui.run.actions.undo_stack import UndoStack
from tui_eval.ui.run.detail.detail_actions import DetailActions
from tui_eval.ui.run.detail.trial_detail import TrialDetail
from tui_eval.ui.run.edit_loop.edit_actions import EditActions
from tui_eval.ui.run.edit_loop.edit_line import EditLine
from tui_eval.ui.run.head.run_head import RunHead
from tui_eval.ui.run.list.list_actions import ListActions
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.monitor import RunMonitor
from tui_eval.ui.run.observed_run import ObservedRun, Part
from tui_eval.ui.run.run_keys import RUN_KEYS, key_order, key_words
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.run.trials_pane import TrialsPane
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.widgets.keyline import KeyLine

_TICK_S = 1.0
_LOOK_AGAIN_S = 5.0
"""A run whose engine was killed commits nothing: its lease is looked at without being told to."""


class RunScreen(BaseScreen):
    """Puts the parts of a run together, and reads the run for them.

    What is known of it is in `run`; what is done to it and to its trials, in `run/actions/`.
    """

    AUTO_FOCUS = ""  # the first that could have it is the hidden field to find a text in
    CSS_PATH = styles_dir() / "run_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*RUN_KEYS]

    def __init__(self, context: AppContext, run_id: int, place: int | None = None) -> None:
        """Make the screen of a run.

        Args:
            context: What all screens share.
            run_id: The run.
            place: The trial to begin at; None: the first.
        """
        super().__init__(context)
        self.run = run = ObservedRun(run_id)
        self.monitor = RunMonitor(context.client, run_id)
        self.undo = UndoStack(self._show_what_can_be_done)
        self.head = RunHead(context.glyphs, run, self.monitor)
        self.edits = EditLine(context, run)
        self.trial_list = TrialList(context, run)
        self.detail = TrialDetail(context.glyphs, run)
        self.pane = TrialsPane(context.client, run, self.trial_list, self.detail, self.situation)
        if place is not None:
            self.trial_list.go_to(place)
        self._delegate_actions()
        self._derived: tuple[tuple[object, ...], RunSituation] | None = None
        """The facts that the situation was derived of last, and the situation."""
        self._painted: RunSituation | None = None
        """The situation that the keys are painted for."""

    def _delegate_actions(self) -> None:
        run, trial_list, undo = self.run, self.trial_list, self.undo
        sender = RequestSender(self, run, self.monitor, undo)
        self._grading = GradeActions(self, run, trial_list, sender)
        self.pane.delegate_to(
            TrialActions(self, run, trial_list, sender, undo),
            self._grading,
            ListActions(self, run, trial_list, undo),
            DetailActions(self, run, trial_list),
        )
        self.delegate_to(
            RunActions(self, run, trial_list, self.edits, sender),
            CapActions(self, run, sender),
            EditActions(self, run, self.edits, trial_list),
            self._grading,
        )

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.head
        yield self.edits
        yield self.pane
        yield KeyLine(
            lambda binding: key_words(binding, self.situation()),
            lambda: key_order(self.situation()),
        )

    def on_mount(self) -> None:
        """Begin to follow the run."""
        self.set_focus(self.trial_list.table)  # now: the next key of a burst is for it
        self.run.watch(self._show_what_can_be_done, Snapshot)
        self.on_pulse(self.monitor.wake)
        self.every(_TICK_S, self._tick)
        self.every(_LOOK_AGAIN_S, self.monitor.wake)
        self._observe(self.monitor.snapshots())
        self._observe(self.monitor.figures())
        self._observe(self.monitor.results())
        self._observe(self.monitor.differences())

    def on_resize(self) -> None:
        """Say as much in the head as there is room for."""
        self.head.show()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self.monitor.wake()

    @work
    async def _observe(self, readings: AsyncIterator[tuple[Part, ...]]) -> None:
        try:
            async for parts in readings:
                self.run.update(*parts)
        except UnknownRunError:
            self._leave_deleted()

    def _leave_deleted(self) -> None:
        if self.leaving:
            return  # another part has found out before
        seen = self.run.snapshot is not None and self.run.snapshot.run.staged
        self.say(
            "The run was deleted."
            if seen
            else "The run could not start and was removed; its log is beside the store.",
            "error",
            seconds=12,
        )
        self.leave_when_seen()

    def _tick(self) -> None:
        """Let the clocks run on."""
        self.head.tick()
        if self.run.snapshot is not None and self.run.snapshot.run.live:
            self.pane.tick()

    # -- what can be done

    def situation(self) -> RunSituation | None:
        """Return what decides about actions; None: the run is still being read.

        Every key asks for it whenever the keys are painted: it is derived once of the same facts.
        """
        snapshot = self.run.snapshot
        if snapshot is None:
            return None
        facts = (snapshot, self.pane.selection, bool(self.undo), self.edits.no_change)
        if self._derived is None or self._derived[0] != facts:
            _, selection, undoable, no_change = facts
            derived = availability.situation(
                snapshot.run,
                snapshot.total,
                selection,
                columns=len(snapshot.columns),
                epochs=snapshot.epochs,
                undoable=undoable,
                pinned=snapshot.pinned,
                stopping=snapshot.stopping,
                no_change=no_change,
            )
            self._derived = facts, derived
        return self._derived[1]

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        return availability.why_not(action, self.situation())

    @on(EditLine.Changed)
    @on(TrialList.Changed)
    def _show_what_can_be_done(self) -> None:
        now = self.situation()
        if now is None or now.settling_in:
            return  # in a moment it has been read: no key shall flicker
        if now != self._painted:
            self._painted = now
            self.refresh_bindings()

    @work
    async def grade(self, choice: GradingChoice) -> None:
        """Have outputs of the run graded."""
        await self._grading.open_grading(choice)

    async def action_back(self) -> None:
        """Go one step back: find, zoom, text, marks, screen."""
        if not await self.pane.step_back():
            await self.action_leave()
