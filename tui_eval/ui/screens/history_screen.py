"""What became of one case over the runs of its suite: a list to go from."""

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.format import age, decimal, many
from tui_eval.resources import styles_dir
from tui_eval.store.read.comparing.case_history import PastTrial
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.run.detail.trial_context import TrialContext
from tui_eval.ui.run.detail.verdicts import tone_of, verdict_strip
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece


class HistoryScreen(Dialog[PastTrial | None]):
    """Returns the trial chosen with `enter`; None: none was."""

    CSS_PATH = styles_dir() / "history_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Open", id="history.open", tooltip="Open this run at the trial"),
        Binding("escape,q,h", "close", "Close", id="history.close", tooltip="Back to the run"),
    ]

    def __init__(
        self, case: str, column: str, context: TrialContext, run: int, epoch: int, glyphs: Glyphs
    ) -> None:
        super().__init__()
        self.pasts = context.pasts
        self._case = case
        self._column = column
        self._trial_context = context
        self._run = run
        self._epoch = epoch
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        runs = len({past.run for past in self.pasts if not past.partial})
        title = [Piece(f" {self._case}", "strong"), Piece(f"  {self._column}   ", "dim")]
        title += [
            Piece(*piece) for piece in verdict_strip(self._trial_context, self._epoch, self._glyphs)
        ]
        with Vertical(classes="box"):
            yield Bar(title, [Piece(f"{many(runs, 'full run')} ", "dim")])
            yield _Pasts(self.pasts, self._run, self._glyphs)
            yield Bar(
                [
                    Piece("enter", "accent", "screen.choose"),
                    Piece(" open   ", "plain", "screen.choose"),
                    Piece("esc", "accent", "screen.close"),
                    Piece(" close", "plain", "screen.close"),
                ]
            )

    def on_resize(self) -> None:
        """Be as wide as the screen lets it, and as high as what it lists."""
        size = self.app.size
        self.query_one(".box").styles.width = max(size.width - 6, 24)
        height = min(len(self.pasts) + 1, max(size.height - 8, 3))
        self.query_one(_Pasts).styles.height = height

    def on_mount(self) -> None:
        """Stand on the trial one comes from."""
        self.on_resize()
        rows = self.query_one(_Pasts)
        rows.resize_to(len(self.pasts))
        here = [
            at
            for at, past in enumerate(self.pasts)
            if past.run == self._run and past.epoch == self._epoch
        ]
        rows.cursor = here[0] if here else 0
        self.set_focus(rows)

    def on_rows_opened(self) -> None:
        """Open the line that was clicked twice."""
        self.action_choose()

    def action_choose(self) -> None:
        """Open the run under the cursor."""
        if self.pasts:
            self.dismiss(self.pasts[self.query_one(_Pasts).cursor])

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)


class _Pasts(Rows):
    def __init__(self, pasts: Sequence[PastTrial], run: int, glyphs: Glyphs) -> None:
        fields = [
            Field("verdict", 11),
            Field("score", 5, right=True, drop=2),
            Field("run", 14, share=1, keep=5),
            Field("when", 7, right=True, drop=1),
            Field("output", 16, share=3),
        ]
        super().__init__(fields, glyphs=glyphs, empty="no full run has this case yet")
        self._pasts = pasts
        self._run = run
        self._now = time.time()

    def row(self, index: int) -> DrawnRow | None:
        past = self._pasts[index]
        word = past.verdict or past.state
        shape = self._glyphs.trial(past.state, past.verdict)
        notes = ["this one"] if past.run == self._run else []
        if past.partial:
            notes.append("partial")
        if past.epoch:
            notes.append(f"epoch {past.epoch + 1}")
        opening = past.opening if past.opening is not None else past.error_kind or ""
        first = next((line for line in opening.splitlines() if line.strip()), "")
        return DrawnRow(
            (
                Cell(f"{shape} {word}", tone_of(past.state, past.verdict)),
                Cell(decimal(past.score), "dim"),
                Cell(past.run_name, note=", ".join(notes)),
                Cell(age(past.created_at, self._now), "dim"),
                Cell(first, "plain" if past.opening is not None else "error"),
            )
        )
