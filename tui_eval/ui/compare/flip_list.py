"""The list of cases that flipped."""

from collections.abc import Sequence
from dataclasses import replace

from tui_eval.reports.comparison.flips import Flip
from tui_eval.reports.terminal.comparison_text import outcome_words
from tui_eval.ui.compare.flip_view import FlipOrder
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.case_ids import CaseIds
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Rows

_CASE = Field("case", 10, share=1, keep=6)
_OTHERS = (Field("A", 6), Field("B", 6))
_MOST_SEEN = 1000
"""Flips whose ids say what ids share."""
_TONES: dict[str, Tone] = {"pass": "pass", "fail": "fail"}


class FlipList(Rows):
    """Shows cases that came to something else in B."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__((_CASE, *_OTHERS), glyphs=glyphs, empty="reading…", id="flips")
        self.flips: Sequence[Flip] = ()
        self._ids = CaseIds()

    def list_flips(self, flips: Sequence[Flip], cursor: int) -> None:
        """Show these flips."""
        self.flips = flips
        self._ids = CaseIds()
        for flip in flips[:_MOST_SEEN]:
            self._ids.see(flip.case_id)
        self.place(len(flips), cursor)

    def show_order(self, order: FlipOrder) -> None:
        """Say in the head that they stand in dataset order."""
        sign = self._glyphs.rising if order is FlipOrder.CASE else ""
        self.set_fields((replace(_CASE, sign=sign), *_OTHERS))

    @property
    def selected(self) -> Flip | None:
        """The flip under the cursor; None: there is none."""
        return self.flips[self.cursor] if self.flips else None

    def row(self, index: int) -> DrawnRow | None:
        """Return a flip."""
        flip = self.flips[index]
        case_id = self._ids.shortened(flip.case_id, self.width_of_field(0), self._glyphs.cut)
        return DrawnRow((Cell(case_id), self._came_to(flip.a), self._came_to(flip.b)))

    def _came_to(self, value: float) -> Cell:
        words = outcome_words(value)
        shapes = {"pass": self._glyphs.passed, "fail": self._glyphs.failed}
        sign = shapes.get(words, "")
        return Cell(f"{sign} {words}".lstrip(), _TONES.get(words, "ungraded"))
