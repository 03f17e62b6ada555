"""What a theme is made of."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Colours:
    """Each is a colour as style sheets write it."""

    text: str
    ground: str
    box: str
    """Of modals and bars."""
    dim: str
    rule: str
    accent: str
    passed: str
    failed: str
    ungraded: str
    cursor: str
    cursor_blurred: str
    marked: str
    found: str
    quoted: str
    """Texts in code and data."""
    figure: str
    """Figures in them."""
    added: str
    removed: str
    selection: str
    scrollbar_hover: str
    on_cursor: str
