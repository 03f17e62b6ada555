"""The live table of trials."""

import time

from tui_eval.model.states import TrialState
from tui_eval.store.rows import TrialRow
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.run.errands import Pending
from tui_eval.ui.run.head import KEPT_OF_TARGET
from tui_eval.ui.run.marks import Marks
from tui_eval.ui.run.output_page import waiting_words
from tui_eval.ui.run.standing import standing_words
from tui_eval.ui.run.trials import Trials
from tui_eval.ui.widgets.rows import Cell, Field, Row, Rows
from tui_eval.ui.words import UNKNOWN, clock, score, seconds

_CASE = Field("case", 10, share=2, keep=4)
_COLUMN = Field("target · prompt", 15, share=2, drop=2, keep=KEPT_OF_TARGET)
_EPOCH = Field("ep", 2, right=True, drop=4)
_VERDICT = Field("verdict", 11)
_SCORE = Field("score", 5, right=True, drop=3)
_LATENCY = Field("s", 6, right=True, drop=5)
_WHY = Field("why", 12, share=6, drop=1)


class TrialTable(Rows):
    """Shows the trials that are listed; those not read yet are a dot until they are."""

    def __init__(self, trials: Trials, marks: Marks, glyphs: Glyphs) -> None:
        super().__init__(_fields(True, False), glyphs=glyphs, empty="no trials yet", id="trials")
        self._trials = trials
        self._marks = marks
        self._asked = Pending()
        self._shape = (True, False)

    def suit(self, *, several_columns: bool, several_epochs: bool) -> None:
        """Leave out what would be the same in every row."""
        shape = (several_columns, several_epochs)
        if shape != self._shape:
            self._shape = shape
            self.set_fields(_fields(*shape))

    def show_asked(self, asked: Pending) -> None:
        """Show what is asked of trials and not answered yet."""
        if asked != self._asked:
            self._asked = asked
            self.redraw()

    def row(self, index: int) -> Row | None:
        """Give the row of a trial."""
        trial = self._trials.row_at(index)
        if trial is None:
            return None
        several_columns, several_epochs = self._shape
        # at the end: what is cut keeps its end, so the sign stays
        sign = f" {self._glyphs.note}" if trial.note is not None else ""
        cells = [Cell(f"{trial.case_id}{sign}")]
        if several_columns:
            cells.append(Cell(trial.column))
        if several_epochs:
            cells.append(Cell(str(trial.epoch + 1), "dim"))
        cells += [
            self._verdict(trial),
            Cell(score(trial.score), "plain" if trial.score is not None else "dim"),
            Cell(_latency(trial), "plain" if trial.latency_s is not None else "dim"),
            Cell(why(trial, self._trials.reason(trial), time.time()), "dim"),
        ]
        return Row(cells, marked=trial.place in self._marks)

    def _verdict(self, trial: TrialRow) -> Cell:
        asked = self._asked.words(trial)
        if asked is not None:
            return Cell(f"{self._glyphs.working} {asked}", "accent")
        return Cell(*standing_words(trial, self._glyphs))


def why(trial: TrialRow, reason: str | None, now: float) -> str:
    """Say why a trial stands where it does, in a few words; may be foreign text.

    Args:
        trial: The trial.
        reason: What its first unmet scorer says, where it has one.
        now: Unix seconds.
    """
    match trial.state:
        case TrialState.ERROR:
            return f"{trial.error_kind}: {trial.error_message or ''}"
        case TrialState.RUNNING | TrialState.SCORING if trial.waiting is not None:
            return waiting_words(trial, now)
        case TrialState.RUNNING:
            since = f" {clock(now - trial.since)}" if trial.since is not None else ""
            again = f", try {trial.attempts}" if trial.attempts > 1 else ""
            return f"in flight{since}{again}"
        case TrialState.DONE:
            return reason or trial.note or ("from the cache" if trial.cached else "")
        case _:
            return trial.note or ""


def _latency(trial: TrialRow) -> str:
    return UNKNOWN if trial.latency_s is None else seconds(trial.latency_s)


def _fields(several_columns: bool, several_epochs: bool) -> list[Field]:
    fields = [_CASE]
    if several_columns:
        fields.append(_COLUMN)
    if several_epochs:
        fields.append(_EPOCH)
    return [*fields, _VERDICT, _SCORE, _LATENCY, _WHY]
