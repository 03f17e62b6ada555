"""Text of models, files and people, made harmless for what it is put into."""

import re

from tui_eval.format import many
from tui_eval.model.visible import visible, visible_line

_NONCHARACTERS = re.compile(
    "[\ufdd0-\ufdef"
    + "".join(f"{chr(0x10000 * n + 0xFFFE)}{chr(0x10000 * n + 0xFFFF)}" for n in range(17))
    + "]"
)
"""Beside what `visible` makes visible: two are forbidden in XML 1.0, all are errors in HTML."""
_TICKS = re.compile("`+")


def cut(text: str, most: int) -> str:
    """Return the beginning of a text, and how much is left out."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… {many(len(text) - most, 'more character')}"


def markup_text(text: str) -> str:
    """Return text with no character that XML 1.0 or HTML forbids; those are made visible."""
    return _NONCHARACTERS.sub(lambda found: f"‹U+{ord(found[0]):04X}›", visible(text))


def markup_line(text: str, most: int | None = None) -> str:
    """Return text on one line, likewise.

    Args:
        text: The text.
        most: Characters that are shown at most; None: all.
    """
    return markup_text(visible_line(text, most))


def code_span(text: str, most: int, *, in_table: bool = False) -> str:
    """Return text as a code span of Markdown, where nothing in it is markup, a link or a mention.

    Args:
        text: The text; it is shown on one line.
        most: Characters that are shown at most.
        in_table: Whether it stands in a table, whose cells end at any bare `|`.
    """
    line = visible_line(text, most).strip() or " "
    longest = max((len(ticks) for ticks in _TICKS.findall(line)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    shown = line.replace("|", "\\|") if in_table else line
    return f"{fence}{pad}{shown}{pad}{fence}"
