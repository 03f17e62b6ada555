"""A picture of the screen as text: what stands where, and in which colours."""

from itertools import groupby, pairwise
from string import ascii_letters

from rich.style import Style
from textual.pilot import Pilot

from tui_eval.ui.app import TuiEvalApp

SIZES = ((80, 24), (160, 48))
THEMES = ("dark", "light")
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
_STEADY = 3
"""Equal pictures in a row, a moment apart, after which nothing more is expected to change."""


def picture(app: TuiEvalApp) -> str:
    """Give the screen's text, then for each line which look its cells have, and what each look is.

    A look is a letter: foreground, background and attributes. `a12 b4` is twelve cells of the look
    `a`, then four of `b`.
    """
    looks: dict[str, str] = {}
    text: list[str] = []
    runs: list[str] = []
    for strip in app.screen._compositor.render_strips():
        cells: list[str] = []
        for segment in strip:
            look = _look(segment.style)
            letter = looks.setdefault(look, _letter(len(looks)))
            cells += [letter] * segment.cell_length
        text.append(strip.text.rstrip())
        runs.append(" ".join(f"{letter}{len([*same])}" for letter, same in groupby(cells)))
    legend = [f"{letter}  {look}" for look, letter in looks.items()]
    return "\n".join([*text, "-" * app.size.width, *runs, "-" * app.size.width, *legend, ""])


async def pictures(pilot: Pilot[None]) -> dict[str, str]:
    """Give the pictures of what is shown now in every size and theme, by their names."""
    app = pilot.app
    assert isinstance(app, TuiEvalApp)
    taken = {}
    for theme in THEMES:
        app.theme = theme
        for size in SIZES:
            await pilot.resize_terminal(*size)
            taken[f"{theme} {size[0]}x{size[1]}"] = await _steady(pilot, app)
    app.theme = THEMES[0]
    await pilot.resize_terminal(*SIZES[0])
    await _steady(pilot, app)
    return taken


async def _steady(pilot: Pilot[None], app: TuiEvalApp) -> str:
    seen: list[str] = []
    for _ in range(200):
        await pilot.pause(0.02)
        seen.append(picture(app))
        if len(seen) >= _STEADY and all(a == b for a, b in pairwise(seen[-_STEADY:])):
            return seen[-1]
    raise AssertionError(f"the screen never comes to rest:\n{seen[-2]}\n{seen[-1]}")


def _letter(n: int) -> str:
    return ascii_letters[n] if n < len(ascii_letters) else f"[{n}]"


def _look(style: Style | None) -> str:
    if style is None:
        return "-"
    colours = [colour.name if colour else "-" for colour in (style.color, style.bgcolor)]
    return " ".join([*colours, *(name for name in _ATTRIBUTES if getattr(style, name))])
