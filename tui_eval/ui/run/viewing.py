"""What can be seen of the trial under the cursor, and taken away."""

from textual import work

from tui_eval.store import browse
from tui_eval.store.browse import WholeTrial
from tui_eval.ui.going import OpenRun
from tui_eval.ui.run.beside import beside
from tui_eval.ui.run.copying import NothingToCopyError, copied, copied_words, copy_choices
from tui_eval.ui.run.finder import Finder
from tui_eval.ui.run.others import Other, others, spoken, text_of
from tui_eval.ui.screens.diff import Compared, Diff
from tui_eval.ui.screens.history import History
from tui_eval.ui.screens.menu import Choice, Menu


class Viewing(Finder):
    """Shows one trial from all sides, and gives of it what is asked for."""

    async def _whole(self) -> WholeTrial | None:
        """Read the selected trial anew: the detail may still be of the trial before."""
        if self.selected is None:
            return None
        with self.bench.keys_wait():
            return await self.bench.desk.read(browse.whole, self.run_id, self.selected.id)

    def action_raw(self) -> None:
        """Show outputs as they came, or laid out."""
        self.detail.turn_raw()

    def action_unfold(self) -> None:
        """Unfold everything in the detail, or fold it."""
        self.detail.turn_folds()

    @work
    async def action_copy(self) -> None:
        """Copy something of the trial."""
        found = await self._whole()
        if found is None:
            return
        menu = Menu("copy", copy_choices(found), self.bench.glyphs)
        what = await self.app.push_screen_wait(menu)
        if what is None:
            return
        try:
            text = await self.bench.desk.ponder(copied, self.run_id, found, what)
        except NothingToCopyError as error:
            self.say(str(error), "warning")
            return
        self.app.copy_to_clipboard(text)
        self.say(copied_words(what, text))

    @work
    async def action_history(self) -> None:
        """List what became of the case over the runs of its suite, and go to one of them."""
        found = await self._whole()
        if found is None:
            return
        with self.bench.keys_wait():
            stands = await self.bench.desk.ponder(beside, self.run_id, found)
        trial = found.trial
        screen = History(
            trial.case_id, trial.column, stands, self.run_id, trial.epoch, self.bench.glyphs
        )
        chosen = await self.app.push_screen_wait(screen)
        if chosen is None:
            return
        if chosen.run == self.run_id:
            self.listing.go_to(chosen.place)
        else:  # on top of this one: going back leads here again
            self.post_message(OpenRun(chosen.run, chosen.place, here=True))

    @work
    async def action_diff(self) -> None:
        """Show what differs between the output and another text for the case."""
        found = await self._whole()
        if found is None or found.output is None:
            return
        with self.bench.keys_wait():
            there = await self.bench.desk.ponder(others, self.run_id, found)
        if not there:
            self.say("nothing to compare with: no expected text, earlier full run or attempt")
            return
        other: Other | None = there[0]
        if len(there) > 1:
            choices = [Choice(one.name, one, one.note) for one in there]
            menu = Menu("compare the output with", choices, self.bench.glyphs)
            other = await self.app.push_screen_wait(menu)
        if other is None:
            return
        with self.bench.keys_wait():
            old = await self.bench.desk.ponder(text_of, other)
        trial = found.trial
        compared = Compared(trial.case_id, trial.column, other.name, old, spoken(found.output))
        await self.app.push_screen(Diff(self.bench, compared))
