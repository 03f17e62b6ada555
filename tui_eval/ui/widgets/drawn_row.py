"""A row of a table as it is drawn: its cells, each a text with its tone."""

from collections.abc import Sequence
from typing import NamedTuple

from tui_eval.ui.theme.tones import Tone


class Cell(NamedTuple):
    """The text of one field of one row; may be foreign."""

    text: str
    tone: Tone = "plain"
    note: str = ""
    """Stands after the text where there is room; may be foreign."""
    note_tone: Tone = "dim"
    gives_way: bool = False
    """Whether the next cell takes its place, too: there is nothing yet to show in it."""


class DrawnRow(NamedTuple):
    """A row as it is drawn."""

    cells: Sequence[Cell]
    """One for each field."""
    marked: bool = False
