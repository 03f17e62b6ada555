"""A grade by hand: what is asked, and the keys that make it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.model.json import Json
from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.grade.grade_entry import CHARACTERS, GradeEntry
from tui_eval.ui.grade.question_page import line_paras
from tui_eval.ui.keys.acting import say
from tui_eval.ui.run.actions.noting import note_too_long
from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.toned import Piece

_WIDTH = 72
_MARGIN = 8
"""Lines of the box that are no text, and those around it."""


@dataclass(frozen=True, slots=True)
class GradeDecision:
    """What a person decided."""

    given: Json
    """The grade; None: that by hand is withdrawn."""
    note: str


@dataclass(frozen=True, slots=True)
class GradeSubject:
    """What is graded; its texts may be foreign."""

    title: str
    now: str
    """What the scorer, or a person, says now."""
    asked: Sequence[Para]
    """By what is graded; requirements come with the entry."""
    by_hand: bool
    """Whether there is a grade by hand that can be withdrawn."""


class GradeDialog(Dialog[GradeDecision | None]):
    """Returns the grade that was given; None: none was."""

    CSS_PATH = styles_dir() / "grade_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "verdict(True)", "Pass", id="verdict.pass", tooltip="It passes"),
        Binding("n", "verdict(False)", "Fail", id="verdict.fail", tooltip="It fails"),
        Binding(
            "0",
            "number",
            "Number",
            key_display="0–9",
            id="verdict.number",
            tooltip="A number of the scale, or a requirement to turn",
        ),
        Binding("enter", "enter", "Enter", id="verdict.enter", tooltip="End the number"),
        Binding("backspace", "erase", "Erase", id="verdict.erase", tooltip="Erase the last key"),
        Binding("t", "note", "Note", id="verdict.note", tooltip="Say why"),
        Binding(
            "w", "withdraw", "Withdraw", id="verdict.withdraw", tooltip="Withdraw the grade by hand"
        ),
        Binding("escape,q", "close", "Close", id="verdict.close", tooltip="Change nothing"),
    ]

    def __init__(self, subject: GradeSubject, entry: GradeEntry, glyphs: Glyphs) -> None:
        """Prepare the question.

        Args:
            subject: What is graded.
            entry: Takes the keys.
            glyphs: The shapes.
        """
        super().__init__()
        self.subject = subject
        self.entry = entry
        self.note = ""
        self._glyphs = glyphs
        self._asked = Lines(id="asked")
        self._said = Bar(id="said")

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        keys = [("verdict.pass", "pass"), ("verdict.fail", "fail"), ("verdict.note", "note")]
        if self.subject.by_hand:
            keys.append(("verdict.withdraw", "withdraw"))
        with Vertical(classes="box"):
            yield Bar([Piece(self.subject.title, "strong")])
            yield Bar([Piece(self.subject.now, "dim")])
            yield self._asked
            yield self._said
            yield Bar()
            yield Hints(*keys, ("verdict.close", "close"))

    def on_mount(self) -> None:
        """Show what is asked."""
        self._show()

    def on_resize(self) -> None:
        """Fold what is asked to the room there is."""
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Take what numbers are made of."""
        if event.character is not None and event.character in CHARACTERS:
            event.stop()
            self._take(self.entry.press(event.character))

    def _show(self) -> None:
        width = min(_WIDTH - 4, max(self.app.size.width - 8, 20))
        room = max(self.app.size.height - _MARGIN, 1)
        paras = [*self.subject.asked, *line_paras(self.entry, self._glyphs)]
        self._asked.show([[Piece(*line)] for line in islice(fold(paras, width), room)])
        entry = self.entry
        typed = [Piece(f"{entry.typed}▏ ", "strong")] if entry.typed else []
        note = [Piece(f"note: {self.note}  ", "accent")] if self.note else []
        hint = Piece(entry.problem or entry.hint(), "ungraded" if entry.problem else "dim")
        self._said.show([*typed, *note, hint])

    def _take(self, given: Json) -> None:
        if given is None:
            self._show()
        else:
            self.dismiss(GradeDecision(given, self.note))

    def action_verdict(self, passed: bool) -> None:
        """Give a verdict."""
        self._take(self.entry.verdict(passed))

    def action_number(self) -> None:
        """Take a digit where that key was given another meaning."""
        self._take(self.entry.press("0"))

    def action_enter(self) -> None:
        """End what was typed."""
        self._take(self.entry.enter())

    def action_erase(self) -> None:
        """Take the last key back."""
        self.entry.erase()
        self._show()

    @work
    async def action_note(self) -> None:
        """Ask why."""
        asked = NameDialog("note on the grade", self.note, "kept with the grade", note_too_long)
        note = await self.app.push_screen_wait(asked)
        if note is not None:
            self.note = note.strip()
            self._show()

    def action_withdraw(self) -> None:
        """Withdraw the grade by hand."""
        if self.subject.by_hand:
            self.dismiss(GradeDecision(None, ""))
        else:
            say(self, "there is no grade by hand to withdraw")

    def action_close(self) -> None:
        """Change nothing."""
        self.dismiss(None)
