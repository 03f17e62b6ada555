"""A share as a small bar: half as high as a line, so that bars of neighbouring rows stay apart."""

from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.toned import Piece


def rate_bar(share: float | None, width: int, glyphs: Glyphs) -> list[Piece]:
    """Return a bar of `width` cells for a share in 0..1; blank where it is unknown."""
    if share is None:
        return [Piece(" " * width)]
    full = width if share >= 1 else min(round(share * width), width - 1)  # full is all of it
    return [Piece(glyphs.bar * full, "pass"), Piece(glyphs.bar_rest * (width - full), "dim")]


def level(share: float | None, glyphs: Glyphs) -> str:
    """Return a share as one cell, filled from below; blank where it is unknown."""
    return " " if share is None else glyphs.levels[round(share * (len(glyphs.levels) - 1))]
