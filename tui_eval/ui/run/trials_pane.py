"""The list of trials and the detail of one: what the keys about trials are bound around."""

import asyncio
from collections.abc import Callable
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.widgets import Input

from tui_eval.format import many
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.keys.acting import Acting, say
from tui_eval.ui.keys.restrictions import UNRESTRICTED, Restrictions
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.actions.availability import RunSituation, Selection, why_not
from tui_eval.ui.run.detail.detail_title import Tab
from tui_eval.ui.run.detail.live_reader import LiveReader, live_reader
from tui_eval.ui.run.detail.trial_context import trial_context
from tui_eval.ui.run.detail.trial_detail import ZOOMED, TrialDetail
from tui_eval.ui.run.list.trial_list import TrialList
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.run_keys import TRIAL_KEYS
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.store_access.store_client import StoreClient
from tui_eval.ui.widgets.rows import Rows

_FINDING = "-finding"
"""Class of the pane while the person types what to find."""
_TOGETHER_S = 0.1
"""Seconds that a trial waits for what stands around it, before it is shown without."""
_IN_DETAIL = "-in-detail"
"""Class of the field where it is sought in the text of the detail."""


class TrialsPane(Acting, Container):
    """Puts the list and the detail beside each other: shows in one what the other has selected.

    It does itself what concerns both, zoom, focus and finding a text; its other keys are done by
    the actions it delegates to.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*TRIAL_KEYS]

    def __init__(
        self,
        client: StoreClient,
        run: ObservedRun,
        trial_list: TrialList,
        detail: TrialDetail,
        situation: Callable[[], RunSituation | None],
    ) -> None:
        """Make the pane of a screen.

        Args:
            client: The way to the store.
            run: What is known of the run.
            trial_list: What is listed.
            detail: What is seen of the trial under the cursor.
            situation: Gives what decides about actions; None: the run is still being read.
        """
        super().__init__(id="trials-pane")
        self._client = client
        self._run = run
        self._list = trial_list
        self._detail = detail
        self._situation = situation
        self._detail_wanted = asyncio.Event()
        self._detail_is_old = False
        """Whether trials have changed since the detail was wanted last."""
        self._live: LiveReader | None = None
        """Looks at the attempt that was looked at last."""
        self._looking = False
        self.delegate_to(detail)

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._list
        yield self._detail

    def on_mount(self) -> None:
        """Begin to read."""
        self._run.watch(self._read_detail_of_changed, Snapshot)
        self._read_details()

    # -- what can be done

    @property
    def selection(self) -> Selection:
        """What keys act on."""
        trial, found = self._list.selected, self._detail.found
        known = found is not None and trial is not None and found.trial.id == trial.id
        return Selection(
            trial=trial,
            workspace=found.workspace is not None if known and found is not None else None,
            marked=self._list.marks.count,
            listed=self._list.trials.count,
            zoomed=self._detail.zoomed,
            narrowed=self._list.view.narrowed,
            text_hits=self._in_detail and self._detail.page.hits > 0,
            by_case=self._list.view.by_case,
        )

    @property
    def restrictions(self) -> Restrictions:
        """What the session does not permit: its screen knows."""
        screen = self.screen
        return screen.restrictions if isinstance(screen, Acting) else UNRESTRICTED

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        return why_not(action, self._situation())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave `d` to what edited scorers would change while that is offered above the list."""
        if action == "diff":
            now = self._situation()
            if now is not None and now.offers_changes and not now.zoomed:
                return False
        return super().check_action(action, parameters)

    # -- the detail of what is selected

    def _read_detail_of_changed(self) -> None:
        snapshot, trial = self._run.snapshot, self._list.selected
        assert snapshot is not None, "it has just been replaced"
        self._detail_is_old |= snapshot.overflow or bool(snapshot.changed)
        if (
            trial is None
            or not (trial.state.settled and snapshot.run.live)
            or any(changed.seq == trial.seq for changed in snapshot.changed)
        ):
            self._read_old_detail()
        self._detail.show_place(self._list.place)

    def tick(self) -> None:
        """Let the clocks run on; what stands around a settled trial may have changed by now."""
        self._list.tick()
        self._detail.tick()
        self._read_old_detail()

    def _read_old_detail(self) -> None:
        if self._detail_is_old:
            self._detail_is_old = False
            self._detail_wanted.set()

    @on(TrialList.Changed)
    def _read_detail_of_selected(self) -> None:
        self._detail_wanted.set()
        self._detail.mark(self._list.view.text)
        self._detail.show_place(self._list.place)

    @work
    async def _read_details(self) -> None:
        while True:
            await self._detail_wanted.wait()
            self._detail_wanted.clear()
            trial = self._list.selected
            if trial is None:
                if not self._list.trials.count:
                    self._detail.show(None)
                continue
            found = await self._client.read(trial_queries.whole, self._run.id, trial.id)
            if found is None or not self._is_selected(trial.id):
                continue
            if self._detail.zoomed:
                self._list.hold(found.trial)
            now = self._run.snapshot
            earlier = None if now is None else now.earlier
            asked = self._client.ponder(trial_context, self._run.id, found, earlier)
            reading = asyncio.ensure_future(asked)
            await asyncio.wait({reading}, timeout=_TOGETHER_S)  # shown at once, nothing moves later
            if self._is_selected(trial.id):
                self._detail.show(found, reading.result() if reading.done() else None)
            self._detail.show_context(trial.id, await reading)

    def _is_selected(self, trial_id: int) -> bool:
        selected = self._list.selected
        return selected is not None and selected.id == trial_id

    def action_follow(self) -> None:
        """Go along with what is settled, or in the Live tab with what is printed; or stay."""
        if self._detail.tab is Tab.LIVE:
            self._detail.follow_end()
        else:
            self._list.follow()

    @on(TrialDetail.LookWanted)
    def _look(self, event: TrialDetail.LookWanted) -> None:
        if not self._looking:  # a look that takes long is not followed by others
            self._looking = True
            self._read_live(event.trial)

    @work(group="live")
    async def _read_live(self, found: WholeTrial) -> None:
        """Look at a running attempt, off the loop."""
        attempt = found.attempts[-1].id if found.attempts else None
        try:
            if self._live is None or self._live.attempt != attempt:
                path, run = self._client.path, self._run.id
                self._live = await self._client.ponder(live_reader, path, run, found)
            seen = await asyncio.to_thread(self._live.look)
        finally:
            self._looking = False
        self._detail.show_live(found.trial.id, seen)

    @on(TrialDetail.Stepped)
    def _step(self, event: TrialDetail.Stepped) -> None:
        self._list.step(event.by)

    # -- zoom and focus

    @on(Rows.Opened)
    def _open(self) -> None:
        self.action_zoom()

    def action_zoom(self) -> None:
        """Give the detail the whole screen, or take it back."""
        zoomed = not self._detail.zoomed
        self.screen.set_class(zoomed, ZOOMED)
        self._list.hold(self._list.selected if zoomed else None)
        (self._detail.page if zoomed else self._list.table).focus()
        self.post_message(TrialList.Changed())

    def action_switch_focus(self) -> None:
        """Go between the table and the detail."""
        page = self._detail.page
        to_table = page.has_focus and not self._detail.zoomed
        (self._list.table if to_table else page).focus()

    async def step_back(self) -> bool:
        """Go one step back: find, zoom, text, marks; False: there was none."""
        if self.has_class(_FINDING):
            self._stop_finding()
        elif self._detail.zoomed:
            self.action_zoom()  # the list is hidden: what it is like stays
        elif self._list.view.text:
            self._list.narrow("")
        elif self._list.marks.count:
            await self.run_action("unmark")
        elif self._list.marking.just_served():
            say(self, "nothing is marked any more; once more leaves the run")
        else:
            return False
        return True

    # -- finding a text

    @property
    def _in_detail(self) -> bool:
        return self._detail.page.has_focus or self._detail.zoomed

    @work
    async def action_next_unmet(self, step: int) -> None:
        """Go to the next failure, or to the next find hit in the text."""
        if self._in_detail and self._detail.page.hits:
            self._detail.page.next_hit(step)
        elif not await self._list.go_to_unmet(step):
            say(self, "no failure in this list")

    def action_find(self) -> None:
        """Narrow the list by text, or find in the detail."""
        field = self._list.field
        field.value = "" if self._in_detail else self._list.view.text
        field.set_class(self._in_detail, _IN_DETAIL)
        field.select_all()
        self.add_class(_FINDING)
        self.screen.set_focus(field)  # now: the next key of a burst is for it

    def _stop_finding(self) -> None:
        in_detail = self._list.field.has_class(_IN_DETAIL)
        if in_detail:
            self._detail.seek("")
        else:
            self._list.narrow("")
        self._close_find(in_detail)

    @on(Input.Changed, "#find")
    def _seek(self, event: Input.Changed) -> None:
        if not self.has_class(_FINDING):
            return
        if event.input.has_class(_IN_DETAIL):
            self._detail.seek(event.value)
        else:
            self._list.narrow(event.value)

    @on(Input.Submitted, "#find")
    def _end_finding(self, event: Input.Submitted) -> None:
        in_detail = event.input.has_class(_IN_DETAIL)
        self._close_find(in_detail)
        if in_detail and event.value:
            hits = self._detail.page.hits
            found = f"{many(hits, 'line')}; {key('run.next', 'n')} goes to the next"
            say(self, found if hits else "not in this text")
            self._detail.page.next_hit(1)

    def _close_find(self, in_detail: bool) -> None:
        self.remove_class(_FINDING)
        self.screen.set_focus(self._detail.page if in_detail else self._list.table)
