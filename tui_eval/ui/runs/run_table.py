"""The table of runs: one line each, with a column for what any of them has."""

import time
from collections.abc import Sequence, Set
from dataclasses import replace

from tui_eval.format import age, clock, compact, day_and_time, number, rates
from tui_eval.format import cost as cost_of
from tui_eval.model.states import RunState
from tui_eval.store.rows import RunRow
from tui_eval.ui.runs.run_list import ListedRun
from tui_eval.ui.runs.run_order import COLUMN_OF, RunOrder
from tui_eval.ui.store_access.rate_book import ColumnRates, RateBook
from tui_eval.ui.theme.glyphs import UNICODE, Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rate_bar import level
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import width_of

_NAME = 17
"""Cells that the name of a run keeps, if it has as many."""
_TAIL = 5
"""Cells of a name's end that tell it from others of its suite: `-7f3k`."""


class RunTable(Rows):
    """The list of runs."""

    def __init__(self, glyphs: Glyphs, book: RateBook) -> None:
        super().__init__(_fields((), book), glyphs=glyphs, empty="reading…", id="runs")
        self._book = book
        self.runs: Sequence[ListedRun] = ()
        self.marked: Set[int] = frozenset()
        """Ids of runs."""
        self.order = RunOrder.NEWEST
        self.leaving: Set[int] = frozenset()
        """Ids of runs that are being deleted."""

    def list_runs(self, runs: Sequence[ListedRun], cursor: int) -> None:
        """Show these runs."""
        self.runs = runs
        self.set_fields(self._wanted_fields())
        self.place(len(runs), cursor)

    def show_rates(self) -> None:
        """Show the rates that are known by now."""
        self.set_fields(self._wanted_fields())
        self.redraw()

    def _wanted_fields(self) -> list[Field]:
        """Return the columns; the head of one says where the list is sorted by it."""
        by = COLUMN_OF.get(self.order)
        sign = self._glyphs.rising if self.order is RunOrder.RATE else self._glyphs.falling
        found = _fields(self.runs, self._book)
        return [replace(one, sign=sign) if one.title == by else one for one in found]

    @property
    def selected(self) -> ListedRun | None:
        """The run under the cursor; None: there is none."""
        return self.runs[self.cursor] if self.runs else None

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a run."""
        listed = self.runs[index]
        run, total = listed.run, listed.total
        words, tone = state_words(run)
        if run.id in self.leaving:
            words, tone = f"deleting{self._glyphs.cut}", "error"
        now = time.time()
        first, *others = listed.columns or ("",)
        cells = {
            "run": Cell(run.name, "strong" if run.live else "plain", note=run.label or ""),
            "suite": Cell(run.suite, "dim"),
            "target": Cell(first, "dim", note=f"+{len(others)}" if others else ""),
            "state": Cell(f"{self._glyphs.run(run.state, run.live)} {words}", tone),
            "partial": Cell(_kind(run), "ungraded"),
            "base": Cell("B" if listed.pinned else "", "accent"),
            "trials": Cell(progress(listed), "plain" if total.settled < total.total else "dim"),
            "pass": self._rate(listed),
            "!": Cell(number(total.error) if total.error else "", "error"),
            "?": Cell(number(total.ungraded) if total.ungraded else "", "ungraded"),
            "cost": Cell(cost(listed), "dim"),
            "gate": self._gate(listed),
            "time": Cell(clock(run.wall(now)), "dim"),
            "started": Cell(day_and_time(run.created_at, now), "dim"),
            "age": Cell(age(run.created_at, now), "dim"),
        }
        titles = (field.title for field in self.fields)
        return DrawnRow(tuple(cells[title] for title in titles), run.id in self.marked)

    def _rate(self, listed: ListedRun) -> Cell:
        if listed.run.is_sweep:
            return Cell("", "dim")  # nothing is scored
        rated = self._book.of(listed.run.id)
        if rated is None:
            return Cell(self._glyphs.working if listed.total.graded else "", "dim")
        if not any(share is not None for share in rated.shares):
            return Cell("", "dim")
        tone: Tone = "dim" if rated.open else "plain"
        return Cell(small_bars(rated, self._glyphs), tone)

    def _gate(self, listed: ListedRun) -> Cell:
        rated = self._book.of(listed.run.id)
        gate = None if rated is None else rated.gate
        if gate is None:
            return Cell("")
        if gate.missed:
            return Cell(f"{self._glyphs.failed} fails", "fail" if gate.settled else "dim")
        if not gate.settled:
            return Cell("")
        if gate.unclear:
            return Cell(f"{self._glyphs.ungraded} unclear", "ungraded")
        return Cell(f"{self._glyphs.passed} holds", "pass")


def small_bars(rated: ColumnRates, glyphs: Glyphs) -> str:
    """Return a bar of one cell and the rate for each target."""
    told, more, beyond = rates(rated.shares, rated.judged).partition(" +")  # how many have no room
    words = [
        f"{level(share, glyphs)}{rate}"
        for share, rate in zip(rated.shares, told.split(" "), strict=False)
    ]
    return f"{' '.join(words)}{more}{beyond}"


def _kind(run: RunRow) -> str:
    if run.is_sweep:
        return "sweep"
    return "partial" if run.partial else ""


def state_words(run: RunRow) -> tuple[str, Tone]:
    """Say where a run stands."""
    if run.live:
        return str(run.state), "accent"
    if run.stopped_by == "deletion":
        return "half deleted", "error"
    if run.state in (RunState.RUNNING, RunState.PAUSED):
        # a run that stopped at a cap says so; else its engine was killed
        gone = run.state is RunState.RUNNING
        return ("engine gone", "error") if gone else (str(run.state), "ungraded")
    return str(run.state), "plain" if run.state is RunState.DONE else "ungraded"


def progress(listed: ListedRun) -> str:
    """Return how many trials there are, and how many are settled where that is not all."""
    total = listed.total
    if total.settled == total.total:
        return number(total.total) if total.total else ""
    whole = f"{number(total.settled)}/{number(total.total)}"
    return whole if len(whole) <= _PROGRESS else f"{compact(total.settled)}/{compact(total.total)}"


def cost(listed: ListedRun) -> str:
    """Return what a run cost, in short; nothing where nobody was asked."""
    total = listed.total
    if not total.attempts and not total.lost:
        return ""
    return cost_of(total, short=True)


_PROGRESS = 11
"""Cells of a progress in full."""


def _fields(runs: Sequence[ListedRun], book: RateBook) -> list[Field]:
    """Return the columns: what no run has takes no room."""
    totals = [one.total for one in runs]
    names = [width_of(one.run.name + (one.run.label or "")) for one in runs]

    def widest(*numbers: int) -> int:
        return max((len(number(n)) for n in numbers), default=1)

    fields = [
        Field("run", max(min(max(names, default=0), _NAME), len("run")), share=4, keep=_TAIL),
        Field("suite", 10, share=2, drop=10),
        Field("target", 12, share=3, drop=9),
        Field("state", 2 + max([6, *(len(state_words(one.run)[0]) for one in runs)])),
    ]
    if any(one.run.partial for one in runs):
        fields.append(Field("partial", 7, drop=3))
    if any(one.pinned for one in runs):
        fields.append(Field("base", 4, drop=2))
    going = any(one.total.settled < one.total.total for one in runs)
    wide = max([6, *(len(progress(one)) for one in runs)])
    fields.append(Field("trials", wide, right=True, drop=0 if going else 2))
    several = any(len(one.columns) > 1 for one in runs)
    known = [rated for one in runs if (rated := book.of(one.run.id)) is not None]
    passes = max((len(small_bars(one, UNICODE)) for one in known), default=0)
    fields.append(Field("pass", max(passes, 13 if several else 7), right=True))
    if any(one.gate is not None for one in known):
        fields.append(Field("gate", 9, drop=1))
    if any(total.error for total in totals):
        errors = widest(*(total.error for total in totals))
        fields.append(Field("!", errors, right=True, drop=4))
    if any(total.ungraded for total in totals):
        ungraded = widest(*(total.ungraded for total in totals))
        fields.append(Field("?", ungraded, right=True, drop=5))
    if any(total.cost_usd != 0 for total in totals):
        fields.append(Field("cost", max(4, *(len(cost(one)) for one in runs)), right=True, drop=6))
    fields.append(Field("time", 7, right=True, drop=8))
    fields.append(Field("started", 12, right=True, drop=11))
    fields.append(Field("age", 6, right=True, drop=7))
    return fields
