"""A picture of the screen as text: what stands where, and in which colours."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import groupby, product
from string import ascii_letters
from typing import Any

import pytest
from rich.style import Style
from textual.pilot import Pilot

from tui_eval.store.connection import Connection
from tui_eval.ui.app import TuiEvalApp

Look = tuple[str, tuple[int, int]]
"""A theme, and the screen's columns and rows."""

SIZES = ((80, 24), (160, 48))
THEMES = ("dark", "light")
LOOKS: tuple[Look, ...] = tuple(product(THEMES, SIZES))
"""In the order in which pictures are kept."""
_ATTRIBUTES = ("bold", "dim", "italic", "underline", "reverse", "strike")
_STEADY = 10
"""Equal pictures in a row, a moment apart, after which nothing more is expected to change."""
_LONG = 250
"""The same, where something else was expected: on a busy machine it may come yet."""
_MOST = 1500
"""Pictures after which it is as it is, whatever goes on."""


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


def together(pictures: Mapping[str, str]) -> str:
    """Give pictures as one text."""
    return "\n".join(f"=== {name}\n{picture}" for name, picture in pictures.items())


def apart(text: str) -> dict[str, str]:
    """Give the pictures of a text, by their names."""
    _, *parts = re.split(r"^=== (.*)\n", text, flags=re.MULTILINE)
    names, found = parts[::2], parts[1::2]
    return {name: picture.rstrip("\n") + "\n" for name, picture in zip(names, found, strict=True)}


async def pictures(
    pilot: Pilot[None], asking: Asking, expected: Mapping[str, str], looks: Sequence[Look] = LOOKS
) -> dict[str, str]:
    """Give the pictures of what is shown, in these sizes and themes.

    Each is taken once it is as expected, or when it has long been another; of those of which
    nothing is expected, and after one that was another, when nothing changes for a moment.
    """
    app = pilot.app
    assert isinstance(app, TuiEvalApp)
    taken = {}
    as_expected = True
    for theme, sizes in zip(THEMES, (SIZES, reversed(SIZES)), strict=True):  # no way twice
        for look in [(theme, size) for size in sizes if (theme, size) in looks]:
            app.theme, size = look
            if app.size != size:
                await pilot.resize_terminal(*size)
            wanted = expected.get(_name(look)) if as_expected else None
            taken[look] = await _settled(pilot, asking, wanted)
            as_expected = as_expected and wanted in (None, taken[look])
    return {_name(look): taken[look] for look in LOOKS if look in taken}


def _name(look: Look) -> str:
    theme, (columns, rows) = look
    return f"{theme} {columns}x{rows}"


async def _settled(pilot: Pilot[None], asking: Asking, expected: str | None) -> str:
    app = pilot.app
    assert isinstance(app, TuiEvalApp)
    last, equal = "", 0
    for _ in range(_MOST):
        await pilot.pause(0.02)
        now = picture(app)
        quiet = not asking.open and app._key_queue.idle
        last, equal = now, equal + 1 if quiet and now == last else 0
        if now == expected or equal >= (_STEADY if expected is None else _LONG):
            break
    return last


def _letter(n: int) -> str:
    return ascii_letters[n] if n < len(ascii_letters) else f"[{n}]"


def _look(style: Style | None) -> str:
    if style is None:
        return "-"
    colours = [colour.name if colour else "-" for colour in (style.color, style.bgcolor)]
    return " ".join([*colours, *(name for name in _ATTRIBUTES if getattr(style, name))])
