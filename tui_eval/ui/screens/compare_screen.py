"""The Compare screen: is B better than A, where not, and what did both say there."""

import asyncio
import time
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container

from tui_eval.reports.comparison.comparison import By, RunComparison
from tui_eval.reports.terminal.comparison_text import judged_sides
from tui_eval.resources import styles_dir
from tui_eval.ui.compare.choosing import choose_rows, choose_sides
from tui_eval.ui.compare.compare_keys import COMPARE_KEYS
from tui_eval.ui.compare.compared_texts import ComparedTrials, compared_trials
from tui_eval.ui.compare.comparison_files import export_comparison
from tui_eval.ui.compare.comparison_head import head_pieces, note_lines
from tui_eval.ui.compare.comparison_reader import ComparisonReader
from tui_eval.ui.compare.comparison_reading import ComparedSides, NoCommonColumnsError
from tui_eval.ui.compare.comparison_table import ComparisonTable, table_lines
from tui_eval.ui.compare.flip_view import FlipKind
from tui_eval.ui.compare.flips_pane import FlipsPane
from tui_eval.ui.compare.pair_pane import PairPane
from tui_eval.ui.context import AppContext
from tui_eval.ui.navigation import OpenRun
from tui_eval.ui.run.detail.comparable import output_text
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.diff_screen import ComparedTexts, DiffScreen
from tui_eval.ui.store_access.read_pace import rest
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows

_READ_S = 1.0
_READ_SHARE = 10
"""A comparison that takes a second to read is read every ten while a side goes on."""
_GROUPINGS: tuple[By | None, ...] = (None, "tag", "scorer")
_OF_FLIP = ("diff", "trial", "question", "epoch", "next")
_READING = "the comparison is still being read"


