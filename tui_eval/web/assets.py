"""The files of the page: a list of a few, so that no path of a request is looked up on disk."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

_OWN: Final = Path(__file__).parent / "page"
_SCRIPT: Final = "text/javascript; charset=utf-8"
_SHEET: Final = "text/css; charset=utf-8"
_FONT: Final = "font/ttf"

PAGE: Final = _OWN / "index.html"


class MissingTerminalError(Exception):
    """The terminal that is drawn in a browser is not installed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page."""

    file: Path
    content_type: str


def assets() -> dict[str, Asset]:
    """Return the files of the page, by their names under `/static/`.

    Raises:
        MissingTerminalError: the extra `web` is not installed.
    """
    found = find_spec("textual_serve")
    if found is None or found.origin is None:
        raise MissingTerminalError(
            "the extra `web` is not installed: say `pip install 'tui-eval[web]'`"
        )
    # of textual-serve its terminal alone: its own server asks nobody who they are, lists its
    # files, and has the page fetch a font from another host
    static = Path(found.origin).parent / "static"
    return {
        "page.js": Asset(_OWN / "page.js", _SCRIPT),
        "page.css": Asset(_OWN / "page.css", _SHEET),
        "textual.js": Asset(static / "js" / "textual.js", _SCRIPT),
        "xterm.css": Asset(static / "css" / "xterm.css", _SHEET),
        "RobotoMono.ttf": Asset(static / "fonts" / "RobotoMono-VariableFont_wght.ttf", _FONT),
        "RobotoMono-Italic.ttf": Asset(
            static / "fonts" / "RobotoMono-Italic-VariableFont_wght.ttf", _FONT
        ),
    }
