"""The rows of a list by case: a case each, with a mark for what it came to in every column."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.rows import TrialRow
from tui_eval.store.search.case_conditions import EarlierResult
from tui_eval.ui.run.detail.verdicts import earlier_words, tone_of
from tui_eval.ui.run.head.target_table import KEPT_OF_TARGET
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.drawn_row import Cell
from tui_eval.ui.widgets.fields import GAP, Field
from tui_eval.ui.widgets.toned import fit, width_of

CASE = Field("case", 10, share=2, keep=4)
WHY = Field("why", 12, share=6)
_LEAST = 5
_MOST = (16, 12, 8)
"""Cells of a column's name, where there is room and where there is less."""


@dataclass(frozen=True, slots=True)
class CaseLayout:
    """Which columns of the run have one in the table, and how wide they are."""

    names: tuple[str, ...]
    """The run's columns."""
    epochs: int = 1
    compared: bool = False
    """Whether there is an earlier run, and marks say what they were in it."""
    _short: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Name the columns by what tells them apart."""
        object.__setattr__(self, "_short", tuple(short_names(self.names)))

    def shown(self, width: int, column: int) -> range:
        """Return the columns that there is room for; one of them is always among them.

        Args:
            width: Cells of the table.
            column: The column that is looked at.
        """
        room = width - CASE.least - WHY.least - 2 * len(GAP)
        widths = self._widths(room)
        first = last = min(column, max(len(widths) - 1, 0))
        left = room - (widths[first] if widths else 0)
        while True:
            if first > 0 and widths[first - 1] + len(GAP) <= left:
                first -= 1
                left -= widths[first] + len(GAP)
            elif last + 1 < len(widths) and widths[last + 1] + len(GAP) <= left:
                last += 1
                left -= widths[last] + len(GAP)
            else:
                return range(first, last + 1) if widths else range(0)

    def fields(self, shown: range, width: int) -> list[Field]:
        """Return the table's columns: the case, those of the run that are shown, and why."""
        widths = self._widths(width - CASE.least - WHY.least - 2 * len(GAP))
        middle = [Field(_head(self._short[at], widths[at]), widths[at]) for at in shown]
        hidden = len(self.names) - len(shown)
        why = WHY if not hidden else Field(f"why  (+{hidden} targets)", WHY.least, WHY.share)
        return [CASE, *middle, why]

    def _widths(self, room: int) -> list[int]:
        """Return how wide each column is; with room for what it was where all of them have it."""
        of_epochs = 2 * len(str(self.epochs)) + 1  # `2/4`
        mark, cell = (of_epochs, of_epochs + len("[?]")) if self.epochs > 1 else (1, len("[✗]"))
        least = max(_LEAST, cell)
        named = self._named(least, room)
        roomy = [max(wide, cell + len(" was ") + mark) for wide in named]
        if self.compared and sum(roomy) + len(GAP) * len(roomy) <= room:
            return roomy
        return named

    def _named(self, least: int, room: int) -> list[int]:
        """Return how wide each column is for its name, cut so far that all have room.

        Names that would read alike are not cut so far, and some columns have no room then.
        """
        widths = [[min(max(width_of(name), least), most) for name in self._short] for most in _MOST]
        for named in widths:
            heads = {_head(name, wide) for name, wide in zip(self._short, named, strict=True)}
            if len(heads) == len(named) and sum(named) + len(GAP) * len(named) <= room:
                return named
        return widths[0]


def _head(name: str, width: int) -> str:
    return fit(name, min(width_of(name), width), keep=KEPT_OF_TARGET)


def short_names(names: Sequence[str]) -> list[str]:
    """Return the names of columns without the target, or the prompt, that all of them share."""
    parts = [name.rpartition("/") for name in names]
    if len(names) < 2 or not all(target for target, _, _ in parts):
        return list(names)
    if len({target for target, _, _ in parts}) == 1:
        return [prompt for _, _, prompt in parts]
    if len({prompt for _, _, prompt in parts}) == 1:
        return [target for target, _, _ in parts]
    return list(names)


def case_mark(trials: Sequence[TrialRow], glyphs: Glyphs) -> tuple[str, Tone]:
    """Return what a case came to in a column: a shape, or of several epochs how many passed.

    Args:
        trials: Its epochs.
        glyphs: The shapes.
    """
    if len(trials) == 1:
        (trial,) = trials
        return glyphs.trial(trial.state, trial.verdict), _tone(trial)
    passed = sum(trial.verdict is Verdict.PASS for trial in trials)
    graded = passed + sum(trial.verdict is Verdict.FAIL for trial in trials)
    others = [trial for trial in trials if trial.verdict not in (Verdict.PASS, Verdict.FAIL)]
    # what is in no count stands beside it: the first that is amiss, else one that is still open
    beside = min(others, key=lambda trial: not is_unmet(trial), default=None)
    tone: Tone = "ungraded" if 0 < passed < graded else "pass" if passed else "fail"
    if beside is None:
        return f"{passed}/{graded}", tone
    shape = glyphs.trial(beside.state, beside.verdict)
    return f"{passed}/{graded}{shape}", tone if graded else _tone(beside)


def _tone(trial: TrialRow) -> Tone:
    open_now = trial.state in (TrialState.RUNNING, TrialState.SCORING)
    return "accent" if open_now else tone_of(trial.state, trial.verdict)


def case_cell(
    trials: Sequence[TrialRow],
    was: EarlierResult | None,
    glyphs: Glyphs,
    *,
    here: bool,
    marked: bool,
    asked: bool,
) -> Cell:
    """Return the cell of a case in a column.

    Args:
        trials: Its epochs.
        was: What it came to in the earlier run.
        glyphs: The shapes.
        here: Whether keys act on it.
        marked: Whether any of them is marked.
        asked: Whether something is asked of any of them, and not answered yet.
    """
    shape, tone = case_mark(trials, glyphs)
    if asked:
        shape, tone = glyphs.working, "accent"
    begin, end = ("[", "]") if here else (" ", " ")
    text = f"{begin}{shape}{glyphs.mark if marked else ''}{end}"
    return Cell(text, tone, earlier_words(was, glyphs), "fail" if was and was.worse else "pass")


def is_unmet(trial: TrialRow) -> bool:
    """Return whether a trial failed, is ungraded or in error: what one looks at next."""
    return trial.state is TrialState.ERROR or trial.verdict in (Verdict.FAIL, Verdict.UNGRADED)


def telling(trials: Sequence[TrialRow], here: TrialRow | None) -> TrialRow | None:
    """Return the trial of a case whose reason its row tells; None: there is nothing to tell.

    Args:
        trials: All of its trials that were read.
        here: The one that keys act on; None: the cursor is on another row.
    """
    if here is not None and is_unmet(here):
        return here
    unmet = next((trial for trial in trials if is_unmet(trial)), None)
    if unmet is not None:
        return unmet
    return next((trial for trial in trials if not trial.state.settled), None)