class CompareScreen(BaseScreen):
    """Shows what two sides differ by, the cases that flipped, and one of them on both sides."""

    CSS_PATH = styles_dir() / "compare_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [*COMPARE_KEYS]

    def __init__(self, context: AppContext, sides: ComparedSides) -> None:
        """Make the screen.

        Args:
            context: What all screens share.
            sides: What is compared.
        """
        super().__init__(context)
        glyphs = context.glyphs
        self.reader = ComparisonReader(context.client, sides)
        self.table = ComparisonTable(glyphs)
        self.flips = FlipsPane(glyphs)
        self.pair = PairPane(glyphs)
        self._head = Bar(id="head", classes="title")
        self._notes = Lines(id="notes")
        self._changed = asyncio.Event()
        self._pair_wanted = asyncio.Event()
        self._epoch: int | None = None
        """Which is looked at of this case; None: nobody has chosen one."""

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._head
        yield self.table
        yield self._notes
        with Container(id="panes"):
            yield self.flips
            yield self.pair
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin to read."""
        self.set_focus(self.flips.list)  # now: the next key of a burst is for it
        self._show_head()
        self._read()
        self.on_pulse(self._changed.set)
        self._keep_up()
        self._read_pairs()

    def on_resize(self) -> None:
        """Say as much as there is room for."""
        self._show_head()
        self._show_notes()
        self._fit_table()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self._changed.set()

    @property
    def comparison(self) -> RunComparison | None:
        """What is shown; None: it is still being read."""
        return None if self.reader.found is None else self.reader.found.comparison

    @property
    def shown_sides(self) -> ComparedSides:
        """What is compared on the screen, or will be."""
        return self.reader.sides if self.reader.found is None else self.reader.found.sides

    # -- reading

    @work(group="read")
    async def _read(self) -> None:
        """Read what is wanted now, once a person has said which columns belong together."""
        while True:
            try:
                await self.reader.read()
            except NoCommonColumnsError:
                chosen = await choose_rows(self, self.reader.sides)
                if chosen is None:
                    self._keep_shown()
                    return
                self.reader.sides = chosen
            else:
                break
        found, problem = self.reader.found, self.reader.problem
        if problem is not None and (found is None or found.sides != self.reader.sides):
            self.say(f"not compared: {problem}", "error", seconds=15)
            self._keep_shown()
        elif found is not None:
            self._show(found.comparison)

    def _keep_shown(self) -> None:
        """Stay with what is shown; leave where nothing is."""
        self.reader.keep()
        if self.reader.found is None:
            self.leave_when_seen()

    @work
    async def _keep_up(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            began = time.monotonic()
            if await self.reader.outdated():
                await self._read().wait()
            await asyncio.sleep(rest(_READ_S, time.monotonic() - began, _READ_SHARE))

    @work
    async def _read_pairs(self) -> None:
        """Read the texts of the case under the cursor, the newest one wanted."""
        while True:
            await self._pair_wanted.wait()
            self._pair_wanted.clear()
            found = await self._pair()
            if not self._pair_wanted.is_set():
                self.pair.show(found, self._names)
                self.refresh_bindings()

    async def _pair(self) -> ComparedTrials | None:
        found, flip = self.reader.found, self.flips.list.selected
        if found is None or flip is None:
            return None
        columns = found.comparison.rows[flip.row].columns
        client = self.context.client
        return await client.read(compared_trials, found.sides, columns, flip, self._epoch)

    @property
    def _names(self) -> tuple[str, str]:
        comparison = self.comparison
        if comparison is None:
            return "A", "B"
        return f"A {comparison.a.name}", f"B {comparison.b.name}"

    # -- showing

    def _show(self, comparison: RunComparison) -> None:
        """Show what was read; cursors stay on what they were on."""
        before = self.table.selected
        index = 0 if before is None else min(before.index, len(comparison.rows) - 1)
        self._list_rows(comparison, index, None if before is None else before.group)
        self._fit_table()
        self._show_head()
        self._show_row()
        self._want_pair()
        self.refresh_bindings()

    def _list_rows(self, comparison: RunComparison, index: int, group: str | None) -> None:
        """List the rows with the groups of one, and stand on it, or on a group of it."""
        lines = table_lines(comparison, index)
        stands = (line.index == index and line.group == group for line in lines)
        cursor = next((at for at, here in enumerate(stands) if here), index)
        self.table.list_lines(lines, cursor, judged_sides(comparison))

    def _fit_table(self) -> None:
        # somebody who groups wants to see groups, whatever that takes from the flips
        grouped = any(line.group is not None for line in self.table.lines)
        most = max(self.size.height * 2 // 5 if grouped else self.size.height // 3, 3)
        self.table.styles.height = min(max(len(self.table.lines), 1) + 1, most)

    def _show_head(self) -> None:
        self._head.show(*head_pieces(self.reader, self.size.width, self.context.glyphs))

    def _show_row(self) -> None:
        """Show the notes and the flips of the row under the cursor."""
        comparison, line = self.comparison, self.table.selected
        if comparison is not None and line is not None:
            self._show_notes()
            self.flips.show(comparison, self.flips.look_at(line.index, line.group))

    def _show_notes(self) -> None:
        found, line = self.reader.found, self.table.selected
        if found is not None and line is not None:
            width, most = self.size.width - 4, max(self.size.height // 6, 2)
            self._notes.show(note_lines(found, line, self.reader.by, width, most))

    def _want_pair(self) -> None:
        self._pair_wanted.set()

    @on(Rows.Moved, "#rows")
    def _look_at_row(self) -> None:
        comparison, line = self.comparison, self.table.selected
        if comparison is not None and line is not None and line.index != self.flips.view.row:
            self._list_rows(comparison, line.index, line.group)
        self._show_row()
        self._want_pair()
        self.refresh_bindings()

    @on(Rows.Moved, "#flips")
    def _look_at_flip(self) -> None:
        self._epoch = None
        self.flips.show_place()
        self._want_pair()

    @on(Rows.Opened, "#flips")
    def _open_flip(self) -> None:
        if self.why_not("diff") is None:
            self.action_diff()

    @on(Rows.Opened, "#rows")
    def _open_row(self) -> None:
        self.set_focus(self.flips.list)

    # -- acting

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action in ("back", "leave", "switch_focus"):
            return None
        if self.comparison is None:
            return _READING
        if action in _OF_FLIP and self.flips.list.selected is None:
            return "no case is listed here"
        found = self.pair.found
        if action == "diff" and found is not None and None in (found.a.shown, found.b.shown):
            return "one side has no output to compare"
        if action == "epoch" and (found is None or found.epochs < 2):
            return "this case has one epoch"
        return None

    def action_next(self, step: int) -> None:
        """Go to the next flip, or with -1 to the one before."""
        self.flips.list.move(self.flips.list.cursor + step)

    def action_kind(self) -> None:
        """List the next kind of flips."""
        self.flips.turn()
        self._want_pair()

    def action_list(self, kind: str) -> None:
        """List the flips of one kind, or all again."""
        self.flips.list_kind(FlipKind(kind))
        self._want_pair()

    def action_order(self) -> None:
        """List the flips in the other order."""
        self.flips.reorder()
        self._want_pair()

    def action_groups(self) -> None:
        """Group by the next, or no more."""
        at = _GROUPINGS.index(self.reader.by)
        self.reader.by = _GROUPINGS[(at + 1) % len(_GROUPINGS)]
        self._read()

    def action_swap(self) -> None:
        """Put A in B's place, and B in A's."""
        self.reader.sides = self.shown_sides.swapped()
        self._read()

    def action_reread(self) -> None:
        """Read both sides as they are now."""
        self._read()

    def action_question(self) -> None:
        """Show all of a long question, or its beginning."""
        self.pair.turn_question()

    def action_epoch(self, step: int) -> None:
        """Look at the next epoch, or with -1 at the one before."""
        if self.pair.found is not None:
            self._epoch = (self.pair.found.epoch + step) % self.pair.found.epochs
            self._want_pair()

    def action_switch_focus(self, step: int) -> None:
        """Go to the next pane, or with -1 to the one before."""
        panes = [self.table, self.flips.list, self.pair.page]
        at = next((at for at, pane in enumerate(panes) if pane.has_focus), 1)
        self.set_focus(panes[(at + step) % len(panes)])

    @work
    async def action_diff(self) -> None:
        """Show what differs between both outputs."""
        with self.context.keys_wait():
            found = await self._pair()
        if found is None or found.a.shown is None or found.b.shown is None:
            self.say("one side has no output to compare")
            return
        old, new = found.a.shown.output, found.b.shown.output
        if old is None or new is None:
            self.say("one side has no output to compare")
            return
        name_a, name_b = self._names
        column = found.b.shown.trial.column
        texts = ComparedTexts(
            found.flip.case_id, column, name_a, output_text(old), output_text(new), name_b
        )
        await self.app.push_screen(DiffScreen(self.context, texts))

    @work
    async def action_trial(self, side: int) -> None:
        """Open the run of B, or with -1 of A, at this trial."""
        with self.context.keys_wait():
            found = await self._pair()
        if found is None:
            return
        sides = self.shown_sides
        source, trials = (sides.b, found.b) if side > 0 else (sides.a, found.a)
        if trials.shown is None or source.run is None:
            self.say(trials.why_not)
            return
        self.post_message(OpenRun(source.run, trials.shown.trial.place, here=True))

    @work
    async def action_other(self) -> None:
        """Compare with something else."""
        sides = self.shown_sides
        run = sides.a.run if sides.b.run is None else sides.b.run
        if run is None:
            self.say("two baseline files have no other runs to choose from")
            return
        chosen = await choose_sides(self, run, now=sides)
        if chosen is not None:
            self.reader.sides = chosen
            self._read()

    @work
    async def action_export(self) -> None:
        """Write the comparison into a file."""
        if self.comparison is not None:
            await export_comparison(self, self.comparison)
