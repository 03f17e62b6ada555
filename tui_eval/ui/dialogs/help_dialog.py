"""All keys of the screen beneath, in words; each can be done from here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen

from tui_eval.resources import styles_dir
from tui_eval.ui.keys.available_actions import offered
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.rows import Cell, DrawnRow, Rows
from tui_eval.ui.widgets.toned import Piece

_KEYS = Field("Keys", 12)
_WORDS = Field("", 20, share=1)


@dataclass(frozen=True, slots=True)
class _Line:
    """One key with what it does; without an action the name of a group, or nothing."""

    keys: str
    words: str
    active: ActiveBinding | None = None


class HelpDialog(ModalScreen[ActiveBinding | None]):
    """Every key of a screen with what it does; returns the one chosen with `enter`."""

    CSS_PATH = styles_dir() / "help_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Do it", id="help.choose", tooltip="Do what this key does"),
        Binding("escape,q,question_mark", "close", "Close", id="help.close", tooltip="Close"),
    ]

    def __init__(self, of: Screen[object], glyphs: Glyphs) -> None:
        super().__init__()
        self._of = of
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box"):
            yield _Lines(list(self._lines()), self._glyphs)
            yield Hints(
                ("help.choose", "do it"),
                ("help.close", "close"),
                more=[Piece("greyed: not available now", "dim")],
            )

    def on_mount(self) -> None:
        """Stand on the first key."""
        self.query_one(_Lines).focus()

    def _lines(self) -> Iterator[_Line]:
        area = ""
        for one in offered(self._of):
            if one.area != area:
                if area:
                    yield _Line("", "")
                area = one.area
                yield _Line(area, "")
            binding = one.active.binding
            shown = (self.app.get_key_display(replace(binding, key=key)) for key in one.keys)
            words = binding.tooltip or binding.description
            yield _Line(" ".join(dict.fromkeys(shown)), words, one.active)

    def on_rows_opened(self) -> None:
        """Do what was clicked twice."""
        self.action_choose()

    def action_choose(self) -> None:
        """Do what the key under the cursor does."""
        active = self.query_one(_Lines).chosen
        if active is not None:
            self.dismiss(active)

    def action_close(self) -> None:
        """Close."""
        self.dismiss(None)


class _Lines(Rows):
    def __init__(self, lines: Sequence[_Line], glyphs: Glyphs) -> None:
        super().__init__([_KEYS, _WORDS], glyphs=glyphs)
        self._lines = lines

    def on_mount(self) -> None:
        self.resize_to(len(self._lines))
        self.cursor = 1  # the first line names a group

    @property
    def chosen(self) -> ActiveBinding | None:
        """What the key under the cursor does; None: there is no key."""
        return self._lines[self.cursor].active

    def row(self, index: int) -> DrawnRow | None:
        line = self._lines[index]
        if line.active is None:
            return DrawnRow((Cell(line.keys, "accent"), Cell("")))
        tone: Tone = "plain" if line.active.enabled else "dim"
        return DrawnRow((Cell(f" {line.keys}", tone), Cell(line.words, tone)))
