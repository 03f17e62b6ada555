"""The Suites screen: what there is to run, and a preview of what a run would ask."""

import asyncio
import os
import shlex
import sqlite3
import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical
from textual.message import Message
from textual.widgets import Input

from tui_eval.resources import styles_dir
from tui_eval.store import board, reader
from tui_eval.ui.bench import Bench
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.screens.base import BaseScreen
from tui_eval.ui.suites import shelf
from tui_eval.ui.suites.book import Book, Leaf
from tui_eval.ui.suites.preview import preview
from tui_eval.ui.suites.shelf import Entry
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.rows import Cell, Field, Row, Rows
from tui_eval.ui.widgets.toned import Piece
from tui_eval.ui.words import many, number, rates

if TYPE_CHECKING:
    from tui_eval.suites.check import Survey

_LOOK_S = 2.0
_REST_S = 0.15
"""The cursor rests so long on a suite before its cases are read."""
_RUNS_LOOKED_AT = 500


class SuiteTable(Rows):
    """The list of suites."""

    def __init__(self, glyphs: Glyphs) -> None:
        fields = [
            Field("suite", 16, share=2),
            Field("cases", 7, right=True, drop=2),
            Field("targets", 7, right=True, drop=3),
            Field("last", 7, share=1, right=True, drop=1),
            Field("", 14, share=1, drop=4),
        ]
        super().__init__(fields, glyphs=glyphs, empty="looking for suites…", id="suites")
        self.entries: list[Entry] = []
        self.cases: dict[str, int] = {}
        """How many cases a suite has, by its path, where the preview counted them."""
        self.last: dict[str, str] = {}
        """The pass rates of each suite's last full run, by the suite's name."""

    def row(self, index: int) -> Row | None:
        """Give the row of a suite."""
        entry = self.entries[index]
        suite = entry.suite
        targets = number(len(suite.targets)) if suite is not None else ""
        cases = self.cases.get(str(entry.path), entry.cases)
        return Row(
            (
                Cell(entry.name, "plain" if suite is not None else "dim"),
                Cell(number(cases) if cases is not None else "", "dim"),
                Cell(targets, "dim"),
                Cell(self.last.get(entry.name, "")),
                _note(entry),
            )
        )


def _note(entry: Entry) -> Cell:
    if entry.wants_trust:
        return Cell("needs trust", "ungraded")
    if entry.suite is None:
        return Cell(many(len(entry.trouble), "mistake"), "error")
    if entry.unready:
        return Cell("not ready", "ungraded")
    return Cell("sample" if entry.sample else "", "dim")


