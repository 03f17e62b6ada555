"""The live table of trials."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from tui_eval.format import UNKNOWN, age, call_cost, counted, decimal, number, seconds
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.reports.rates.epoch_spread import epoch_spread
from tui_eval.store.rows import TrialRow
from tui_eval.store.search.views import HIGHEST_FIRST, Order
from tui_eval.ui.run.actions.commands import PendingRequests
from tui_eval.ui.run.detail.trial_status import status_words
from tui_eval.ui.run.detail.verdicts import earlier_words
from tui_eval.ui.run.head.target_table import KEPT_OF_TARGET
from tui_eval.ui.run.list.case_row import CaseLayout, case_cell, telling
from tui_eval.ui.run.list.loaded_trials import LoadedTrials
from tui_eval.ui.run.list.marks import MarkedTrials
from tui_eval.ui.run.list.why_words import why
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import GAP, Field
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import width_of


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of the table: what it shows, and what sorting by it means."""

    field: Field
    cell: "Callable[[TrialTable, TrialRow], Cell]"
    order: Order | None = None
    """None: nobody sorts by it."""
    only_sorted: bool = False
    """Whether it is shown only while the list is sorted by it."""


def _of_outcome(trial: TrialRow, text: str, known: object) -> Cell:
    """Return a figure that there is none of while a trial runs: why it runs needs the room."""
    if known is None and trial.state is TrialState.RUNNING:
        return Cell("", gives_way=True)
    return _figure(text, known)


def _figure(text: str, known: object) -> Cell:
    return Cell(text, "dim" if known is None else "plain")


_SPREAD = Field("sd", 5, right=True)
"""By case: the standard deviation of the scores of its epochs, in the column of the cursor."""

_CASE = Field("case", 10, share=2, keep=4)
_TOLD = 20
"""Cells up to which ids have room for what tells them apart before `why` gets any more."""
_COLUMNS = (
    _Column(_CASE, lambda table, trial: table.case(trial), Order.CASE),
    _Column(
        Field("target", 15, share=2, drop=2, keep=KEPT_OF_TARGET),
        lambda _, trial: Cell(trial.column),
        Order.TARGET,
    ),
    _Column(
        Field("ep", 2, right=True),
        lambda _, trial: Cell(str(trial.epoch + 1), "dim"),
        Order.EPOCH,
    ),
    _Column(Field("verdict", 11), lambda table, trial: table.verdict(trial), Order.VERDICT),
    _Column(
        Field("score", 5, right=True, drop=3),
        lambda _, trial: _of_outcome(trial, decimal(trial.score), trial.score),
        Order.SCORE,
    ),
    _Column(
        Field("s", 6, right=True, drop=5),
        lambda _, trial: _of_outcome(trial, seconds(trial.latency_s), trial.latency_s),
        Order.LATENCY,
    ),
    _Column(
        Field("cost", 13, right=True),
        lambda _, trial: _figure(call_cost(trial.cost_usd, trial.about_usd), trial.cost_usd),
        Order.COST,
        only_sorted=True,
    ),
    _Column(
        Field("tokens", 7, right=True),
        lambda _, trial: Cell(number(counted(trial.input_tokens + trial.output_tokens))),
        Order.TOKENS,
        only_sorted=True,
    ),
    _Column(
        Field("tries", 5, right=True),
        lambda _, trial: Cell(number(trial.attempts)),
        Order.ATTEMPTS,
        only_sorted=True,
    ),
    _Column(
        Field("since", 6, right=True),
        lambda _, trial: _figure(
            UNKNOWN if trial.since is None else age(trial.since, time.time()), trial.since
        ),
        Order.CHANGED,
        only_sorted=True,
    ),
    _Column(Field("why", 12, share=6, drop=1), lambda table, trial: table.why(trial)),
)


