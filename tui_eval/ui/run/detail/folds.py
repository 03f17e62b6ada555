"""What of a page is folded away: each fold by itself, or all at once."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tui_eval.format import many
from tui_eval.ui.text.prose import Para, marked
from tui_eval.ui.theme.glyphs import Glyphs

LONG = 1_200
"""Characters from which on a text is folded."""


@dataclass(frozen=True, slots=True)
class Folds:
    """Which folds are open; they are numbered down the page, from 0."""

    all_open: bool = False
    other: frozenset[int] = frozenset()
    """Those that are not as all are."""
    sought: str = ""
    """A folded text that somebody looks for: what hides it is shown; empty: none."""

    def is_open(self, number: int) -> bool:
        """Say whether one is open."""
        return self.all_open != (number in self.other)

    def hides(self, shown: str, whole: str) -> bool:
        """Say whether what is sought is in a text, and not in what is shown of it."""
        if not self.sought:
            return False
        return self.sought in whole.casefold() and self.sought not in shown.casefold()

    def turned(self, number: int) -> "Folds":
        """Open one that is closed, or close it."""
        return replace(self, other=self.other ^ {number})

    def all_turned(self) -> "Folds":
        """Open all, or close all."""
        return Folds(not self.all_open)


def folded(
    folds: Folds, number: int, glyphs: Glyphs, title: str, inside: Para, length: int
) -> Iterator[Para]:
    """Yield what can be folded: its title, and where it is open what is inside.

    Args:
        folds: Which are open.
        number: Its own number.
        glyphs: The shapes.
        title: What it is; may be foreign.
        inside: What is folded away.
        length: Characters that are.
    """
    opened = folds.is_open(number)
    yield marked(
        (f"{glyphs.opened if opened else glyphs.arrow} ", "accent"),
        (title, "plain"),
        (f"  {many(length, 'character')}", "dim"),
        indent=inside.indent,
        action=f"turn_fold({number})",
    )
    if opened:
        yield inside
