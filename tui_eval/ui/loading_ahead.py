"""What first openings of screens and dialogs need, loaded while nobody waits for anything."""

import asyncio
import importlib
import pkgutil
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Final

from textual.css.stylesheet import Stylesheet
from textual.screen import Screen

from tui_eval.ui import dialogs, screens

_ACTIONS: Final = (
    "tui_eval.ui.keys.keyboard",
    "tui_eval.ui.runs.exporting",
    "tui_eval.ui.exit_message",
    "tui_eval.engine.preflight.request_forecast",
)
"""Modules that keys load, beside those of screens and dialogs."""


async def load_ahead(
    stylesheet: Callable[[], Stylesheet], quiet: Callable[[], Awaitable[None]]
) -> None:
    """Import the modules of all dialogs and screens and read their style sheets, one by one.

    Args:
        stylesheet: Gives what styles are read into.
        quiet: Waits until nobody presses keys; asked before each module.
    """
    for name in _modules():
        await quiet()
        module = await asyncio.to_thread(importlib.import_module, name)
        read_styles(stylesheet(), module)


def _modules() -> Iterator[str]:
    for package in (dialogs, screens):
        for module in pkgutil.iter_modules(package.__path__):
            yield f"{package.__name__}.{module.name}"
    yield from _ACTIONS


def read_styles(stylesheet: Stylesheet, module: ModuleType) -> None:
    """Read the style sheets that the screens of a module have, those read already left out.

    The rules of a screen's sheet begin with its name: nothing that is shown looks different.
    """
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, Screen):
            path = vars(kind).get("CSS_PATH")
            if isinstance(path, Path) and not stylesheet.has_source(str(path)):
                stylesheet.read(path)
                stylesheet.parse()