class TrialTable(Rows):
    """Shows the trials that are listed, or the cases with all their trials.

    Rows that are not read yet are a dot until they are. By case the cursor stands in a column, too.
    """

    def __init__(self, trials: LoadedTrials, marks: MarkedTrials, glyphs: Glyphs) -> None:
        self._trials = trials
        self._marks = marks
        self._asked = PendingRequests()
        self._progress: Mapping[int, AttemptProgress] = {}
        self._hidden = frozenset((Order.EPOCH,))
        """Columns that would be the same in every row."""
        self._scored = True
        """Whether the run scores anything."""
        self._longest_column = 0
        """Cells of the longest name of a column of the run."""
        self._sorted = (Order.PLACE, False)
        self._by_case = False
        self._cases = CaseLayout(())
        self._column_title = "target"
        self._in_view = range(0)
        """By case, the run's columns that are shown."""
        self.slot = 0
        """Which of the trials of the row under the cursor keys act on."""
        self._columns = self._shown()
        super().__init__([], glyphs=glyphs, empty="no trials yet", id="trial-table")
        self._lay_columns()

    def suit(
        self,
        columns: Sequence[str],
        epochs: int,
        *,
        title: str,
        compared: bool,
        scored: bool = True,
    ) -> None:
        """Fit the columns to a run.

        Args:
            columns: The names of its columns.
            epochs: How often each case is asked; 0 while nobody knows.
            title: What their names say.
            compared: Whether it is compared with an earlier run.
            scored: Whether it scores anything.
        """
        if scored != self._scored:
            self._scored = scored
            self.redraw()
        # what would be the same in every row is left out
        shown = {Order.TARGET: len(columns) > 1, Order.EPOCH: epochs > 1}
        self._hidden = frozenset(order for order, several in shown.items() if not several)
        self._longest_column = max(map(width_of, columns), default=0)
        self._column_title = title
        layout = CaseLayout(tuple(columns), max(epochs, 1), compared)
        if layout != self._cases:
            self._cases = layout
            self.redraw()
        self._lay_columns()

    def suit_rows(self) -> None:
        """Fit the columns to the rows that have been read by now."""
        self._lay_columns()

    def show_by_case(self, by_case: bool) -> None:
        """Show a case a row, or a trial."""
        self._by_case = by_case
        self._lay_columns()
        self.redraw()

    def go_to_slot(self, slot: int) -> None:
        """Go to another trial of the row under the cursor."""
        if slot != self.slot:
            self.slot = slot
            self._lay_columns()
            self.redraw(None if self._spread_tells else (self.cursor,))

    def column_at(self, field: Field) -> int | None:
        """Return which of the run's columns one of the table is; None: it is none."""
        if not self._by_case or field not in self.fields[1 : 1 + len(self._in_view)]:
            return None
        return self._in_view[self.fields.index(field) - 1]

    @property
    def epochs(self) -> int:
        """How often each case is asked."""
        return self._cases.epochs

    @property
    def _spread_tells(self) -> bool:
        """Whether scores of a case's epochs lie apart in a way that counts of passes do not say."""
        return self._cases.epochs > 1 and self._trials.seen.partial_scores

    @property
    def _column(self) -> int:
        """The run's column that the cursor stands in."""
        return self.slot // self._cases.epochs

    def show_order(self, order: Order, reverse: bool) -> None:
        """Say in the head what the list is sorted by; a column hidden otherwise is shown then."""
        self._sorted = (order, reverse)
        self._lay_columns()

    @property
    def _longest_id(self) -> int:
        """Cells of the longest id, with the sign of a note."""
        return self._trials.seen.ids.longest + 2

    def order_of(self, field: Field) -> Order | None:
        """Return what sorting by a column means; None: nobody sorts by it."""
        if self._by_case or field not in self.fields:
            return next((c.order for c in _COLUMNS if c.field.title == field.title), None)
        return self._columns[self.fields.index(field)].order

    def on_resize(self) -> None:
        """Show as many columns as there is room for."""
        self._lay_columns()

    def _lay_columns(self) -> None:
        if self._by_case:
            spread = [_SPREAD] if self._spread_tells else []
            room = self._room - sum(field.least + len(GAP) for field in spread)
            self._in_view = self._cases.shown(room, self._column)
            *fields, reason = self._cases.fields(self._in_view, room)
            self.set_fields([*fields, *spread, reason])
            return
        self._columns = self._shown()
        fields = [self._signed(column) for column in self._columns]
        spare = self._room - sum(field.least + len(GAP) for field in fields) + len(GAP)
        self.set_fields([self._telling(field, spare) for field in fields])

    def _telling(self, field: Field, spare: int) -> Field:
        """Return a column, that of ids as wide as tells them apart where that takes little."""
        told = self._trials.seen.ids.telling + 2  # with the sign of a note
        if field.title != _CASE.title or not field.least < told <= min(field.least + spare, _TOLD):
            return field
        return replace(field, least=told)

    def _shown(self) -> list[_Column]:
        order, _ = self._sorted
        seen = self._trials.seen
        tells = {Order.SCORE: seen.partial_scores, Order.LATENCY: seen.latencies}
        hidden = self._hidden | {order for order, does in tells.items() if not does}
        return [
            column
            for column in _COLUMNS
            if column.order == order or not (column.only_sorted or column.order in hidden)
        ]

    def _signed(self, column: _Column) -> Field:
        order, reverse = self._sorted
        field = column.field
        most = {Order.CASE: self._longest_id, Order.TARGET: self._longest_column}
        if column.order in most:
            if column.order is Order.TARGET:
                field = replace(field, title=self._column_title)
            longest = max(most[column.order], width_of(field.title) + 1)
            field = replace(field, most=longest, least=min(field.least, longest))
        if column.order != order:
            return field
        falls = (order in HIGHEST_FIRST) != reverse
        sign = self._glyphs.falling if falls else self._glyphs.rising
        return replace(field, sign=sign, least=max(field.least, len(field.title) + 1), drop=0)

    def show_asked(self, asked: PendingRequests) -> None:
        """Show what is asked of trials and not answered yet."""
        if asked != self._asked:
            self._asked = asked
            self.redraw()

    def show_progress(self, progress: Mapping[int, AttemptProgress]) -> None:
        """Show how far running attempts are, by trial id."""
        before, self._progress = self._progress, progress
        moved = {
            trial
            for trial in before.keys() | progress.keys()
            if before.get(trial) != progress.get(trial)
        }
        if moved:
            rows = ((index, self._trials.trials_at(index)) for index in self.shown)
            self.redraw([at for at, row in rows if any(trial.id in moved for trial in row)])

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a trial, or of a case."""
        if self._by_case:
            return self._case_row(index)
        trial = self._trials.row_at(index)
        if trial is None:
            return None
        cells = [column.cell(self, trial) for column in self._columns]
        return DrawnRow(cells, marked=trial.place in self._marks)

    def _case_row(self, index: int) -> DrawnRow | None:
        trials, epochs = self._trials.trials_at(index), self._cases.epochs
        if not trials or len(trials) < self._trials.width:
            return None
        here = trials[self.slot] if index == self.cursor and self.slot < len(trials) else None
        cells = []
        for column in self._in_view:
            of_column = trials[column * epochs : (column + 1) * epochs]
            cell = case_cell(
                of_column,
                self._trials.earlier(of_column[0]),
                self._glyphs,
                here=here is not None and here.col == column,
                marked=any(trial.place in self._marks for trial in of_column),
                asked=any(self._asked.words(trial) for trial in of_column),
            )
            cells.append(cell)
        if self._spread_tells:
            of_column = trials[self._column * epochs : (self._column + 1) * epochs]
            spread = epoch_spread(trial.score for trial in of_column)
            sd = None if spread is None else spread.sd
            cells.append(Cell(decimal(sd), "dim" if not sd else "plain"))
        told = telling(trials, here)
        noted = any(trial.note is not None for trial in trials)
        why = Cell("") if told is None else self.why(told)
        marked = any(trial.place in self._marks for trial in trials)
        return DrawnRow([self._case(trials[0].case_id, noted), *cells, why], marked)

    def case(self, trial: TrialRow) -> Cell:
        """Return the case, and whether somebody has written a note."""
        return self._case(trial.case_id, trial.note is not None)

    def _case(self, case_id: str, noted: bool) -> Cell:
        # at the end: what is cut keeps its end, so the sign stays
        note = f" {self._glyphs.note}" if noted else ""
        room = self.width_of_field(0) - len(note)
        return Cell(self._trials.seen.ids.shortened(case_id, room, self._glyphs.cut) + note)

    def verdict(self, trial: TrialRow) -> Cell:
        """Return how a trial stands, or what is asked of it; and what its case was before."""
        asked = self._asked.words(trial)
        if asked is not None:
            return Cell(asked, "accent")
        words, tone = status_words(trial, self._glyphs, scored=self._scored)
        was = earlier_words(self._trials.earlier(trial), self._glyphs)
        # in place of the verdict's name: its shape says it, and so the column is no wider
        return Cell(f"{words.partition(' ')[0]} {was}" if was else words, tone)

    def why(self, trial: TrialRow) -> Cell:
        """Return why a trial stands where it does."""
        told = self._progress.get(trial.id)
        return Cell(why(trial, self._trials.reason(trial), time.time(), told), "dim")
