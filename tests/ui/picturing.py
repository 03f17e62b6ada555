"""A picture of the screen as text: what stands where, and in which colours."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import groupby, pairwise
from string import ascii_letters
from typing import Any

import pytest
from rich.style import Style
from textual.pilot import Pilot

from tui_eval.store.connection import Connection
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


class Asking:
    """Counts what threads are asked: until all have answered, the screen may change."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.open = 0
        patch.setattr(Connection, "call", self._counted(Connection.call))
        patch.setattr(asyncio, "to_thread", self._counted(asyncio.to_thread))

    def _counted(self, ask: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(*args: Any, **more: Any) -> Any:
            self.open += 1
            try:
                return await ask(*args, **more)
            finally:
                self.open -= 1

        return counted


async def pictures(pilot: Pilot[None], asking: Asking) -> dict[str, str]:
    """Give the pictures of what is shown, dark and small so far, in every size and theme."""
    app = pilot.app
    assert isinstance(app, TuiEvalApp)
    taken = {}
    for theme, sizes in zip(THEMES, (SIZES, reversed(SIZES)), strict=True):  # no way twice
        app.theme = theme
        for size in sizes:
            if app.size != size:
                await pilot.resize_terminal(*size)
            taken[theme, size] = await _steady(pilot, app, asking)
    return {
        f"{theme} {width}x{height}": taken[theme, (width, height)]
        for theme in THEMES
        for width, height in SIZES
    }


async def _steady(pilot: Pilot[None], app: TuiEvalApp, asking: Asking) -> str:
    seen: list[str] = []
    for _ in range(500):
        await pilot.pause(0.02)
        if asking.open or not app._turns.idle:
            seen.clear()
            continue
        seen.append(picture(app))
        if len(seen) >= _STEADY and all(a == b for a, b in pairwise(seen[-_STEADY:])):
            return seen[-1]
    raise AssertionError("\n".join(["the screen never comes to rest:", *seen[-2:]]))


def _letter(n: int) -> str:
    return ascii_letters[n] if n < len(ascii_letters) else f"[{n}]"


def _look(style: Style | None) -> str:
    if style is None:
        return "-"
    colours = [colour.name if colour else "-" for colour in (style.color, style.bgcolor)]
    return " ".join([*colours, *(name for name in _ATTRIBUTES if getattr(style, name))])
