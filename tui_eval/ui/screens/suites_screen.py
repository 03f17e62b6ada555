"""The Suites screen: what there is to run; beside it a preview of what a run would ask."""

import asyncio
import time
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical

from tui_eval.resources import styles_dir
from tui_eval.ui.context import AppContext
from tui_eval.ui.editor import NoEditorError, edit
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.navigation import OpenRun
from tui_eval.ui.screens.base.first_screen import FirstScreen
from tui_eval.ui.suites import suite_list
from tui_eval.ui.suites.suite_list import SuiteEntry
from tui_eval.ui.suites.suite_preview import SuitePreview
from tui_eval.ui.suites.suite_table import SuiteTable
from tui_eval.ui.suites.trend import MOST, Trend, last_full_runs, trends
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece

_LOOK_S = 2.0
_LIST_S = 0.1
"""Seconds between two pictures of the list while suites are being read."""
_ROOMY = 80
"""Cells of a screen with room for more than what is needed."""
_NOTHING = (
    "No suite here.\n\n`tui-eval init` writes a first one, with comments; `tui-eval FOLDER` opens "
    "those of another folder; {imports} imports another tool's file. {again} looks again."
)


def _nothing() -> str:
    return _NOTHING.format(imports=key("suites.import", "i"), again=key("suites.read", "R"))


