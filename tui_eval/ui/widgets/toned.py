"""Drawing toned text: the last stop of foreign text before the screen."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import on
from textual.events import Click
from textual.strip import Strip
from textual.widget import Widget

from tui_eval.model.visible import visible_line
from tui_eval.ui.text.prose import steady
from tui_eval.ui.theme.tints import tone_styles
from tui_eval.ui.theme.tones import Tone

_ACT = "act"
"""What carries a piece's action in its style. Not Textual's own name for it, which foreign markup
knows."""
_CUT = "…"
"""Stands where a line is cut; the app draws its twin where the terminal knows no Unicode."""
_LONGEST = 2000
"""Characters of one piece that are looked at: more fits on no screen."""


class Piece(NamedTuple):
    """A stretch of one line. Its text may be foreign: it is made visible when it is drawn."""

    text: str
    tone: Tone = "plain"
    action: str | None = None
    """What a click on it does; only ever an action of our own. Without a namespace it is that of
    the nearest around the piece that has it."""
    filled: bool = False
    """Whether it is a badge: its tone is what it stands on."""


def acts(action: str | None) -> Style:
    """Return the style that runs an action on click; the action is never foreign text."""
    return Style.null() if action is None else Style.from_meta({_ACT: action})


class Toned(Widget):
    """A widget that draws pieces of text; no other code of the app makes segments."""

    ALLOW_SELECT = False

    def tone_style(self, tone: Tone) -> Style:
        """Return what the theme adds for a tone."""
        return tone_styles(self.app.theme, self.app.current_theme.dark)[tone]

    def segments(self, pieces: Iterable[Piece], base: Style) -> list[Segment]:
        """Draw pieces one after the other over a base style."""
        drawn = []
        for text, tone, action, filled in pieces:
            style = base + self.tone_style(tone) + acts(action)
            if filled:
                style += Style(reverse=True, bold=True)
            drawn.append(Segment(steady(visible_line(text, _LONGEST)), style))
        return drawn

    def line(self, pieces: Iterable[Piece], width: int) -> Strip:
        """Draw pieces as a line, no longer than it may be: cut with an ellipsis where it is.

        Args:
            pieces: From the left edge on.
            width: Cells there are at most.
        """
        strip = Strip(self.segments(pieces, self.rich_style))
        if strip.cell_length <= width:
            return strip
        if not strip.crop(width).text.strip():
            return strip.crop(0, width)  # what has no room says nothing
        kept = list(strip.crop(0, max(width - 1, 0)))
        style = kept[-1].style if kept else self.rich_style
        return Strip([*kept, Segment(_CUT, style)]).crop(0, width)

    @on(Click)
    async def _act(self, event: Click) -> None:
        """Do what the piece under the mouse does, as the nearest around it understands it."""
        action = event.style.meta.get(_ACT)
        if action is None:
            return
        event.stop()
        method = f"action_{action.partition('(')[0]}"
        holder = next((node for node in self.ancestors if hasattr(node, method)), self)
        await self.app.run_action(action, holder)


def places_of(sought: str, line: str) -> Iterator[tuple[int, int]]:
    """Yield where a text stands in a line, whatever its case: from which character up to which.

    Args:
        sought: The text, folded; empty: it stands nowhere.
        line: The line; where folding makes it longer nothing is given.
    """
    folded = line.casefold()
    if not sought or len(folded) != len(line):
        return
    start = 0
    while (at := folded.find(sought, start)) >= 0:
        start = at + len(sought)
        yield at, start


def fit(text: str, width: int, *, right: bool = False, ellipsis: str = "…", keep: int = 0) -> str:
    """Make foreign text visible and exactly `width` cells wide, cut with an ellipsis.

    Args:
        text: The text.
        width: Cells there are.
        right: Whether it is set to the right.
        ellipsis: What stands where something was cut; one cell.
        keep: Cells at the end of the text that stay where it is cut, unless they are more than half
            of the width: what tells one long name from the next.
    """
    if width <= 0:
        return ""
    # a character may become several, but never fewer cells than it takes to fill the width
    longest = max(width * 4, 16) if not keep else _LONGEST
    shown = steady(visible_line(text, longest))
    cells = len(shown) if shown.isascii() else cell_len(shown)
    if cells > width:
        last = _last_cells(shown, keep) if 0 < 2 * keep <= width else ""
        return set_cell_size(shown, width - 1 - cell_len(last)) + ellipsis + last
    return " " * (width - cells) + shown if right else shown + " " * (width - cells)


def _last_cells(shown: str, cells: int) -> str:
    """Return as much of a text's end as has room in so many cells."""
    start = len(shown)
    while start and cell_len(shown[start - 1 :]) <= cells:
        start -= 1
    return shown[start:]


def width_of(text: str) -> int:
    """Return how many cells foreign text takes once it is visible."""
    shown = steady(visible_line(text, _LONGEST))
    return len(shown) if shown.isascii() else cell_len(shown)