class SuitesScreen(BaseScreen):
    """Lists suites; launches and edits them."""

    CSS_PATH = styles_dir() / "suites.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,n", "launch", "launch", id="suites.launch", tooltip="Launch the suite"),
        Binding("e", "edit", "edit", id="suites.edit", tooltip="Edit the suite in $EDITOR"),
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

    @dataclass
    class Launched(Message):
        """A run was made."""

        run_id: int

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.table = SuiteTable(bench.glyphs)
        self.page = Page()
        self.head = Bar([Piece("  Suites", "strong")], id="title", classes="title")
        self.rule = Bar(id="rule", fill=bench.glyphs.rule)
        self.find = Input(
            id="find", placeholder="part of a name", compact=True, select_on_focus=False
        )
        self._all: list[Entry] = []
        self._sought = ""
        self._book: Book | None = None
        self._leaf: Leaf | None = None
        self._survey: Survey | str | None = None
        self._shown: Entry | None = None
        """The suite the preview is of."""
        self._page = 0
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
            with Vertical(id="preview"):
                yield self.rule
                yield self.page
        yield KeyLine()

    def on_mount(self) -> None:
        """Look for suites once the first picture is there."""
        self.table.focus()
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
            places = await asyncio.to_thread(lambda: shelf.found(self.bench.paths))
            while (place := await asyncio.to_thread(next, places, None)) is not None:
                entry = await asyncio.to_thread(shelf.read, *place)
                self._all.append(entry)  # only now: the list may be another by then
                self._list()
        finally:
            self._reading = False
        self._list()

    @work(exclusive=True, group="changes")
    async def _look_for_changes(self) -> None:
        if self._reading or not self._all:
            return
        for stale in await asyncio.to_thread(shelf.changed, list(self._all)):
            entry = await asyncio.to_thread(shelf.read, stale.path, stale.sample)
            self._all = [entry if one.path == stale.path else one for one in self._all]
            self._list()

    @work
    async def _keep_rates(self) -> None:
        table = self.table
        while True:
            await self._rates_due.wait()
            self._rates_due.clear()
            table.last = await self.bench.desk.survey(_last_rates)
            table.redraw()
            await asyncio.sleep(_LOOK_S)

    @work(exclusive=True, group="preview")
    async def _preview(self, entry: Entry) -> None:
        """Read what the preview shows, once the cursor rests."""
        if self._shown is not entry:
            if self._shown is None or self._shown.path != entry.path:
                self._page = 0
            self._shown, self._book, self._leaf, self._survey = entry, None, None, None
            self._show_preview(new=True)
            if entry.suite is None:
                return
            await asyncio.sleep(_REST_S)
            self._book = Book(entry)
        if self._book is None:
            return
        book = self._book
        self._leaf = await asyncio.to_thread(book.leaf, self._page)
        self._page = self._leaf.index
        self._show_preview()
        self.refresh_bindings()
        if self._survey is None:
            self._survey = await asyncio.to_thread(book.survey)
            self._show_preview()
            if not isinstance(self._survey, str):
                self.table.cases[str(entry.path)] = self._survey.cases
                self.table.redraw()

    # -- showing

    @property
    def selected(self) -> Entry | None:
        """The suite under the cursor; None: there is none."""
        table = self.table
        return table.entries[table.cursor] if table.entries else None

    def _list(self) -> None:
        table = self.table
        before = self.selected
        wanted = self._sought.casefold()
        table.entries = [entry for entry in self._all if wanted in entry.name.casefold()]
        at = 0
        if before is not None:
            same = [n for n, entry in enumerate(table.entries) if entry.path == before.path]
            at = same[0] if same else min(table.cursor, max(len(table.entries) - 1, 0))
        table.place(len(table.entries), at)
        if self._sought:
            table.say_empty("no suite is called so; esc lists all")
        elif not self._reading:
            table.say_empty("no suite found: `tui-eval init` writes a first one")
        bad = sum(entry.suite is None and not entry.wants_trust for entry in self._all)
        right = [Piece(f"{bad} with mistakes ", "error")] if bad else []
        if self._reading:
            right = [Piece("reading… ", "dim")]
        self.head.show(
            [Piece("  Suites", "strong"), Piece(f"  {number(len(table.entries))}", "dim")], right
        )
        self._look()

    def _look(self) -> None:
        entry = self.selected
        if entry is not None and entry is not self._shown:
            self._preview(entry)
        self.refresh_bindings()

    def _show_preview(self, *, new: bool = False) -> None:
        entry = self._shown
        if entry is None:
            return
        rule = self.bench.glyphs.rule
        self.rule.show(
            [Piece(f"{rule} ", "dim"), Piece(entry.name, "strong"), Piece(" ")],
            [Piece(f" {entry.path.name} ", "dim"), Piece(rule, "dim")],
        )
        paras = list(preview(entry, self._leaf, self._survey))
        self.page.show(paras, keep_place=not new)

    def why_not(self, action: str) -> str | None:
        """Say why an action makes no sense now."""
        if action in ("back", "leave", "find", "read_again", "app.runs", "switch_focus"):
            return None
        entry = self.selected
        if entry is None:
            return "there is no suite here"
        if action == "launch" and entry.suite is None and not entry.wants_trust:
            return "it has mistakes: they stand in the preview; e opens the file"
        if action == "turn" and (self._leaf is None or self._leaf.case is None):
            return "there is no case to show"
        return None

    # -- what widgets say

    @on(Rows.Moved)
    def _select(self) -> None:
        self._look()

    @on(Rows.Opened)
    def _clicked(self) -> None:
        self.action_launch()

    # -- acting

    @work
    async def action_launch(self) -> None:
        """Launch the suite."""
        from tui_eval.ui.screens.consent import consented
        from tui_eval.ui.screens.launch import Launch

        entry = self.selected
        if entry is not None and entry.wants_trust:
            entry = await consented(self, entry)
            self._reread(self.selected)
        if entry is None or entry.suite is None:
            return
        run_id = await self.app.push_screen_wait(Launch(self.bench, entry))
        if run_id is not None:
            self.post_message(self.Launched(run_id))

    def action_edit(self) -> None:
        """Edit the suite in `$EDITOR`; it is read again after that."""
        entry = self.selected
        if entry is None:
            return
        editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
        try:
            with self.app.suspend():
                subprocess.run([*shlex.split(editor), str(entry.path)], check=False)  # noqa: S603
        except SuspendNotSupported:
            self.say("an editor needs a terminal of its own", "warning")
            return
        except (OSError, ValueError) as error:
            self.say(f"{editor}: {error}; set EDITOR to a program that is there", "error")
            return
        self._reread(entry)

    def _reread(self, entry: Entry | None) -> None:
        """Read a suite again that may have changed."""
        self._all = [
            replace(one, stamp=0.0) if entry is not None and one.path == entry.path else one
            for one in self._all
        ]
        self._look_for_changes()

    def action_turn(self, step: int) -> None:
        """Preview the next case, or the one before."""
        if self._shown is not None:
            self._page = max(self._page + step, 0)
            self._preview(self._shown)

    def action_read_again(self) -> None:
        """Read all suites again."""
        self._shown = None
        self._read_all()

    def action_switch_focus(self) -> None:
        """Go between the list and the preview."""
        (self.table if self.page.has_focus else self.page).focus()

    def action_find(self) -> None:
        """List suites by their name."""
        self.find.select_all()
        self.add_class("-finding")
        self.set_focus(self.find)  # now: the next key of a burst is for it

    @on(Input.Changed, "#find")
    def _seek(self, event: Input.Changed) -> None:
        self._sought = event.value
        self._list()

    @on(Input.Submitted, "#find")
    def _found(self) -> None:
        self.set_focus(self.table)

    async def action_back(self) -> None:
        """List all suites again."""
        if self.has_class("-finding"):
            self.remove_class("-finding")
            self.find.value = ""
            self.set_focus(self.table)
        else:
            self.say("this is a first screen; q quits")

    async def action_leave(self) -> None:
        """Quit."""
        await self.app.run_action("app.quit")


def _last_rates(db: sqlite3.Connection) -> dict[str, str]:
    """Give the pass rates of each suite's last full run, by the suite's name."""
    found: dict[str, str] = {}
    for run in reader.runs(db, limit=_RUNS_LOOKED_AT):
        if run.suite in found or run.partial or run.state != "done":
            continue
        _, by_column = board.board(db, run.id)
        found[run.suite] = rates([by_column[at].pass_rate for at in sorted(by_column)])
    return found