class SuitesScreen(FirstScreen):
    """Lists suites; launches and edits them."""

    table: SuiteTable

    CSS_PATH = styles_dir() / "suites_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,n", "launch", "launch", id="suites.launch", tooltip="Launch the suite"),
        Binding("e", "edit", "edit", id="suites.edit", tooltip="Edit the suite in $EDITOR"),
        Binding(
            "i", "import_file", "import", id="suites.import", tooltip="Import another tool's file"
        ),
        Binding("slash", "find", "find", id="suites.find", tooltip="List suites by their name"),
        Binding(
            "right_square_bracket,right",
            "turn(1)",
            "next case",
            id="suites.next-case",
            tooltip="Preview the next case",
        ),
        Binding(
            "left_square_bracket,left",
            "turn(-1)",
            "case before",
            show=False,
            id="suites.previous-case",
            tooltip="Preview the case before",
        ),
        Binding(
            "h",
            "history",
            "history",
            show=False,
            id="suites.history",
            tooltip="What became of its cases over the last full runs",
        ),
        Binding("R", "read_again", "read again", id="suites.read", tooltip="Read all suites again"),
        Binding(
            "tab",
            "switch_focus",
            "list/preview",
            show=False,
            id="suites.focus",
            tooltip="Between the list and the preview",
        ),
        Binding("2", "app.runs", "runs", id="runs", tooltip="All runs, live ones on top"),
    ]

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "Suites", "part of a name")
        self.table = SuiteTable(context.glyphs)
        self.preview = SuitePreview(context)
        self._all: list[SuiteEntry] = []
        self._also: list[Path] = []
        """Suites that were imported, wherever they lie."""
        self._wanted: Path | None = None
        """The suite to select once it has been read."""
        self._reading = False
        self._rates_due = asyncio.Event()
        self._rates_due.set()

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.head
        with Container(id="body"):
            with Vertical(id="list"):
                yield self.find
                yield self.table
            yield self.preview
        yield KeyLine()

    def on_mount(self) -> None:
        """Look for suites once the first picture is there."""
        self.set_focus(self.table)
        self.on_pulse(self._rates_due.set)
        self.every(_LOOK_S, self._look_for_changes)
        self.call_after_refresh(self._read_all)
        self._keep_rates()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self._rates_due.set()

    # -- reading

    @work(exclusive=True, group="read")
    async def _read_all(self) -> None:
        self._reading = True
        self._all = []
        try:
            places = await asyncio.to_thread(
                lambda: suite_list.found(self.context.paths, self._also)
            )
            listed_at = -_LIST_S
            while (place := await asyncio.to_thread(next, places, None)) is not None:
                entry = await asyncio.to_thread(suite_list.read, *place)
                self._all.append(entry)  # only now: the list may be another by then
                if (now := time.monotonic()) - listed_at >= _LIST_S:
                    listed_at = now  # of many suites not each is worth laying all out anew
                    self._list()
        finally:
            self._reading = False
        self._list()
        self._wanted = None  # where it is not among them it is gone

    @work(exclusive=True, group="changes")
    async def _look_for_changes(self) -> None:
        if self._reading or not self._all:
            return
        for stale in await asyncio.to_thread(suite_list.changed, list(self._all)):
            entry = await asyncio.to_thread(suite_list.read, stale.path, stale.sample)
            self._all = [entry if one.path == stale.path else one for one in self._all]
            self._list()

    @work
    async def _keep_rates(self) -> None:
        book, client = self.context.rates, self.context.client
        while True:
            await self._rates_due.wait()
            self._rates_due.clear()
            runs = await client.survey(last_full_runs)
            # what the list shows first, then what came before
            wanted = [(of[at].id, of[at].stamp) for at in range(MOST) for of in runs.values()
                      if at < len(of)]  # fmt: skip
            while await book.learn(client, wanted):
                self._show_rates(trends(runs, book))
            self._show_rates(trends(runs, book))
            await asyncio.sleep(_LOOK_S)

    def _show_rates(self, found: dict[str, Trend]) -> None:
        self.table.show_trends(found)
        self.preview.show_trends(found)

    @on(SuitePreview.Counted)
    def _note_expected(self, event: SuitePreview.Counted) -> None:
        """Let the list know what going through all cases has shown."""
        entry, expected = event.entry, event.expected
        if expected.survey is not None:
            self.table.cases[str(entry.path)] = expected.survey.cases
            self.table.redraw()
        elif expected.mistakes != entry.mistakes:
            wrong = replace(entry, mistakes=expected.mistakes)
            self._all = [wrong if one is entry else one for one in self._all]
            if self.preview.shown is entry:
                self.preview.replace(wrong)
            self._list()

    # -- showing

    @property
    def selected(self) -> SuiteEntry | None:
        """The suite under the cursor; None: there is none."""
        table = self.table
        return table.entries[table.cursor] if table.entries else None

    def _list(self) -> None:
        table = self.table
        self.context.suites[:] = self._all
        before = (
            self.selected or self.preview.shown
        )  # where nothing was found, what was there before
        wanted = self._sought.casefold()
        entries = [entry for entry in self._all if wanted in entry.name.casefold()]
        at = 0
        if before is not None:
            same = [n for n, entry in enumerate(entries) if entry.path == before.path]
            at = same[0] if same else min(table.cursor, max(len(entries) - 1, 0))
        new = []
        if self._wanted is not None:
            new = [n for n, one in enumerate(entries) if one.path.absolute() == self._wanted]
        if new:
            at, self._wanted = new[0], None
        table.list_entries(entries, at)
        if self._sought:
            table.say_empty("No suite is called so. esc lists all.")
        elif not self._reading:
            table.say_empty(_nothing())
        bad = sum(bool(entry.mistakes) for entry in self._all)
        right = []
        if self._reading:
            right = [Piece("reading… ", "dim")]
        elif bad:
            right = [Piece(f"{bad} with mistakes ", "error")]
        elif self._nothing_of_ones_own and self.app.size.width >= _ROOMY:
            right = [Piece("none of your own here: `tui-eval init` writes one ", "dim")]
        self.head.show(self._count(len(table.entries), len(self._all)), right)
        self._look()

    @property
    def _nothing_of_ones_own(self) -> bool:
        """Whether somebody looked here and found the samples alone."""
        return not self.context.paths and all(entry.sample for entry in self._all)

    def _look(self) -> None:
        entry = self.selected
        if entry is not None:
            self.preview.show(entry)
        self.refresh_bindings()

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action in ("back", "leave", "find", "read_again", "app.runs", "switch_focus",
                      "import_file"):  # fmt: skip
            return None
        entry = self.selected
        if entry is None:
            return "there is no suite here"
        if action == "launch" and entry.mistakes:
            return (
                "it has mistakes: they stand in the preview; "
                f"{key('suites.edit', 'e')} opens the first"
            )
        if action == "turn" and not self.preview.has_case:
            return "there is no case to show"
        return None

    # -- what widgets say

    @on(Rows.Moved)
    def _select(self, event: Rows.Moved) -> None:
        if event.by_hand:
            self._wanted = None
        self._look()

    @on(SuitePreview.CaseTurned)
    def _offer(self) -> None:
        self.refresh_bindings()

    @on(Rows.Opened)
    def _clicked(self) -> None:
        self.action_launch()

    # -- acting

    def launch(self, path: str) -> None:
        """Launch a suite that is listed, by its path."""
        self.remove_class("-finding")
        self._sought = self.find.value = ""
        self._list()
        places = [at for at, one in enumerate(self.table.entries) if str(one.path) == path]
        if places:
            self.table.cursor = places[0]
            self.action_launch()

    @work
    async def action_launch(self) -> None:
        """Launch the suite."""
        from tui_eval.ui.dialogs.trust_question import ask_for_trust
        from tui_eval.ui.screens.launch_screen import LaunchScreen

        entry = self.selected
        if not self.permits("launch"):
            return
        if entry is not None and entry.wants_trust:
            entry = await ask_for_trust(self, entry)
            self._reread(self.selected)
        if entry is None or not entry.usable:
            return
        book = self.preview.book_of(entry)
        came = await self.app.push_screen_wait(LaunchScreen(self.context, entry, book))
        if isinstance(came, int):
            self.post_message(OpenRun(came))
        elif came is not None and self._edited(came.file, came.line):
            again = await asyncio.to_thread(suite_list.read, entry.path, entry.sample)
            self._all = [again if one.path == entry.path else one for one in self._all]
            self._list()
            if again.usable or again.wants_trust:
                self.action_launch()
            else:
                self.say("it has mistakes: they stand in the preview", "warning")

    def action_edit(self) -> None:
        """Edit the suite in `$EDITOR`, at its first mistake; it is read again after that."""
        entry = self.selected
        if entry is not None and self._edited(*entry.where()):
            self._reread(entry)

    def _edited(self, file: Path, line: int | None) -> bool:
        try:
            edit(self.app, file, line)
        except NoEditorError as error:
            self.say(str(error), "warning")
            return False
        return True

    @work
    async def action_import_file(self) -> None:
        """Import another tool's file; the new suite is selected."""
        from tui_eval.ui.screens.import_screen import imported

        suite = await imported(self)
        if suite is not None:
            self._also.append(suite)
            self._wanted = suite.absolute()
            self.action_read_again()

    def _reread(self, entry: SuiteEntry | None) -> None:
        """Read a suite again that may have changed."""
        self._all = [
            replace(one, stamp=None) if entry is not None and one.path == entry.path else one
            for one in self._all
        ]
        self._look_for_changes()

    def action_turn(self, step: int) -> None:
        """Preview the next case, or the one before."""
        self.preview.turn(step)

    def action_history(self) -> None:
        """List what became of the suite's cases."""
        from tui_eval.ui.screens.suite_history_screen import SuiteHistoryScreen

        entry = self.selected
        if entry is not None:
            self.app.push_screen(SuiteHistoryScreen(self.context, entry.name))

    def action_read_again(self) -> None:
        """Read all suites again."""
        if self._wanted is None and self.selected is not None:
            self._wanted = self.selected.path.absolute()
        self.preview.forget()
        self._read_all()

    def action_switch_focus(self) -> None:
        """Go between the list and the preview."""
        page = self.preview.page
        (self.table if page.has_focus else page).focus()
