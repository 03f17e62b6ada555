"""The Runs screen: every run, live ones on top."""

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message

from tui_eval.model.states import RunState
from tui_eval.resources import styles_dir
from tui_eval.store import board, reader
from tui_eval.store.board import Counts
from tui_eval.store.requests import Verb
from tui_eval.store.rows import RunRow
from tui_eval.ui import steering
from tui_eval.ui.bench import Bench
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.screens.base import BaseScreen
from tui_eval.ui.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Cell, Field, Row, Rows
from tui_eval.ui.widgets.toned import Piece
from tui_eval.ui.words import ago, clock, many, money, number, rates

_MOST = 500
"""Runs that are listed, the newest."""
_READ_S = 0.5
_TICK_S = 1.0


@dataclass(frozen=True, slots=True)
class Listed:
    """A run with its counts."""

    run: RunRow
    total: Counts
    by_column: Mapping[int, Counts]


class RunTable(Rows):
    """The list of runs."""

    def __init__(self, glyphs: Glyphs) -> None:
        fields = [
            Field("run", 14, share=3),
            Field("suite", 10, share=2, drop=8),
            Field("state", 13),
            Field("done", 11, right=True),
            Field("pass", 8, share=1, right=True),
            Field("!", 3, right=True, drop=5),
            Field("?", 3, right=True, drop=6),
            Field("cost", 7, right=True, drop=7),
            Field("time", 6, right=True, drop=4),
            Field("when", 10, right=True, drop=3),
        ]
        super().__init__(fields, glyphs=glyphs, empty="reading…", id="runs")
        self.runs: list[Listed] = []

    def row(self, index: int) -> Row | None:
        """Give the row of a run."""
        listed = self.runs[index]
        run, total, by_column = listed.run, listed.total, listed.by_column
        words, tone = _state(run)
        label = f" {run.label}" if run.label else ""
        partial = " (partial)" if run.partial else ""
        return Row(
            (
                Cell(f"{run.name}{label}{partial}", "strong" if run.live else "plain"),
                Cell(run.suite, "dim"),
                Cell(f"{self._glyphs.run(run.state, run.live)} {words}", tone),
                Cell(f"{number(total.settled)}/{number(total.total)}"),
                Cell(rates([by_column[at].pass_rate for at in sorted(by_column)])),
                Cell(number(total.error), "error" if total.error else "dim"),
                Cell(number(total.ungraded), "ungraded" if total.ungraded else "dim"),
                Cell(money(total.cost_usd) if total.attempts else "", "dim"),
                Cell(clock(run.wall(time.time()))),
                Cell(ago(run.created_at, time.time()), "dim"),
            )
        )


def _state(run: RunRow) -> tuple[str, Tone]:
    if run.live:
        return str(run.state), "accent"
    if run.state in (RunState.RUNNING, RunState.PAUSED):
        return "engine gone", "error"
    return str(run.state), "plain" if run.state is RunState.DONE else "ungraded"


class RunsScreen(BaseScreen):
    """Lists runs; opens and resumes them."""

    CSS_PATH = styles_dir() / "runs.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="runs.open", tooltip="Open the run"),
        Binding("u", "resume", "resume", id="runs.resume", tooltip="Finish what is missing"),
        Binding("1", "app.suites", "suites", id="suites", tooltip="The suites there are"),
    ]

    @dataclass
    class Chosen(Message):
        """A run is to be opened."""

        run_id: int

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench)
        self.head = Bar([Piece("  Runs", "strong")], id="title", classes="title")
        self.table = RunTable(bench.glyphs)
        self._selected: int | None = None
        """The id of the run under the cursor."""
        self._changed = asyncio.Event()
        self._changed.set()

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self.head
        yield self.table
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin to follow the store."""
        self.table.focus()
        self.on_pulse(self._changed.set)
        self.every(_TICK_S, self._tick)
        self._keep_up()

    def on_screen_resume(self) -> None:
        """Catch up with what happened while another screen was shown."""
        super().on_screen_resume()
        self._changed.set()

    def _tick(self) -> None:
        if any(listed.run.live for listed in self.table.runs):
            self._changed.set()

    @work
    async def _keep_up(self) -> None:
        known: dict[int, Listed] = {}
        while True:
            await self._changed.wait()
            self._changed.clear()
            listed = await self.bench.desk.read(_listed, known)
            known = {one.run.id: one for one in listed if not one.run.live}
            self._show(listed)
            await asyncio.sleep(_READ_S)

    def _show(self, listed: list[Listed]) -> None:
        table = self.table
        table.say_empty("no runs yet: 1 shows the suites, enter starts one")
        table.runs = listed
        ids = [one.run.id for one in listed]
        at = ids.index(self._selected) if self._selected in ids else table.cursor
        table.place(len(listed), at)
        live = sum(one.run.live for one in listed)
        right = [Piece(f"{many(live, 'live run')} ", "accent")] if live else []
        self.head.show([Piece("  Runs", "strong"), Piece(f"  {number(len(listed))}", "dim")], right)
        self.refresh_bindings()

    @property
    def selected(self) -> RunRow | None:
        """The run under the cursor; None: there is none."""
        table = self.table
        return table.runs[table.cursor].run if table.runs else None

    def why_not(self, action: str) -> str | None:
        """Say why an action makes no sense now."""
        if action in ("back", "leave", "app.suites"):
            return None
        run = self.selected
        if run is None:
            return "there is no run yet"
        if action == "resume":
            if run.live:
                return "the run is going on"
            if run.state is RunState.CANCELLED:
                return "the run was cancelled; open it and retry trials"
            if run.state is RunState.DONE and not self._unfinished(run):
                return "everything is finished"
        return None

    def _unfinished(self, run: RunRow) -> int:
        table = self.table
        total = table.runs[table.cursor].total
        return total.total - total.settled + total.error + total.ungraded

    @on(Rows.Moved)
    def _select(self) -> None:
        run = self.selected
        self._selected = None if run is None else run.id
        self.refresh_bindings()

    @on(Rows.Opened)
    def _clicked(self) -> None:
        self.action_open()

    def action_open(self) -> None:
        """Open the run."""
        run = self.selected
        if run is not None:
            self.post_message(self.Chosen(run.id))

    @work
    async def action_resume(self) -> None:
        """Finish what is missing, and watch it."""
        run = self.selected
        if run is not None:
            await steering.ask(self.bench.desk, run.id, Verb.RESUME)
            self.post_message(self.Chosen(run.id))

    async def action_back(self) -> None:
        """There is nothing behind this screen."""
        self.say("this is a first screen; q quits")

    async def action_leave(self) -> None:
        """Quit."""
        await self.app.run_action("app.quit")


def _listed(db: sqlite3.Connection, known: Mapping[int, Listed]) -> list[Listed]:
    """Read the runs, live ones first; counts of settled ones only where something changed."""
    found = []
    for run in reader.runs(db, limit=_MOST):
        before = known.get(run.id)
        if before is not None and before.run.change == run.change and not run.live:
            found.append(Listed(run, before.total, before.by_column))
        else:
            found.append(Listed(run, *board.board(db, run.id)))
    return sorted(found, key=lambda listed: not listed.run.live)
