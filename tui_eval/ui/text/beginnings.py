"""The beginning of what would take the lines of what stands below it."""

from collections.abc import Sequence

from tui_eval.format import many
from tui_eval.ui.text.prose import Line, Para


def beginning(lines: Sequence[Line], room: int, shows_all: str) -> list[Para]:
    """Return these lines where they have room, else the first and how many more there are.

    Args:
        lines: Text that is laid out.
        room: Lines there are; two are taken in any case.
        shows_all: The key that shows the rest.
    """
    fits = len(lines) <= max(room, 2)
    left = 0 if fits else len(lines) - max(room - 1, 1)
    shown = [Para(line.text, line.tone, marks=line.marks) for line in lines[: len(lines) - left]]
    if left:
        shown.append(Para(f"… {many(left, 'more line')}; {shows_all} shows all", "dim"))
    return shown
