"""All keys of the screen beneath, in words; each can be done from here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.screen import Screen
from textual.widgets import Input

from tui_eval.resources import styles_dir
from tui_eval.ui.dialogs.dialog import Dialog
from tui_eval.ui.keys.available_actions import offered
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.hints import Hints
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece

_KEYS = Field("", 12)
_WORDS = Field("", 20, share=1)


@dataclass(frozen=True, slots=True)
class _Line:
    """One key with what it does; without an action the name of a group, or nothing."""

    keys: str
    words: str
    active: ActiveBinding | None = None


class HelpDialog(Dialog[ActiveBinding | None]):
    """Every key of a screen with what it does; returns the one chosen with `enter`."""

    CSS_PATH = styles_dir() / "help_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Do it", id="help.choose", tooltip="Do what this key does"),
        Binding("slash", "find", "Find", id="help.find", tooltip="List some of the keys"),
        Binding("escape", "back", "Close", id="help.back", tooltip="List all again; then close"),
        Binding("q,question_mark", "close", "Close", id="help.close", tooltip="Close"),
    ]

    def __init__(self, of: Screen[object], glyphs: Glyphs) -> None:
        super().__init__()
        self._of = of
        self._glyphs = glyphs
        self._find = Input(placeholder="/ finds a key, or what it does", compact=True)

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box") as box:
            box.border_title = "keys"
            yield self._find
            yield _Lines(list(self._lines()), self._glyphs)
            yield Hints(
                ("help.choose", "do it"),
                ("help.find", "find"),
                ("help.back", "close"),
                more=[Piece("dim: not available now, enter says why", "dim")],
            )

    def on_mount(self) -> None:
        """Stand on the first key."""
        self.set_focus(self.query_one(_Lines))

    def _lines(self) -> Iterator[_Line]:
        """Yield the lines, groups apart; of what is sought with the groups it stands in."""
        sought = self._find.value.casefold()
        area = ""
        for one in offered(self._of):
            binding = one.active.binding
            shown = (self.app.get_key_display(replace(binding, key=key)) for key in one.keys)
            keys = " ".join(dict.fromkeys(shown))
            words = binding.tooltip or binding.description
            if sought not in f"{keys} {binding.description} {words} {one.area}".casefold():
                continue
            if one.area != area:
                if area:
                    yield _Line("", "")
                area = one.area
                yield _Line(area, "")
            yield _Line(keys, words, one.active)

    @on(Input.Changed)
    def _seek(self) -> None:
        self.query_one(_Lines).list_lines(list(self._lines()))

    def action_find(self) -> None:
        """List what is typed."""
        self._find.focus()

    def action_back(self) -> None:
        """List all again; where all are listed, close."""
        if self._find.value or self._find.has_focus:
            self._find.value = ""
            self.query_one(_Lines).focus()
        else:
            self.dismiss(None)

    @on(Input.Submitted)
    def _found(self) -> None:
        self.query_one(_Lines).focus()

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
        super().__init__([_KEYS, _WORDS], glyphs=glyphs, empty="no key is like that")
        self._lines = lines

    def on_mount(self) -> None:
        self.list_lines(self._lines)

    def list_lines(self, lines: Sequence[_Line]) -> None:
        """List other lines; the cursor stands on the first key: a group's name comes before."""
        self._lines = lines
        self.place(len(lines), 0)
        self.scroll_to(y=0, animate=False, force=True, immediate=True)
        self.cursor = min(1, max(len(lines) - 1, 0))

    @property
    def chosen(self) -> ActiveBinding | None:
        """What the key under the cursor does; None: there is no key."""
        return self._lines[self.cursor].active if self._lines else None

    def row(self, index: int) -> DrawnRow | None:
        line = self._lines[index]
        if line.active is None:
            return DrawnRow((Cell(line.keys, "accent"), Cell("")))
        tone: Tone = "plain" if line.active.enabled else "dim"
        return DrawnRow((Cell(f" {line.keys}", tone), Cell(line.words, tone)))
