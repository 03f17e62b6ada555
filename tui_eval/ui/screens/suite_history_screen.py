"""What became of each case of a suite over its last full runs: a list to go from."""

import sqlite3
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.format import many, number
from tui_eval.model.states import TrialState, Verdict
from tui_eval.reports.case_outcomes import CaseOutcomes, SuiteHistory, suite_history
from tui_eval.resources import styles_dir
from tui_eval.store.read.trials import trial_rows
from tui_eval.ui.context import AppContext
from tui_eval.ui.navigation import OpenRun
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.theme.glyphs import ASCII, Glyphs
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece


class Narrowing(Enum):
    """Which cases are listed."""

    CHANGED = "changed"
    FLAKY = "that are flaky"
    ALL = "in all"


class SuiteHistoryScreen(BaseScreen):
    """Lists the cases of a suite, a sign for each run."""

    CSS_PATH = styles_dir() / "suite_history_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "open",
            "open",
            id="suite-history.open",
            tooltip="Open the newest run that has the case, at it",
        ),
        Binding(
            "f",
            "narrow",
            "changed, flaky, all",
            id="suite-history.narrow",
            tooltip="List cases that changed, that are flaky, or all",
        ),
        Binding("h", "leave", "back", id="suite-history.close", tooltip="Back to the list"),
    ]

    def __init__(self, context: AppContext, suite: str) -> None:
        """Make the screen of a suite.

        Args:
            context: What all screens share.
            suite: The suite's name.
        """
        super().__init__(context)
        self.suite = suite
        self.history: SuiteHistory | None = None
        """None: it is still being read."""
        self._narrowing = Narrowing.CHANGED
        self._title = Bar(id="title")
        self._said = Bar(id="said")
        self.table = CaseTable(context.glyphs)

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._title
        yield self._said
        yield self.table
        yield KeyLine(lambda binding: binding.description)

    def on_mount(self) -> None:
        """Begin to read."""
        self.set_focus(self.table)
        self._show()
        self._read()

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action not in ("open", "narrow"):
            return None
        if self.history is None:
            return "the runs are still being read"
        if action == "narrow":
            return None if self.history.cases else "there is no full run yet"
        return None if self.table.selected is not None else "there is no case here"

    @work
    async def _read(self) -> None:
        self.history = await self.context.client.ponder(suite_history, self.suite)
        self._show()
        self.refresh_bindings()

    def _show(self) -> None:
        found = self.history
        runs = "reading" if found is None else many(len(found.runs), "full run")
        self._title.show(
            [Piece(" history  ", "dim"), Piece(self.suite, "strong")], [Piece(f" {runs} ", "dim")]
        )
        if found is None:
            self.table.say_empty("reading…")
            return
        cases = self._listed(found)
        self.table.say_empty(_empty(found, self._narrowing))
        self.table.list_cases(cases)
        names = " ".join(run.name for run in found.runs)
        counted = f" {number(len(cases))} of {many(len(found.cases), 'case')}"
        left = [Piece(f"{counted} {self._narrowing.value}   ", "plain")]
        if names:
            left.append(Piece(f"oldest first: {names}", "dim"))
        self._said.show(left)

    def _listed(self, found: SuiteHistory) -> "Sequence[CaseOutcomes]":
        match self._narrowing:
            case Narrowing.CHANGED:
                return [case for case in found.cases if case.changed]
            case Narrowing.FLAKY:
                return found.flaky
            case Narrowing.ALL:
                return found.cases

    def action_narrow(self) -> None:
        """List the cases that changed, then those that are flaky, then all."""
        order = [*Narrowing]
        self._narrowing = order[(order.index(self._narrowing) + 1) % len(order)]
        self._show()
        self.refresh_bindings()

    @on(Rows.Moved)
    def _moved(self) -> None:
        self.refresh_bindings()

    @on(Rows.Opened)
    def _clicked(self) -> None:
        self.action_open()

    @work(exclusive=True, group="open")
    async def action_open(self) -> None:
        """Open the newest run that has the case, at it."""
        case, found = self.table.selected, self.history
        if case is None or found is None:
            return
        pairs = zip(found.runs, case.outcomes, strict=True)
        run = [run for run, outcome in pairs if outcome is not None][-1]
        place = await self.context.client.ponder(_place, run.id, case.case_id, case.column)
        self.post_message(OpenRun(run.id, place, here=True))


def _place(db: sqlite3.Connection, run: int, case_id: str, column: str) -> int | None:
    trials = trial_rows.trials_of_cases(db, run, [case_id])
    return next((trial.place for trial in trials if trial.column == column), None)


def _empty(found: SuiteHistory, narrowing: Narrowing) -> str:
    if not found.runs:
        return f"{found.suite} has no full run yet."
    if narrowing is Narrowing.FLAKY:
        return "No case is flaky: none flipped though the same was asked."
    return "Every case always came to the same."


class CaseTable(Rows):
    """Cases with what became of each."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__((), glyphs=glyphs, id="cases")
        self.cases: Sequence[CaseOutcomes] = ()
        self._signs = _signs(glyphs)

    @property
    def selected(self) -> CaseOutcomes | None:
        """The case under the cursor; None: there is none."""
        return self.cases[self.cursor] if self.cursor < len(self.cases) else None

    def list_cases(self, cases: "Sequence[CaseOutcomes]") -> None:
        """List these cases."""
        self.cases = cases
        runs = max((len(case.outcomes) for case in cases), default=0)
        self.set_fields(
            [
                Field("case", 16, share=3),
                Field("target", 10, share=1, drop=1),
                Field("runs", max(runs, 4)),
                Field("", 5),
            ]
        )
        self.place(len(cases), min(self.cursor, max(len(cases) - 1, 0)))
        self.redraw()

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a case."""
        case = self.cases[index]
        strip = "".join(self._signs[outcome] for outcome in case.outcomes)
        return DrawnRow(
            (
                Cell(case.case_id),
                Cell(case.column, "dim"),
                Cell(strip, "ungraded" if case.changed else "plain"),
                Cell("flaky" if case.flaky else "", "error"),
            )
        )


def _signs(glyphs: Glyphs) -> Mapping[str | None, str]:
    return {
        "pass": glyphs.trial(TrialState.DONE, Verdict.PASS),
        "fail": glyphs.trial(TrialState.DONE, Verdict.FAIL),
        "ungraded": glyphs.trial(TrialState.DONE, Verdict.UNGRADED),
        "error": glyphs.trial(TrialState.ERROR, None),
        "cancelled": glyphs.trial(TrialState.CANCELLED, None),
        "mixed": "%" if glyphs is ASCII else "◐",
        "open": glyphs.trial(TrialState.QUEUED, None),
        None: " ",
    }
